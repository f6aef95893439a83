// One run: its story, and everything that is known of the selected moment.

import { actions, answer, questions } from "./answer.js";
import { follow, getReady, path } from "./api.js";
import { ChartPane } from "./chart.js";
import { failure, loading } from "./dialog.js";
import { age, button, duration, entries, grouped, h, show, visible } from "./dom.js";
import { Find } from "./find.js";
import { budgets, data, prompt, why } from "./panes.js";
import { result } from "./result.js";
import { byEntry, entryElement } from "./story.js";
import { Timeline } from "./timeline.js";
import { WhatIf } from "./whatif.js";
import { Windowed } from "./window.js";

/** Entries of a block in the document, of a request, and the requests that are kept. */
const [BLOCK, PAGE, KEPT] = [8, 64, 12];
const PANES = ["chart", "why", "budgets", "data", "prompt", "what-if", "result"];

function journal(at, of) {
  return `Reading the journal: entry ${grouped(at)} of ${grouped(of)}`;
}

export class RunPage {
  constructor(main, run, entry) {
    Object.assign(this, { main, run, head: 0, selected: entry, following: entry === null, level: 1, pages: new Map(), live: new Map() });
    const named = location.hash.slice(1);
    this.pane = PANES.includes(named) ? named : "chart";
  }

  async open() {
    try {
      // A long journal is read first: say how far that is.
      this.detail = await getReady(path(["runs", this.run]), (at, of) => loading(this.main, journal(at, of)));
    } catch (error) {
      show(this.main, failure(error));
      return;
    }
    if (this.detail.forked) {
      getReady(path(["runs", this.detail.forked.run])).then((original) => { this.detail.forked.head = original.steps; }, () => {});
    }
    document.title = `${visible(this.detail.goal || this.run).slice(0, 80)} · Pointsman`;
    this.head = this.detail.steps;
    const asked = this.selected;
    this.selected = Math.min(asked ?? this.head, this.head);
    this.build();
    if (asked !== null && asked > this.head) this.problem(new Error(`This run has no entry ${grouped(asked)}; its last one is ${grouped(this.head)}.`));
    this.story.resize(Math.ceil(this.head / BLOCK));
    this.timeline.grow(this.head);
    this.select(this.selected, { replace: asked === null ? null : true });
    this.chart.load(this.run).catch((error) => show(this.chart.element, failure(error)));
    if (this.detail.disposition === null) this.watch();
  }

