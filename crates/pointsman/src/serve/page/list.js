// All runs, live: filters, and actions on all that they select.

import { get, path, post } from "./api.js";
import { change, dialog, failure } from "./dialog.js";
import { age, arrange, button, counted, entries, grouped, h, renew, say, show } from "./dom.js";
import { Windowed } from "./window.js";

/** Runs of a block in the document, of a request, and of a bulk action's request. */
const [BLOCK, PAGE, MANY] = [10, 100, 5000];
const EVERY = 2000;
/** How long the later parts of a search are taken as they were. */
const AGAIN = 30_000;
const STATUS = ["open", "ended", "succeeded", "failed", "budget", "stuck", "cancelled", "denied"];
const WAITS = ["person", "message", "worker", "time"];
const TIMES = { "5 min": 300_000, "1 h": 3_600_000, "1 d": 86_400_000 };

/** Who drives a run, and how it waits for that. */
function place(run) {
  return `${run.owner} ${run.queue}`;
}

/** Returns where a cursor is in the list, as a run has it. */
function cursor_at(cursor) {
  const dot = cursor.indexOf(".");
  return { created_ms: Number(cursor.slice(0, dot)), run: cursor.slice(dot + 1) };
}

/** Whether a place in the list is below another one: the newest runs are first. */
function below(one, other) {
  return one.created_ms < other.created_ms || (one.created_ms === other.created_ms && one.run < other.run);
}

export class ListPage {
  constructor(main) {
    Object.assign(this, { main, rows: [], next: null, marks: new Map(), drawn: new Map(), standings: new Map(), filter: Object.fromEntries(new URLSearchParams(location.search)), chosen: null });
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
    // A choice such as "1 h" says nothing without what it is of.
    const choice = (name, of, any, options) => h("select", { name, "aria-label": of + any }, h("option", { value: "" }, of + any), options.map((it) => h("option", { value: it, selected: this.filter[name] === it }, of + it)));
    this.form = h("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault(), oninput: () => this.changed() },
      field("text", "Search goals", { class: "wide-field" }), choice("status", "", "any status", STATUS), field("agent", "Agent"), field("chart", "Chart"), field("state", "State"),
      choice("waiting", "waits for: ", "any", WAITS), choice("idle", "idle: ", "any time", Object.keys(TIMES)));
    this.count = h("p", { class: "dim", role: "status" });
    this.bulk = h("div", { class: "actions" }, ["approve", "cancel", "fork"].map((action) => button(`${action[0].toUpperCase()}${action.slice(1)} all…`, () => this.act(action), { data: { bulk: action } })));
    this.scroller = h("div", { class: "runs", tabindex: "0", role: "list", "aria-label": "Runs" });
    this.note = h("div", {});
    show(this.main, h("div", { class: "list-page" }, h("div", { class: "list-head" }, h("h1", {}, "Runs"), this.count, this.bulk), this.form, this.note, this.scroller));
    this.list = new Windowed(this.scroller, { draw: (index, old) => this.block(index, old), estimate: BLOCK * 58 });
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
    // The rows and their cursors belong to the filter before, until the answer is here.
    Object.assign(this, { next: null, loading: false, outdated: true, reading: turn });
    try {
      const page = await get(path(["runs"], { ...this.query(), limit: PAGE }));
      if (turn !== this.turn) return;
      Object.assign(this, { rows: [], marks: new Map(), next: page.next, outdated: false, damaged: page.damaged, again: null, searched: Date.now() });
      this.put(0, page);
      this.list.resize(Math.ceil(this.rows.length / BLOCK));
      this.list.reset();
      this.scroller.scrollTop = 0;
      this.tell();
      this.search();
    } catch (error) {
      if (turn === this.turn) this.fail(error);
    } finally {
      if (this.reading === turn) this.reading = null;
    }
  }

  async more() {
    if (!this.next || this.loading) return;
    this.loading = true;
    const [turn, cursor] = [this.turn, this.next];
    // After a failure the next poll tries again.
    const page = await get(path(["runs"], { ...this.query(), limit: PAGE, cursor })).catch(() => null);
    if (turn !== this.turn) return;
    this.loading = false;
    if (!page) return;
    // A poll may have put runs at the end meanwhile, these among them.
    if (cursor === this.next) {
      this.next = page.next;
      this.put(this.rows.length, page);
    }
    this.draw();
    this.search();
  }

  /** What runs wait for is looked up a part at a time: a part without a match says nothing of the next. */
  search() {
    if (this.filter.waiting && this.rows.length < 2 * BLOCK) this.more();
  }

