// One run: its story, and everything that is known of the selected moment.

import { actions, answer, is_idle, questions } from "./answer.js";
import { follow, getReady, path, pause, Problem } from "./api.js";
import { ChartPane } from "./chart.js";
import { failure, loading } from "./dialog.js";
import { age, arrange, button, duration, entries, grouped, h, renew, say, show, visible } from "./dom.js";
import { Find } from "./find.js";
import { budgets, data, why } from "./panes.js";
import { prompt } from "./prompt.js";
import { Reading } from "./reading.js";
import { ResultPane } from "./result.js";
import { Timeline } from "./timeline.js";
import { WhatIf } from "./whatif.js";

const PANES = ["chart", "why", "budgets", "data", "prompt", "what-if", "result"];

/** Milliseconds after which a request that failed is repeated. */
const AGAIN = 3000;
/** Milliseconds for which the timeline waits until the first moment is shown: both read the journal. */
const LANES = 1000;

function journal(at, of) {
  return `Reading the journal: entry ${grouped(at)} of ${grouped(of)}`;
}

export class RunPage {
  constructor(main, run, entry) {
    Object.assign(this, { main, run, head: 0, selected: entry, following: entry === null });
    const named = location.hash.slice(1);
    this.pane = PANES.includes(named) ? named : "chart";
  }

  async open() {
    try {
      // A long journal is read first: say how far that is.
      this.detail = await getReady(path(["runs", this.run]), (at, of) => loading(this.main, journal(at, of)));
    } catch (error) {
      show(this.main, failure(error, () => this.open()));
      return;
    }
    // The original may be shorter: its last entry is compared then.
    this.original = this.detail.forked ? getReady(path(["runs", this.detail.forked.run])).then((original) => original.steps, () => null) : null;
    document.title = `${visible(this.detail.goal || this.run).slice(0, 80)} · Pointsman`;
    this.head = this.detail.steps;
    const asked = this.selected;
    this.selected = Math.min(asked ?? this.head, this.head);
    // The server may have to read a long journal up to there, so this is asked for first.
    this.stop = new AbortController();
    this.early = { seq: this.selected, moment: this.moment_at(this.selected) };
    this.build();
    if (asked !== null && asked > this.head) say(`This run has no entry ${grouped(asked)}; its last one is ${grouped(this.head)}.`, "bad");
    this.reading.grow(this.head);
    this.timeline.grow(this.head);
    const shown = this.select(this.selected, { address: asked !== null, follow: asked === null, end: this.detail.disposition === null });
    this.timeline.ready = Promise.race([shown, pause(LANES)]);
    this.picture();
    if (this.detail.disposition === null) this.watch();
  }

