// What if: other outcomes at a step, walked through on a copy. Nothing is written.

import { getReady, path } from "./api.js";
import { failure } from "./dialog.js";
import { button, grouped, h, show } from "./dom.js";

export class WhatIf {
  constructor(element, run, { walked }) {
    Object.assign(this, { element, run, walked, outcomes: [], entry: 0 });
  }

  /** Starts anew at a moment. */
  at(moment) {
    if (this.entry !== moment.seq) this.outcomes = [];
    this.entry = moment.seq;
    this.taken = moment.why.hops.map((hop) => hop.because);
    this.ask();
  }

  async ask() {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    try {
      const walk = await getReady(path(["runs", this.run, "entries", this.entry, "what-if"], { outcomes: this.outcomes.join(",") }));
      if (turn === this.turn) this.draw(walk);
    } catch (error) {
      if (turn === this.turn) show(this.element, failure(error, () => this.ask()));
    }
  }

  draw(walk) {
    const steps = walk.visited.map((state, at) => h("li", {}, at > 0 ? h("span", { class: "because" }, `${this.outcomes[at - 1]} → `) : null, h("span", { class: "state-name" }, state)));
    const options = walk.options.map((option) => button(
      [h("span", {}, option.outcome), h("span", { class: "dim" }, ` → ${option.to}${option.spends ? `, spends ${option.spends}` : ""}`),
        this.outcomes.length === 0 && this.taken[0] === option.outcome ? h("span", { class: "pill open" }, "taken") : null],
      () => {
        this.outcomes.push(option.outcome);
        this.ask();
      }, { class: "option", data: { outcome: option.outcome } }));
    show(this.element,
      h("h3", {}, `Instead of entry ${grouped(this.entry)}`),
      h("p", { class: "dim" }, "Choose an outcome and see where the chart leads, with the budgets of that moment. This uses a copy; the run does not change."),
      h("ol", { class: "walk" }, steps),
      walk.rejected ? h("p", { class: "bad" }, `${walk.rejected.outcome}: ${walk.rejected.why}`) : null,
      walk.ended ? h("p", {}, "The run would end: ", h("span", { class: `pill ${walk.ended}` }, walk.ended)) : null,
      this.outcomes.length > 0 ? h("p", { class: "dim" }, "The tab “chart” marks these states.") : null,
      options.length > 0 && !walk.rejected ? h("div", { class: "options" }, options) : null,
      this.outcomes.length > 0 ? h("div", { class: "actions" },
        button("Back", () => {
          this.outcomes.pop();
          this.ask();
        }), button("Start again", () => {
          this.outcomes = [];
          this.ask();
        })) : null);
    this.walked(this.outcomes.length > 0 ? walk.visited : [], this.entry);
  }
}