  /** Puts a page that begins at a row in the place of what was known there. The list is ordered by age. */
  put(from, page) {
    const known = new Set(page.runs.map((run) => run.run));
    const old = this.rows.slice(from);
    const end = page.next === null ? null : cursor_at(page.next);
    // A part of a search may have few matches, or none: it still tells of all runs down to its cursor.
    const part = this.filter.waiting && page.runs.length < PAGE;
    // Where a whole page is new, the runs between it and the known ones are missing.
    const joins = from > 0 || part || old.some((run) => known.has(run.run));
    const after = joins && end ? old.filter((run) => !known.has(run.run) && below(run, end)) : [];
    // A search that has come further continues there.
    const further = this.filter.waiting && joins && end && (this.next === null || below(cursor_at(this.next), end));
    this.rows = [...this.rows.slice(0, from), ...page.runs, ...after];
    if (after.length === 0 && !further) this.next = page.next;
    if (page.next && page.runs.length > 0) this.marks.set(page.runs.at(-1).run, page.next);
  }

  /** Reads the newest runs and those on the screen again, one request after the other. */
  async poll() {
    if (this.reading) return;
    if (this.outdated) return void this.reload();
    const turn = this.turn;
    this.reading = turn;
    try {
      await this.reread(turn);
    } catch (error) {
      if (turn === this.turn) this.fail(error);
    }
    if (this.reading === turn) this.reading = null;
  }

  async reread(turn) {
    const page = await get(path(["runs"], { ...this.query(), limit: PAGE }));
    if (turn !== this.turn) return;
    this.damaged = page.damaged;
    this.put(0, page);
    const seen = Math.min(...this.list.drawn.keys()) * BLOCK;
    const last = (Math.max(...this.list.drawn.keys()) + 1) * BLOCK;
    const mark = last > PAGE ? this.rows.findLastIndex((run, at) => at < Math.max(seen, PAGE) && this.marks.has(run.run)) : -1;
    if (mark >= 0) {
      const cursor = this.marks.get(this.rows[mark].run);
      const rest = await get(path(["runs"], { ...this.query(), limit: Math.min(1000, last - mark), cursor }));
      if (turn !== this.turn) return;
      const at = this.rows.findIndex((run) => this.marks.get(run.run) === cursor);
      if (at >= 0) this.put(at + 1, rest);
    }
    await this.search_again(turn, page.next);
    if (turn !== this.turn) return;
    this.draw();
    if (this.list.drawn.has(this.list.count - 1)) this.more();
    this.search();
  }

  /** Reads the later parts of a search again, one in each poll: a run there may have begun to wait, or wait no longer. */
  async search_again(turn, first) {
    if (!this.filter.waiting || first === null || this.loading) return;
    if (!this.again && Date.now() - this.searched < AGAIN) return;
    const cursor = this.again ?? first;
    const start = cursor_at(cursor);
    // Below the end of what is known, the search itself continues.
    const page = this.next === null || below(cursor_at(this.next), start)
      ? await get(path(["runs"], { ...this.query(), limit: PAGE, cursor })) : null;
    if (turn !== this.turn) return;
    if (page) {
      const from = this.rows.findIndex((run) => below(run, start));
      this.put(from < 0 ? this.rows.length : from, page);
    }
    this.again = page?.next ?? null;
    if (!this.again) this.searched = Date.now();
  }

  /** The server answers again. */
  restored() {
    if (this.rows.length > 0) this.poll();
    else if (!this.reading) this.reload();
  }

  /** Draws what has changed. */
  draw() {
    this.list.resize(Math.ceil(this.rows.length / BLOCK));
    for (const index of [...this.list.drawn.keys()]) this.list.refresh(index);
    this.tell();
  }

  fail(error) {
    renew(this.note, [error.message, this.rows.length], () => (this.rows.length > 0 && error.status !== 401 ? h("p", { class: "failure small" }, error.message) : failure(error, () => this.reload())));
  }

  tell() {
    const more = this.next ? " or more" : "";
    const [none, some, damaged] = [this.rows.length === 0, Object.keys(this.filter).length > 0, this.damaged?.length ?? 0];
    this.count.textContent = none ? "" : `${counted(this.rows.length, "run")}${more}`;
    const searching = none && Boolean(this.next);
    renew(this.note, [none, some, searching, damaged], () => [
      none ? h("div", { class: "nothing" }, h("p", {}, searching ? "Searching…" : some ? "No run matches these filters." : "There are no runs yet."), some ? null : h("pre", { tabindex: "0" }, 'pointsman run research "Where is the loop rule proved?"')) : null,
      damaged > 0 ? h("p", { class: "failure small" }, `${counted(damaged, "run")} cannot be read`) : null]);
    for (const control of this.bulk.children) control.disabled = none;
  }