  build() {
    this.facts = h("p", { class: "facts-line" });
    this.buttons = h("div", { class: "actions" });
    this.asks = h("div", { class: "questions" });
    this.stepper = h("div", { class: "stepper", role: "group", "aria-label": "Steps" });
    this.scroller = h("div", { class: "story", id: "story", tabindex: "0", role: "log", "aria-live": "off", "aria-label": "Story" });
    this.progress = h("div", { class: "progress", hidden: true, role: "status" });
    this.chart = new ChartPane();
    this.bodies = Object.fromEntries(PANES.map((name) => [name, name === "chart" ? this.chart.element : h("div", { class: `pane ${name}`, tabindex: "0" })]));
    for (const name of PANES) {
      this.bodies[name].id = `pane-${name}`;
      this.bodies[name].setAttribute("role", "tabpanel");
      this.bodies[name].setAttribute("aria-labelledby", `tab-${name}`);
    }
    this.tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "The selected moment" }, ["story", ...PANES].map((name) =>
      button(name.replace("-", " "), () => this.open_pane(name), { role: "tab", id: `tab-${name}`, data: { pane: name }, "aria-controls": name === "story" ? "story" : `pane-${name}` })));
    const levels = h("select", { "aria-label": "Importance", onchange: (event) => this.filter(Number(event.target.value)) },
      h("option", { value: "1" }, "everything"), h("option", { value: "2" }, "the story"), h("option", { value: "3" }, "turning points"));
    this.find = new Find(this.run, { go: (seq) => this.select(seq), changed: () => this.redraw() });
    this.what_if = new WhatIf(this.bodies["what-if"], this.run, { walked: (states) => this.chart.path(states) });
    this.timeline = new Timeline(this.run, (seq) => this.select(seq));
    this.now = h("p", { class: "now-line" });
    this.heading = h("h1", {}, this.detail.goal || this.run);
    this.layout = h("div", { class: "run" },
      h("div", { class: "run-head" }, h("div", { class: "title" }, this.heading, this.buttons), this.facts, this.asks),
      this.timeline.element,
      h("div", { class: "run-bar" }, this.stepper, levels, this.find.element),
      h("div", { class: "run-body", data: { shown: "story" } }, this.scroller,
        h("aside", { class: "moment", "aria-label": "The selected moment" }, this.now, this.tabs, this.progress, PANES.map((name) => this.bodies[name]))));
    show(this.main, this.layout);
    this.story = new Windowed(this.scroller, { draw: (block) => this.block(block), estimate: 420 });
    this.writing = h("div", { class: "writing" });
    this.scroller.append(this.writing);
    this.layout.querySelector(".run-body").addEventListener("click", (event) => this.clicked(event));
    this.open_pane(matchMedia("(max-width: 900px)").matches && !location.hash ? "story" : this.pane);
    this.show_facts();
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
    const status = detail.disposition ?? (detail.questions.length > 0 ? "waiting" : detail.paused ? "paused" : "open");
    show(this.facts,
      h("span", { class: `pill ${status}` }, status === "waiting" ? "waiting for you" : status),
      h("span", {}, detail.agent === detail.chart ? detail.agent : `${detail.agent} · ${detail.chart}`),
      h("span", {}, `in ${detail.state}`),
      h("span", {}, entries(detail.steps)),
      h("span", {}, duration(detail.elapsed_ms)),
      h("span", { title: new Date(detail.created_ms).toLocaleString() }, `started ${age(detail.created_ms)}`),
      detail.forked ? h("a", { href: `/runs/${detail.forked.run}/entries/${detail.forked.at}` }, "forked from another run") : null,
      h("code", { class: "id" }, this.run));
    actions(this.buttons, this.run, detail, () => this.selected, () => this.refresh());
  }

  // -- the story

  async load(index) {
    const known = this.pages.get(index);
    if (known?.loading) return;
    const page = { ...known, loading: true };
    this.pages.set(index, page);
    try {
      const where = path(["runs", this.run, "story"], { from: index * PAGE + 1, limit: PAGE });
      const read = await getReady(where, (at, of) => this.reading(at, of));
      page.items = byEntry(read.items);
      page.last = read.next - 1;
      page.error = null;
    } catch (error) {
      page.error = error;
    }
    page.loading = false;
    this.reading(0, 0);
    for (const old of this.pages.keys()) {
      if (this.pages.size <= KEPT) break;
      if (Math.abs(old - index) > 2) this.pages.delete(old);
    }
    for (let block = (index * PAGE) / BLOCK; block < ((index + 1) * PAGE) / BLOCK; block += 1) this.story.refresh(block);
    if (this.wanted) this.reveal(this.wanted);
  }

  block(index) {
    const [first, last] = [index * BLOCK + 1, Math.min(this.head, (index + 1) * BLOCK)];
    const page = this.pages.get(Math.floor((first - 1) / PAGE));
    const fresh = page?.items && (page.last >= last);
    if (!fresh) {
      if (page?.error) return h("div", { class: "block" }, failure(page.error));
      this.load(Math.floor((first - 1) / PAGE));
      if (!page?.items) return h("div", { class: "block waiting", "aria-hidden": "true" });
    }
    const options = { selected: this.selected, hits: this.find.names, level: this.level };
    const entries = [];
    for (let seq = first; seq <= last; seq += 1) {
      const items = this.pages.get(Math.floor((seq - 1) / PAGE))?.items?.get(seq);
      if (items) entries.push(entryElement(this.run, seq, items, options));
    }
    const shown = entries.filter(Boolean);
    return h("div", { class: shown.length > 0 ? "block" : "block empty" }, shown);
  }

  redraw() {
    for (const index of [...this.story.drawn.keys()]) this.story.refresh(index);
  }

  filter(level) {
    this.level = level;
    this.story.reset();
    this.reveal(this.selected);
  }

  /** Brings an entry into view, as soon as it is there. */
  reveal(seq) {
    this.wanted = seq;
    const block = this.story.reveal(Math.floor((seq - 1) / BLOCK));
    const entry = block?.querySelector(`[data-seq="${seq}"]`);
    if (!entry) return;
    this.wanted = null;
    const [place, view] = [entry.getBoundingClientRect(), this.scroller.getBoundingClientRect()];
    if (place.top < view.top + 8) this.scroller.scrollTop += place.top - view.top - 24;
    else if (place.bottom > view.bottom - 8) this.scroller.scrollTop += Math.min(place.top - view.top - 24, place.bottom - view.bottom + 24);
  }

  // -- the moment

  async select(seq, { replace = true, still = false } = {}) {
    this.selected = Math.max(1, Math.min(seq, this.head));
    this.following = this.selected === this.head;
    const where = `/runs/${this.run}/entries/${this.selected}`;
    if (replace && location.pathname !== where) history.replaceState(null, "", where);
    for (const old of this.scroller.querySelectorAll(".entry.selected")) old.classList.remove("selected");
    this.scroller.querySelector(`[data-seq="${this.selected}"]`)?.classList.add("selected");
    if (!still) this.reveal(this.selected);
    this.show_steps();
    this.timeline.select(this.selected);
    this.stop?.abort();
    const stop = new AbortController();
    this.stop = stop;
    try {
      const moment = await getReady(path(["runs", this.run, "entries", this.selected]), (at, of) => this.reading(at, of), stop.signal);
      this.reading(0, 0);
      this.moment = moment;
      this.show_moment();
    } catch (error) {
      if (error.name !== "AbortError") this.problem(error);
    }
  }

  problem(error) {
    show(this.now, h("span", { class: "bad" }, error.message));
  }

  reading(at, of) {
    this.progress.hidden = of === 0;
    if (of > 0) this.progress.textContent = journal(at, of);
  }

  show_steps() {
    const to = (label, seq, name, key) => button(label, () => this.select(seq), { class: "quiet", "aria-label": name, title: `${name} (${key})`, disabled: seq < 1 || seq > this.head || seq === this.selected });
    const field = h("input", { type: "text", inputmode: "numeric", value: String(this.selected), "aria-label": "Entry", onchange: (event) => {
      const seq = Number(event.target.value.replaceAll(",", ""));
      if (seq >= 1) this.select(seq);
    } });
    show(this.stepper, to("⇤", 1, "First entry", "Home"), to("←", this.selected - 1, "Entry before", "k"), field,
      h("span", { class: "dim" }, `of ${grouped(this.head)}`), to("→", this.selected + 1, "Next entry", "j"), to("⇥", this.head, "Last entry", "End"));
  }

  show_moment() {
    const { moment } = this;
    show(this.now, h("span", { class: "dim" }, `Entry ${grouped(moment.seq)}: `), h("span", { class: "state-name" }, moment.view.state),
      moment.stage ? h("span", { class: "dim" }, ` · ${moment.stage}`) : null,
      moment.view.ended ? h("span", { class: `pill ${moment.view.ended}` }, moment.view.ended) : null);
    this.chart.at(moment);
    const draw = { why: () => why(this.bodies.why, moment), budgets: () => budgets(this.bodies.budgets, moment), data: () => data(this.bodies.data, this.run, moment, this.detail.forked), prompt: () => prompt(this.bodies.prompt, this.run, moment), "what-if": () => this.what_if.at(moment), result: () => result(this.bodies.result, this.run, moment) };
    for (const name of PANES) {
      if (name === "chart") continue;
      if (name === this.pane) draw[name]();
      else this.bodies[name].replaceChildren();
    }
    const ask = moment.seq === this.head && this.detail.disposition === null;
    questions(this.asks, this.run, ask ? moment : { questions: [] }, () => this.refresh());
  }

  open_pane(name) {
    const shown = this.layout.querySelector(".run-body");
    shown.dataset.shown = name;
    if (name !== "story") this.pane = name;
    for (const tab of this.tabs.children) {
      tab.setAttribute("aria-selected", String(tab.dataset.pane === name));
      if (tab.dataset.pane === name) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    for (const pane of PANES) this.bodies[pane].hidden = pane !== this.pane;
    if (name !== "what-if") this.chart.path([]);
    if (this.moment) this.show_moment();
  }

  // -- live

  async refresh() {
    try {
      this.detail = await getReady(path(["runs", this.run]));
    } catch {
      return;
    }
    const followed = this.following;
    const grown = this.detail.steps > this.head;
    this.head = Math.max(this.head, this.detail.steps);
    this.show_facts();
    this.show_steps();
    this.story.resize(Math.ceil(this.head / BLOCK));
    if (grown) {
      this.timeline.grow(this.head);
      const last = this.pages.get(Math.floor((this.head - 1) / PAGE));
      if (last?.items && last.last < this.head) this.load(Math.floor((this.head - 1) / PAGE));
      this.redraw();
    }
    if (followed) this.select(this.head, { replace: null });
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
        if (event.kind === "answered" || event.kind === "stopped" || event.kind === "transition") this.live.clear();
        if (event.seq > this.head || event.kind === "ended") soon();
      } else if (name === "delta") {
        this.live.set(event.effect, `${this.live.get(event.effect) ?? ""}${event.text}`.slice(-16_384));
      } else {
        this.live.clear();
      }
      this.show_live();
    }, new AbortController().signal);
  }

  show_live() {
    show(this.writing, [...this.live].map(([effect, text]) => h("div", { class: "live", data: { effect } }, h("p", { class: "label" }, "writing…"), h("p", {}, text))));
    if (this.live.size > 0 && this.following) this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  // -- keys

  key(key) {
    const steps = { j: 1, ArrowRight: 1, k: -1, ArrowLeft: -1 };
    if (key in steps) this.select(this.selected + steps[key]);
    else if (key === "Home") this.select(1);
    else if (key === "End") this.select(this.head);
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