  build() {
    this.facts = h("p", { class: "facts-line" });
    this.controls = h("div", { class: "actions" });
    this.asks = h("div", { class: "questions" });
    this.stepper = h("div", { class: "stepper", role: "group", "aria-label": "Steps" });
    this.progress = h("div", { class: "progress", hidden: true, role: "status" });
    this.chart = new ChartPane();
    this.bodies = Object.fromEntries(PANES.map((name) => [name, name === "chart" ? this.chart.element : h("div", { class: `pane ${name}`, tabindex: "0" })]));
    for (const name of PANES) {
      this.bodies[name].id = `pane-${name}`;
      this.bodies[name].setAttribute("role", "tabpanel");
      this.bodies[name].setAttribute("aria-labelledby", `tab-${name}`);
    }
    this.tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "The selected moment", onkeydown: (event) => this.tab_key(event) }, ["story", ...PANES].map((name) =>
      button(name[0].toUpperCase() + name.slice(1).replace("-", " "), () => this.open_pane(name), { role: "tab", id: `tab-${name}`, data: { pane: name }, "aria-controls": name === "story" ? "story" : `pane-${name}` })));
    const levels = h("select", { "aria-label": "Importance", title: "Importance", onchange: (event) => this.reading.filter(Number(event.target.value)) },
      h("option", { value: "1" }, "everything"), h("option", { value: "2" }, "the story"), h("option", { value: "3" }, "turning points"));
    this.find = new Find(this.run, { go: (seq) => this.select(seq), changed: () => this.reading.found() });
    this.reading = new Reading(this.run, { hits: () => this.find.names, progress: (at, of) => this.read(at, of) });
    this.result = new ResultPane(this.bodies.result, this.run);
    this.what_if = new WhatIf(this.bodies["what-if"], this.run, {
      // An answer may come after the next step.
      walked: (states, entry) => { if (entry === this.moment?.seq) this.chart.path(states); },
    });
    this.timeline = new Timeline(this.run, (seq) => this.select(seq));
    this.now = h("p", { class: "now-line" });
    this.build_steps();
    this.heading = h("h1", {}, this.detail.goal || this.run);
    this.layout = h("div", { class: "run" },
      h("div", { class: "run-head" }, h("div", { class: "title" }, this.heading, this.controls), this.facts, this.asks),
      this.timeline.element,
      h("div", { class: "run-bar" }, this.stepper, levels, this.find.element),
      h("div", { class: "run-body", data: { shown: "story" } }, this.reading.element,
        h("aside", { class: "moment", "aria-label": "The selected moment" }, this.now, this.tabs, this.progress, PANES.map((name) => this.bodies[name]))));
    show(this.main, this.layout);
    this.layout.querySelector(".run-body").addEventListener("click", (event) => this.clicked(event));
    this.open_pane(matchMedia("(max-width: 900px)").matches && !location.hash ? "story" : this.pane);
    this.buttons = actions(this.controls, this.run, () => this.selected, () => this.refresh());
    this.show_facts();
  }

  picture() {
    this.chart.load(this.run).catch((error) => show(this.chart.element, failure(error, () => this.picture())));
  }

  clicked(event) {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.target.closest("button")) return;
    const link = event.target.closest("a");
    if (link && !link.dataset.entry) return;
    const seq = Number(link?.dataset.entry ?? event.target.closest(".entry")?.dataset.seq);
    if (!seq) return;
    if (link) event.preventDefault();
    if (String(getSelection()) === "") this.select(seq, { still: !link });
  }

  show_facts() {
    const { detail } = this;
    const status = detail.disposition ?? (detail.questions.length > 0 ? "waiting" : detail.paused ? "paused" : is_idle(detail) ? "idle" : "open");
    const words = [status === "waiting" ? "waiting for you" : status, detail.agent === detail.chart ? detail.agent : `${detail.agent} · ${detail.chart}`,
      `in ${detail.state}`, entries(detail.steps), duration(detail.elapsed_ms), `started ${age(detail.created_ms)}`];
    // The link and the id stay what they are, so that they can be focused and selected.
    this.words ??= words.map(() => h("span", {}));
    this.words.forEach((element, at) => renew(element, words[at], () => words[at]));
    this.words[0].className = `pill ${status}`;
    this.words.at(-1).title = new Date(detail.created_ms).toLocaleString();
    this.named ??= [detail.forked ? h("a", { href: `/runs/${detail.forked.run}/entries/${detail.forked.at}` }, "forked from another run") : null,
      h("code", { class: "id" }, this.run)].filter(Boolean);
    arrange(this.facts, [...this.words, ...this.named]);
    this.buttons(detail);
  }

  // -- the moment

  async select(seq, { address = true, still = false, end = false, follow } = {}) {
    this.seeking?.abort();
    this.selected = Math.max(1, Math.min(seq, this.head));
    this.following = follow ?? this.selected === this.head;
    const where = `/runs/${this.run}/entries/${this.selected}`;
    if (address && location.pathname !== where) history.replaceState(null, "", where);
    this.reading.select(this.selected);
    if (!still) this.reading.reveal(this.selected, end && this.following);
    this.show_steps();
    this.buttons(this.detail);
    this.timeline.select(this.selected);
    const { early } = this;
    this.early = null;
    const known = early?.seq === this.selected;
    if (!known) {
      this.stop.abort();
      this.stop = new AbortController();
    }
    try {
      const moment = await (known ? early.moment : this.moment_at(this.selected));
      this.read(0, 0);
      this.moment = moment;
      this.show_moment();
    } catch (error) {
      if (error.name !== "AbortError") this.problem(error, seq);
    }
  }

  moment_at(seq) {
    return getReady(path(["runs", this.run, "entries", seq]), (at, of) => this.read(at, of), this.stop.signal);
  }

  problem(error, seq) {
    this.mark_stale();
    renew(this.now, [error.message, seq], () => [h("span", { class: "bad" }, error.message), " ", button("Try again", () => this.select(seq, { still: true }), { class: "more" })]);
  }

  /** Marks the panes while they show another entry than the selected one. */
  mark_stale() {
    this.layout.classList.toggle("stale", this.moment?.seq !== this.selected);
  }

  /** Says how far the server has read a long journal. */
  read(at, of) {
    this.progress.hidden = of === 0;
    if (of > 0) this.progress.textContent = journal(at, of);
  }

  build_steps() {
    const to = (label, name, key, go) => button(label, go, { class: "quiet", "aria-label": name, title: `${name} (${key})` });
    this.back = [to("⇤", "First entry", "Home", () => this.key("Home")), to("←", "Entry before", "k", () => this.key("k"))];
    this.on = [to("→", "Next entry", "j", () => this.key("j")), to("⇥", "Last entry", "End", () => this.key("End"))];
    this.field = h("input", { type: "text", inputmode: "numeric", "aria-label": "Entry", onchange: async () => {
      const seq = Number(this.field.value.replaceAll(",", ""));
      if (seq >= 1) this.select(seq);
      this.field.value = String(this.selected);
    } });
    this.total = h("span", { class: "dim" });
    arrange(this.stepper, [...this.back, this.field, this.total, ...this.on]);
  }

  show_steps() {
    this.total.textContent = `of ${grouped(this.head)}`;
    // What a person types here stays.
    if (document.activeElement !== this.field) this.field.value = String(this.selected);
    for (const control of this.back) control.setAttribute("aria-disabled", String(this.selected <= 1));
    for (const control of this.on) control.setAttribute("aria-disabled", String(this.selected >= this.head));
  }

  /** Steps to the next entry that the filter shows. The next key or selection stops a long search for it. */
  async step(from, by) {
    this.seeking?.abort();
    const stop = new AbortController();
    this.seeking = stop;
    try {
      const seq = await this.reading.next(from, by, stop.signal);
      this.read(0, 0);
      if (seq !== null && seq !== this.selected) this.select(seq);
      else if (seq === null && this.reading.level > 1) say(`No entry ${by > 0 ? "after" : "before"} this one is shown: see the menu “Importance”.`);
    } catch (error) {
      if (error.name !== "AbortError") this.problem(error, this.selected);
    }
  }

  show_moment() {
    const { moment } = this;
    this.mark_stale();
    // Where the selected entry could not be loaded, the line keeps saying so.
    if (moment.seq === this.selected) {
      renew(this.now, moment.seq, () => [h("span", { class: "dim" }, `Entry ${grouped(moment.seq)}: `), h("span", { class: "state-name" }, moment.view.state),
        moment.stage ? h("span", { class: "dim" }, ` · ${moment.stage}`) : null,
        moment.view.ended ? h("span", { class: `pill ${moment.view.ended}` }, moment.view.ended) : null]);
    }
    this.chart.at(moment);
    const draw = { why: () => why(this.bodies.why, moment), budgets: () => budgets(this.bodies.budgets, moment), data: () => data(this.bodies.data, this.run, moment, this.detail.forked, this.original), prompt: () => prompt(this.bodies.prompt, this.run, moment), "what-if": () => this.what_if.at(moment), result: () => this.result.at(moment) };
    const shown = `${this.pane} ${moment.seq}`;
    if (this.shown !== shown) {
      this.shown = shown;
      if (this.pane !== "result") this.result.leave();
      for (const name of PANES) {
        if (name !== "chart" && name !== "result" && name !== this.pane) this.bodies[name].replaceChildren();
      }
      draw[this.pane]?.();
    }
    this.ask();
  }

  /** The open questions: with the last entry all of them, elsewhere only that there are some. */
  ask() {
    const { moment, detail, head } = this;
    const open = detail.disposition === null ? detail.questions : [];
    if (moment?.seq === head && open.length > 0) {
      questions(this.asks, this.run, moment, () => this.refresh());
    } else {
      renew(this.asks, [open.length > 0 && head], () => (open.length > 0 ? h("p", {}, button(`Entry ${grouped(head)} waits for an answer`, () => this.select(head), { class: "more" })) : null));
    }
  }

  open_pane(name) {
    const shown = this.layout.querySelector(".run-body");
    shown.dataset.shown = name;
    if (name !== "story") this.pane = name;
    for (const tab of this.tabs.children) {
      const chosen = tab.dataset.pane === name;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      if (chosen) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    for (const pane of PANES) this.bodies[pane].hidden = pane !== this.pane;
    if (name === "story" && this.reading.selected) this.reading.reveal(this.selected);
    if (this.moment) this.show_moment();
  }

  /** The arrow keys move between the tabs. */
  tab_key(event) {
    const tabs = [...this.tabs.children].filter((tab) => tab.offsetParent !== null);
    const at = tabs.findIndex((tab) => tab.getAttribute("aria-selected") === "true");
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const tab = tabs[(to + tabs.length) % tabs.length];
    this.open_pane(tab.dataset.pane);
    tab.focus();
  }

  // -- live

  /** Reads the run again. What happens while it is read leads to one more look afterwards. */
  async refresh() {
    this.again = true;
    if (this.refreshing) return;
    this.refreshing = true;
    while (this.again) {
      this.again = false;
      try {
        await this.reread();
      } catch (error) {
        // No further event may come, such as after the end: ask again until there is an answer.
        if (error instanceof Problem && !error.passes) this.refuse(error);
        else setTimeout(() => this.refresh(), AGAIN);
        break;
      }
    }
    this.refreshing = false;
  }

  /** The server no longer shows this run, or wants a token for it. */
  refuse(error) {
    show(this.main, failure(error, () => location.reload()));
  }

  async reread() {
    const detail = await getReady(path(["runs", this.run]));
    const end = this.reading.is_at_end();
    const grown = detail.steps > this.head;
    this.detail = detail;
    this.head = Math.max(this.head, detail.steps);
    this.show_facts();
    this.show_steps();
    if (grown) {
      this.reading.grow(this.head);
      this.timeline.grow(this.head);
    }
    if (this.following && this.selected < this.head) {
      // Who has scrolled up stays there. An address that names an entry names this one now.
      // The moment is shown before the next look: a later one would stop its request.
      await this.select(this.head, { address: location.pathname !== `/runs/${this.run}`, still: !end, end, follow: true });
    } else {
      this.ask();
    }
  }

  watch() {
    let due = null;
    const soon = () => {
      due ??= setTimeout(() => {
        due = null;
        this.refresh();
      }, 150);
    };
    follow(this.run, this.head, (name, event) => {
      if (name === "item") {
        if (event.kind === "transition" || event.kind === "ended") this.reading.discard();
        if (event.seq > this.head || event.kind === "ended") soon();
      } else if (name === "delta") {
        this.reading.write(event.effect, event.text);
      } else {
        this.reading.discard(event.effect);
      }
    }).catch((error) => this.refuse(error));
  }

  /** The server answers again. */
  restored() {
    if (!this.reading) return void this.open();
    this.reading.restored();
    this.timeline.load();
    if (!this.chart.svg) this.picture();
    if (this.moment?.seq !== this.selected) this.select(this.selected, { address: false, still: true, follow: this.following });
    this.refresh();
  }

  // -- keys

  key(key) {
    const steps = { j: 1, ArrowRight: 1, k: -1, ArrowLeft: -1 };
    if (key in steps) this.step(this.selected + steps[key], steps[key]);
    else if (key === "Home") this.step(1, 1);
    else if (key === "End" && this.detail.disposition === null) this.select(this.head, { end: true });
    else if (key === "End") this.step(this.head, -1);
    else if (key === "/") this.find.field.focus();
    else if (key === "n") this.find.step(1);
    else if (key === "N") this.find.step(-1);
    else if (key === "a" || key === "d") {
      const asked = this.moment?.seq === this.head && this.moment.questions[0]?.asked;
      if (asked) answer(this.run, asked, key === "a", () => this.refresh());
    } else if (/^[1-7]$/.test(key)) this.open_pane(PANES[Number(key) - 1]);
    else return false;
    return true;
  }
}

export const KEYS = [["← →, k j", "step back and forth"], ["Home, End", "first and last entry"], ["/", "find; n and N for the next and previous match"], ["1 … 7", "chart, why, budgets, data, prompt, what if, result"], ["a, d", "approve or deny the open question"]];