  block(index, old) {
    const rows = this.rows.slice(index * BLOCK, (index + 1) * BLOCK);
    if ((index + 2) * BLOCK >= this.rows.length) this.more();
    this.stand(rows);
    const block = old ?? h("div", { class: "block", role: "presentation", data: { index } });
    block.rows ??= new Map();
    const drawn = new Map(rows.map((run) => [run.run, block.rows.get(run.run) ?? h("div", { role: "listitem" }, h("a", { class: "row", href: `/runs/${run.run}`, data: { run: run.run } }))]));
    for (const run of rows) this.row(drawn.get(run.run).firstChild, run);
    block.rows = drawn;
    return arrange(block, [...drawn.values()]);
  }

  /** Draws a run into its link, which stays, so that it keeps the focus. */
  row(link, run) {
    const known = this.known_standing(run);
    const status = known?.waits ? "waiting" : run.disposition ?? (run.owner ? "open" : "idle");
    const words = known?.standing ?? run.disposition ?? `in ${run.state}`;
    const meta = `${run.agent === run.chart ? run.agent : `${run.agent} · ${run.chart}`} · ${run.state} · ${entries(run.steps)} · ${age(run.created_ms)}`;
    link.classList.toggle("selected", run.run === this.chosen);
    renew(link, [status, words, run.goal, meta], () => [
      h("span", { class: `dot ${status}`, "aria-hidden": "true" }),
      h("span", { class: "goal" }, run.goal || run.run),
      h("span", { class: `pill ${status}` }, words),
      h("span", { class: "meta" }, meta)]);
  }

  /** How a run stands, if nothing of it has changed since that was asked. */
  known_standing(run) {
    const standing = this.standings.get(run.run);
    return standing?.steps === run.steps && standing.place === place(run) ? standing : null;
  }

  /** Asks how runs stand, once for each entry and each place in the queue. */
  stand(rows) {
    this.unknown ??= new Set();
    for (const run of rows) {
      if (!this.known_standing(run)) this.unknown.add(run.run);
    }
    if (this.unknown.size === 0 || this.standing) return;
    this.standing = setTimeout(async () => {
      const wanted = [...this.unknown].slice(0, 100);
      for (const run of wanted) this.unknown.delete(run);
      const places = new Map(this.rows.map((run) => [run.run, place(run)]));
      try {
        for (const found of await get(path(["standings"], { runs: wanted.join(",") }))) {
          this.standings.set(found.run, { ...found, place: places.get(found.run) });
          const link = this.scroller.querySelector(`[data-run="${found.run}"]`);
          const run = this.rows.find((run) => run.run === found.run);
          if (link && run) this.row(link, run);
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
    // The goals of those that the list has read.
    const goals = new Map(this.rows.map((run) => [run.run, run.goal]));
    const sure = await dialog(`${action[0].toUpperCase()}${action.slice(1)} ${counted(counted_runs.count, "run")}?`, (close) => [
      h("p", {}, counted_runs.count === 0 ? "The action applies to none of the selected runs." : `These runs match the filters now. Nothing has been done yet.${action === "cancel" ? " An ended run never changes again." : ""}`),
      h("ul", { class: "some" }, counted_runs.runs.slice(0, 8).map((run) => h("li", {}, h("code", {}, run), ` ${goals.get(run) ?? ""}`)), counted_runs.count > 8 ? h("li", {}, `and ${grouped(counted_runs.count - 8)} more`) : null),
      h("div", { class: "actions" }, button("Leave them", () => close(false)), counted_runs.count > 0 ? button(`${action[0].toUpperCase()}${action.slice(1)} ${counted(counted_runs.count, "run")}`, () => close(true), { class: action === "cancel" ? "danger" : "primary" }) : null)]);
    if (!sure) return;
    // Only those that were counted: other runs may match the filters by now.
    const [total, failed] = [[], []];
    for (let at = 0; at < counted_runs.runs.length; at += MANY) {
      const done = await change(() => post(path(["runs", "bulk"]), { ...body, runs: counted_runs.runs.slice(at, at + MANY) }));
      if (!done) break;
      total.push(...done.runs);
      failed.push(...done.failed);
    }
    if (total.length + failed.length > 0) say(`${counted(total.length, "run")}: done${failed.length > 0 ? `, ${failed.length} failed` : ""}.`, failed.length > 0 ? "bad" : "good");
    this.reload();
  }

  key(key) {
    const steps = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };
    if (key in steps) {
      const at = this.rows.findIndex((run) => run.run === this.chosen);
      const to = Math.max(0, Math.min(this.rows.length - 1, at + steps[key]));
      this.chosen = this.rows[to]?.run ?? null;
      this.list.reveal(Math.floor(to / BLOCK));
      const row = this.scroller.querySelector(`[data-run="${this.chosen}"]`);
      row?.focus({ preventScroll: true });
      row?.scrollIntoView({ block: "nearest" });
    } else if (key === "/") this.form.elements.text.focus();
    else return false;
    return true;
  }
}

export const KEYS = [["j, k", "next and previous run"], ["Enter", "open the run"], ["/", "search"]];
