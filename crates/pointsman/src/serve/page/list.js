// All runs, live: filters, and actions on all that they select.

import { get, path, post } from "./api.js";
import { change, dialog, failure } from "./dialog.js";
import { age, button, counted, entries, grouped, h, show } from "./dom.js";
import { Windowed } from "./window.js";

/** Runs of a block in the document, and of a request. */
const [BLOCK, PAGE] = [10, 100];
const EVERY = 2000;
const STATUS = ["open", "ended", "succeeded", "failed", "budget", "stuck", "cancelled", "denied"];
const WAITS = ["person", "message", "worker", "time"];
const TIMES = { "5 min": 300_000, "1 h": 3_600_000, "1 d": 86_400_000 };

export class ListPage {
  constructor(main) {
    Object.assign(this, { main, rows: [], next: null, standings: new Map(), filter: Object.fromEntries(new URLSearchParams(location.search)), at: -1 });
  }

  async open() {
    document.title = "Runs · Pointsman";
    this.build();
    await this.reload();
    setInterval(() => {
      if (document.visibilityState === "visible" && !document.querySelector("dialog")) this.poll();
    }, EVERY);
  }

  build() {
    const field = (name, label, more) => h("input", { type: "search", name, placeholder: label, "aria-label": label, value: this.filter[name] ?? "", spellcheck: "false", autocomplete: "off", ...more });
    const choice = (name, label, options) => h("select", { name, "aria-label": label }, h("option", { value: "" }, label), options.map((it) => h("option", { value: it, selected: this.filter[name] === it }, it)));
    this.form = h("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault(), oninput: () => this.changed() },
      field("text", "Search goals", { class: "wide-field" }), choice("status", "any status", STATUS), field("agent", "Agent"), field("chart", "Chart"), field("state", "State"),
      choice("waiting", "waiting for: anything", WAITS), choice("idle", "idle: any time", Object.keys(TIMES)));
    this.count = h("p", { class: "dim", role: "status" });
    this.bulk = h("div", { class: "actions" }, ["approve", "cancel", "fork"].map((action) => button(`${action[0].toUpperCase()}${action.slice(1)} all…`, () => this.act(action), { data: { bulk: action } })));
    this.scroller = h("div", { class: "runs", tabindex: "0", role: "list", "aria-label": "Runs" });
    this.note = h("div", {});
    show(this.main, h("div", { class: "list-page" }, h("div", { class: "list-head" }, h("h1", {}, "Runs"), this.count, this.bulk), this.form, this.note, this.scroller));
    this.list = new Windowed(this.scroller, { draw: (index) => this.block(index), estimate: BLOCK * 58 });
  }

  /** The filter in the API's words. */
  query() {
    const { idle, ...rest } = this.filter;
    const query = Object.fromEntries(Object.entries(rest).filter(([, value]) => value));
    if (idle in TIMES) {
      query.idle_since_ms = Date.now() - TIMES[idle];
      query.status ??= "open";
    }
    return query;
  }

  changed() {
    clearTimeout(this.due);
    this.due = setTimeout(() => {
      this.filter = Object.fromEntries([...new FormData(this.form)].filter(([, value]) => value));
      const text = new URLSearchParams(this.filter).toString();
      history.replaceState(null, "", text ? `/?${text}` : "/");
      this.reload();
    }, 200);
  }

  async reload() {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    try {
      const page = await get(path(["runs"], { ...this.query(), limit: PAGE }));
      if (turn !== this.turn) return;
      Object.assign(this, { rows: page.runs, next: page.next, damaged: page.damaged });
      this.list.resize(Math.ceil(this.rows.length / BLOCK));
      this.list.reset();
      this.scroller.scrollTop = 0;
      this.tell();
      this.search();
    } catch (error) {
      show(this.note, failure(error, () => this.reload()));
    }
  }

  async more() {
    if (!this.next || this.loading) return;
    this.loading = true;
    const turn = this.turn;
    try {
      const page = await get(path(["runs"], { ...this.query(), limit: PAGE, cursor: this.next }));
      if (turn === this.turn) {
        const from = Math.floor(this.rows.length / BLOCK);
        this.rows.push(...page.runs);
        this.next = page.next;
        this.list.resize(Math.ceil(this.rows.length / BLOCK));
        this.list.refresh(from);
        this.tell();
      }
    } catch {
      // The next poll tries again.
      this.loading = false;
      return;
    }
    this.loading = false;
    this.search();
  }

  /** What runs wait for is looked up a part at a time: a part without a match says nothing of the next. */
  search() {
    if (this.filter.waiting && this.rows.length < 2 * BLOCK) this.more();
  }

  /** Reads the newest runs and those on the screen again. */
  async poll() {
    try {
      const page = await get(path(["runs"], { ...this.query(), limit: PAGE }));
      const known = new Set(page.runs.map((run) => run.run));
      const rest = this.rows.filter((run) => !known.has(run.run) && (page.next !== null) && run.created_ms <= (page.runs.at(-1)?.created_ms ?? Infinity));
      const before = JSON.stringify(this.rows.slice(0, PAGE));
      this.rows = [...page.runs, ...rest];
      if (rest.length === 0) this.next = page.next;
      show(this.note);
      if (this.list.drawn.has(this.list.count - 1)) this.more();
      if (JSON.stringify(this.rows.slice(0, PAGE)) === before) return;
      this.list.resize(Math.ceil(this.rows.length / BLOCK));
      for (const index of [...this.list.drawn.keys()]) this.list.refresh(index);
      this.tell();
    } catch (error) {
      show(this.note, h("p", { class: "failure small" }, error.message));
    }
  }

