// Find: a text in all items of a run, with the number of hits.

import { getReady, path } from "./api.js";
import { button, grouped, h } from "./dom.js";

export class Find {
  /** `go(seq, index)` shows a hit; `changed()` is called when the hits are others. */
  constructor(run, { go, changed }) {
    Object.assign(this, { run, go, changed, hits: [], names: new Set(), at: -1, done: true, text: "" });
    this.field = h("input", { type: "search", placeholder: "Find in this run", "aria-label": "Find in this run", spellcheck: "false" });
    this.place = h("output", { class: "place" });
    this.element = h("form", { class: "find", role: "search", onsubmit: (event) => {
      event.preventDefault();
      if (this.field.value === this.text && !this.failed) this.step(1);
      else this.start(this.field.value);
    } }, this.field, this.place,
    button("↑", () => this.step(-1), { class: "quiet", "aria-label": "Previous match", title: "Previous match (N)" }),
    button("↓", () => this.step(1), { class: "quiet", "aria-label": "Next match", title: "Next match (n)" }));
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      this.field.value = "";
      this.start("");
      this.field.blur();
    });
    this.field.addEventListener("search", () => {
      if (this.field.value === "") this.start("");
    });
  }

  async start(text, from = 1) {
    this.stop?.abort();
    const stop = new AbortController();
    Object.assign(this, { stop, text, failed: false, hits: [], names: new Set(), at: -1, done: text === "" });
    this.tell();
    this.changed();
    let next = from;
    try {
      while (!this.done) {
        const page = await getReady(path(["runs", this.run, "find"], { text, from: next }), null, stop.signal);
        const first = this.hits.length === 0;
        this.hits.push(...page.hits);
        for (const [seq, index] of page.hits) this.names.add(`${seq}.${index}`);
        next = page.next;
        this.done = next > page.head;
        this.tell();
        if (page.hits.length > 0) this.changed();
        if (first && this.hits.length > 0) this.step(1);
      }
    } catch (error) {
      if (error.name === "AbortError") return;
      // Enter tries again.
      this.failed = true;
      this.place.textContent = error.message;
    }
  }

  step(by) {
    const count = this.hits.length;
    if (count === 0) return;
    this.at = (this.at + by + count) % count;
    this.tell();
    this.go(...this.hits[this.at]);
  }

  tell() {
    const count = this.hits.length;
    if (this.text === "") this.place.textContent = "";
    else if (count === 0) this.place.textContent = this.done ? "not found" : "searching…";
    else this.place.textContent = `${grouped(this.at + 1)} of ${grouped(count)}${this.done ? "" : "+"}`;
  }
}
