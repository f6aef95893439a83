// The chart as a picture: the current state is lit, and taken arrows are counted.

import { getText, path } from "./api.js";
import { grouped, h, s, show } from "./dom.js";

export class ChartPane {
  constructor() {
    this.walk = [];
    this.element = h("div", { class: "chart", tabindex: "0", role: "group", "aria-label": "Chart" });
  }

  async load(run) {
    const text = await getText(path(["runs", run, "chart", "picture"], { format: "figure" }));
    this.put(text);
  }

  put(text) {
    const picture = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    this.svg = document.importNode(picture, true);
    this.svg.setAttribute("aria-label", "The chart");
    // As wide as the pane, unless its text would be too small to read.
    const natural = Number(this.svg.getAttribute("width"));
    Object.assign(this.svg.style, { width: `${natural}px`, height: "auto", maxWidth: "100%", minWidth: `${Math.round(natural * 0.9)}px` });
    show(this.element, this.svg);
    this.states = new Map([...this.svg.querySelectorAll("[data-state]")].map((it) => [it.dataset.state, it]));
    this.edges = [...this.svg.querySelectorAll(".edge")].map((tag) => ({
      tag,
      from: tag.dataset.from,
      to: tag.dataset.to,
      outcomes: tag.dataset.outcomes.split(" "),
      line: this.svg.querySelector(`.line[data-arrow="${tag.dataset.arrow}"]`),
    }));
    // What is drawn after the lines.
    this.above = [...this.svg.querySelectorAll(".line")].at(-1)?.nextSibling;
    if (this.moment) this.at(this.moment);
    this.path(this.walk);
  }

  /** Finds the arrow of a transition. Budgets and cancellations have none. */
  edge(from, outcome) {
    return this.edges.find((edge) => edge.from === from && edge.outcomes.includes(outcome));
  }

  /** Shows a moment. A walk began at another one. */
  at(moment) {
    if (this.moment && this.moment.seq !== moment.seq) this.path([]);
    this.moment = moment;
    if (!this.svg) return;
    for (const old of this.svg.querySelectorAll(".count")) old.remove();
    for (const edge of this.edges) {
      for (const part of [edge.tag, edge.line]) part?.classList.remove("taken", "fresh");
    }
    const visits = new Map();
    const counts = new Map();
    for (const hop of moment.taken) {
      if (hop.to) visits.set(hop.to, (visits.get(hop.to) ?? 0) + hop.count);
      const edge = hop.from && hop.outcome ? this.edge(hop.from, hop.outcome) : null;
      if (edge) counts.set(edge, (counts.get(edge) ?? 0) + hop.count);
    }
    const fresh = new Set(moment.why.hops.map((hop) => this.edge(hop.from, hop.because)));
    for (const [edge, count] of counts) {
      for (const part of [edge.tag, edge.line]) {
        part?.classList.add("taken");
        part?.classList.toggle("fresh", fresh.has(edge));
      }
      this.raise(edge);
      this.count(edge, count);
    }
    for (const edge of fresh) this.raise(edge);
    for (const [name, element] of this.states) {
      element.classList.toggle("been", visits.has(name));
      element.classList.toggle("now", name === moment.view.state);
    }
    const now = this.states.get(moment.view.state);
    if (now && this.element.clientHeight > 0) this.center(now);
  }

  /** Draws the line of an arrow above those that share its way. */
  raise(edge) {
    if (edge?.line) this.above.before(edge.line);
  }

  /** Writes how often an arrow was taken. */
  count(edge, count, tone = "") {
    const [x, y] = [Number(edge.tag.dataset.x), Number(edge.tag.dataset.y)];
    const text = `${grouped(count)}×`;
    const width = 8 + text.length * 6;
    // Above everything else.
    this.svg.querySelector(":scope > g").append(s("g", { class: `count ${tone}`, data: { from: edge.from, outcomes: edge.outcomes.join(" ") } },
      s("rect", { x: x - width / 2, y: y - 13, width, height: 15, rx: 7.5 }),
      s("text", { x, y: y - 2 }, text)));
  }

  /** Marks the states of a walk that was not taken. */
  path(states) {
    this.walk = states;
    for (const [name, element] of this.states ?? []) element.classList.toggle("walked", states.includes(name));
  }

  center(state) {
    const [box, view] = [state.getBoundingClientRect(), this.element.getBoundingClientRect()];
    if (box.top >= view.top && box.bottom <= view.bottom && box.left >= view.left && box.right <= view.right) return;
    this.element.scrollBy({
      top: box.top - view.top - (view.height - box.height) / 2,
      left: box.left - view.left - (view.width - box.width) / 2,
    });
  }
}