  tell() {
    const more = this.next ? " or more" : "";
    this.count.textContent = this.rows.length === 0 ? "" : `${counted(this.rows.length, "run")}${more}`;
    if (this.rows.length === 0) {
      const some = Object.keys(this.filter).length > 0;
      show(this.note, h("div", { class: "nothing" }, h("p", {}, this.next ? "Searching…" : some ? "No run matches these filters." : "There are no runs yet."), some ? null : h("pre", { tabindex: "0" }, 'pointsman run research "Where is the loop rule proved?"')));
    } else {
      show(this.note, this.damaged?.length > 0 ? h("p", { class: "failure small" }, `${counted(this.damaged.length, "run")} cannot be read`) : null);
    }
    // Filters of actions know no waiting.
    for (const control of this.bulk.children) control.disabled = this.rows.length === 0 || Boolean(this.filter.waiting);
  }

  block(index) {
    const rows = this.rows.slice(index * BLOCK, (index + 1) * BLOCK);
    if ((index + 2) * BLOCK >= this.rows.length) this.more();
    this.stand(rows);
    return h("div", { class: "block", role: "presentation" }, rows.map((run, at) => this.row(run, index * BLOCK + at)));
  }

  row(run, at) {
    const standing = this.standings.get(run.run);
    const known = standing?.steps === run.steps ? standing : null;
    const status = known?.waits ? "waiting" : run.disposition ?? (run.owner ? "open" : "idle");
    const words = known?.standing ?? run.disposition ?? `in ${run.state}`;
    return h("a", { class: `row${at === this.at ? " selected" : ""}`, role: "listitem", href: `/runs/${run.run}`, data: { run: run.run } },
      h("span", { class: `dot ${status}`, "aria-hidden": "true" }),
      h("span", { class: "goal" }, run.goal || run.run),
      h("span", { class: `pill ${status}` }, words),
      h("span", { class: "meta" }, `${run.agent === run.chart ? run.agent : `${run.agent} · ${run.chart}`} · ${run.state} · ${entries(run.steps)} · ${age(run.created_ms)}`));
  }

  /** Asks how runs stand, once for each entry. */
  stand(rows) {
    this.unknown ??= new Set();
    for (const run of rows) {
      if (this.standings.get(run.run)?.steps !== run.steps) this.unknown.add(run.run);
    }
    if (this.unknown.size === 0 || this.standing) return;
    this.standing = setTimeout(async () => {
      const wanted = [...this.unknown].slice(0, 100);
      this.unknown.clear();
      try {
        for (const found of await get(path(["standings"], { runs: wanted.join(",") }))) {
          this.standings.set(found.run, found);
          const old = this.scroller.querySelector(`[data-run="${found.run}"]`);
          const at = this.rows.findIndex((run) => run.run === found.run);
          if (old && at >= 0) old.replaceWith(this.row(this.rows[at], at));
        }
      } catch {
        // Without it the state is shown.
      }
      this.standing = null;
    }, 30);
  }

  async act(action) {
    const body = { action, filter: this.query(), all: Object.keys(this.query()).length === 0 };
    const counted_runs = await change(() => post(path(["runs", "bulk"]), { ...body, dry_run: true }));
    if (!counted_runs) return;
    const sure = await dialog(`${action[0].toUpperCase()}${action.slice(1)} ${counted(counted_runs.count, "run")}?`, (close) => [
      h("p", {}, counted_runs.count === 0 ? "The action applies to none of the selected runs." : "These runs match the filters now. Nothing has been done yet."),
      h("ul", { class: "some" }, counted_runs.runs.slice(0, 8).map((run) => h("li", {}, h("code", {}, run))), counted_runs.count > 8 ? h("li", {}, `and ${grouped(counted_runs.count - 8)} more`) : null),
      h("div", { class: "actions" }, button("Leave them", () => close(false)), counted_runs.count > 0 ? button(`${action[0].toUpperCase()}${action.slice(1)} ${counted(counted_runs.count, "run")}`, () => close(true), { class: action === "cancel" ? "danger" : "primary" }) : null)]);
    if (!sure) return;
    await change(() => post(path(["runs", "bulk"]), body), (done) => `${counted(done.count, "run")}: done${done.failed.length > 0 ? `, ${done.failed.length} failed` : ""}.`);
    this.reload();
  }

  key(key) {
    const steps = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };
    if (key in steps) {
      this.at = Math.max(0, Math.min(this.rows.length - 1, this.at + steps[key]));
      this.list.reveal(Math.floor(this.at / BLOCK));
      const row = this.scroller.querySelector(`[data-run="${this.rows[this.at]?.run}"]`);
      row?.focus({ preventScroll: true });
      row?.scrollIntoView({ block: "nearest" });
    } else if (key === "/") this.form.elements.text.focus();
    else return false;
    return true;
  }
}

export const KEYS = [["j, k", "next and previous run"], ["Enter", "open the run"], ["/", "search"]];
