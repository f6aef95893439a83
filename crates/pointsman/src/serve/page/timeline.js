// A run from above: states and calls on a line that can be zoomed.

import { get, path } from "./api.js";
import { button, clock, entries, grouped, h } from "./dom.js";

/** Hues of states: none of those that mean success, a warning or a fault. */
const HUES = [210, 265, 190, 330, 240, 300];
const HIGH = 46;

export class Timeline {
  /** `go(seq)` shows an entry. */
  constructor(run, go) {
    Object.assign(this, { run, go, from: 1, to: 1, head: 1, spans: [], selected: 1, hues: new Map() });
    this.canvas = h("canvas", { class: "lanes", height: HIGH, role: "img", "aria-label": "States and calls over the run" });
    this.keys = Object.fromEntries(["models", "tools", "people", "faults"].map((name) => [name, h("i", { class: `lane-key ${name}` })]));
    this.note = h("p", { class: "lane-note dim", "aria-hidden": "true" });
    this.element = h("div", { class: "timeline" }, this.canvas,
      h("div", { class: "zoom" }, button("+", () => this.zoom(0.5, this.selected), { class: "quiet", "aria-label": "Zoom in" }),
        button("−", () => this.zoom(2, this.selected), { class: "quiet", "aria-label": "Zoom out" }),
        button("all", () => this.view(1, this.head), { class: "quiet", "aria-label": "Show all entries" })),
      h("p", { class: "lane-legend" }, Object.entries({ models: "model", tools: "tool, task", people: "person", faults: "fault" }).map(([name, word]) => h("span", {}, this.keys[name], word))), this.note);
    this.canvas.addEventListener("click", (event) => this.go(this.entry(event)));
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(event.deltaX || event.deltaY);
      else this.zoom(event.deltaY > 0 ? 1.4 : 0.7, this.entry(event));
    }, { passive: false });
    this.canvas.addEventListener("pointermove", (event) => this.tell(this.entry(event)));
    this.canvas.addEventListener("pointerleave", () => { this.note.textContent = ""; });
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    addEventListener("theme", () => this.draw());
  }

  grow(head) {
    const whole = this.from === 1 && this.to === this.head;
    this.head = head;
    if (whole || this.spans.length === 0) this.view(1, head);
  }

  select(seq) {
    this.selected = seq;
    if (seq < this.from || seq > this.to) {
      const half = Math.floor((this.to - this.from) / 2);
      this.view(seq - half, seq + half);
    } else {
      this.draw();
    }
  }

  zoom(by, around) {
    const span = Math.max(8, Math.min(this.head, Math.round((this.to - this.from + 1) * by)));
    const share = (around - this.from) / Math.max(1, this.to - this.from);
    this.view(Math.round(around - share * span), Math.round(around - share * span) + span - 1);
  }

  pan(by) {
    const move = Math.round(((this.to - this.from + 1) * by) / 800) || Math.sign(by);
    this.view(this.from + move, this.to + move);
  }

  view(from, to) {
    const span = Math.min(this.head, Math.max(1, to - from + 1));
    this.from = Math.max(1, Math.min(from, this.head - span + 1));
    this.to = Math.min(this.head, this.from + span - 1);
    this.draw();
    clearTimeout(this.due);
    this.due = setTimeout(() => this.load(), 60);
  }

  async load() {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    await this.ready;
    try {
      const read = await get(path(["runs", this.run, "lanes"], { from: this.from, to: this.to }));
      if (turn !== this.turn) return;
      this.spans = read.spans;
      this.draw();
    } catch {
      // The story reports faults of the run.
    }
  }

  entry(event) {
    const box = this.canvas.getBoundingClientRect();
    const share = (event.clientX - box.left) / Math.max(1, box.width);
    return Math.max(1, Math.min(this.head, this.from + Math.floor(share * (this.to - this.from + 1))));
  }

  tell(seq) {
    const span = this.spans.find((it) => seq >= it.from && seq <= it.to);
    if (!span) return;
    const range = span.from === span.to ? `Entry ${grouped(span.from)}` : `Entries ${grouped(span.from)} to ${grouped(span.to)}`;
    const counts = [["model", span.models], ["tool or task", span.tools], ["fault", span.faults], ["person", span.people]].filter(([, count]) => count > 0).map(([name, count]) => `${name} ${count}`);
    this.note.textContent = [`${range} at ${clock(span.at)}`, span.state, ...counts].filter(Boolean).join(" · ");
  }

  hue(state) {
    if (!this.hues.has(state)) this.hues.set(state, HUES[this.hues.size % HUES.length]);
    return this.hues.get(state);
  }

  draw() {
    const { canvas } = this;
    const scale = devicePixelRatio || 1;
    const wide = canvas.clientWidth;
    if (wide === 0) return;
    canvas.width = Math.round(wide * scale);
    canvas.height = Math.round(HIGH * scale);
    const paint = canvas.getContext("2d");
    paint.scale(scale, scale);
    const style = getComputedStyle(canvas);
    const dark = getComputedStyle(document.documentElement).colorScheme.startsWith("dark") || (getComputedStyle(document.documentElement).colorScheme === "light dark" && matchMedia("(prefers-color-scheme: dark)").matches);
    const all = this.to - this.from + 1;
    const x = (seq) => ((seq - this.from) / all) * wide;
    paint.font = "11px system-ui, sans-serif";
    paint.textBaseline = "middle";
    // Colours of the theme are resolved by elements alone.
    const colour = (name) => getComputedStyle(this.keys[name]).backgroundColor;
    const lanes = [["models", colour("models"), 24], ["tools", colour("tools"), 30], ["people", colour("people"), 36], ["faults", colour("faults"), 42]];
    let run = null;
    const fitted = (name, room) => {
      let end = name.length;
      while (end > 1 && paint.measureText(end < name.length ? `${name.slice(0, end)}…` : name).width > room) end -= 1;
      return end < name.length ? `${name.slice(0, end)}…` : name;
    };
    const label = () => {
      if (!run) return;
      const width = x(run.to + 1) - x(run.from);
      if (width < 36) return;
      paint.save();
      paint.beginPath();
      paint.rect(x(run.from), 0, width - 4, 20);
      paint.clip();
      paint.fillStyle = style.color;
      paint.fillText(fitted(run.state, width - 12), x(run.from) + 6, 11);
      paint.restore();
    };
    for (const span of this.spans) {
      const [left, width] = [x(span.from), Math.max(1, x(span.to + 1) - x(span.from))];
      if (span.state) {
        paint.fillStyle = `hsl(${this.hue(span.state)} ${dark ? "45% 28%" : "65% 86%"})`;
        paint.fillRect(left, 2, width - (width > 4 ? 1 : 0), 18);
        if (run?.state === span.state) run.to = span.to;
        else {
          label();
          run = { state: span.state, from: span.from, to: span.to };
        }
      }
      for (const [name, colour, top] of lanes) {
        if (span[name] === 0) continue;
        paint.fillStyle = colour;
        paint.fillRect(left, top, Math.max(2, Math.min(width - 1, 14)), 4);
      }
    }
    label();
    paint.fillStyle = style.color;
    const mark = x(this.selected) + (x(this.selected + 1) - x(this.selected)) / 2;
    if (this.selected >= this.from && this.selected <= this.to) paint.fillRect(mark - 1, 0, 2, HIGH);
    canvas.setAttribute("aria-label", `States and calls of ${entries(all)}, entry ${grouped(this.selected)} selected`);
  }
}
