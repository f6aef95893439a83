// The changes of a run's files, under the stages in which they were made, in a window of their own.

import { getReady, path } from "./api.js";
import { entries, grouped, h, loads, show } from "./dom.js";
import { text } from "./story.js";
import { Windowed } from "./window.js";

export class Edits {
  constructor(run) {
    Object.assign(this, { run, all: [], next: 1, head: 0, read_all: true, loading: null });
    this.list = h("div", { class: "edits", tabindex: "0", role: "group", "aria-label": "Changed files" });
    this.more = h("p", {});
    this.element = h("div", { hidden: true }, h("h3", {}, "Changed files"), this.list, this.more);
    this.rows = new Windowed(this.list, { draw: (at) => this.row(at), estimate: 48 });
  }

  /** Reads on, where the run has grown and all before was read. */
  async grow(head) {
    this.head = Math.max(this.head, head);
    await this.loading;
    if (this.read_all && this.next <= this.head) await this.load();
    else this.tell();
  }

  /** Reads the next part, once at a time: every change is listed once. */
  load() {
    this.loading ??= this.read().finally(() => { this.loading = null; });
    return this.loading;
  }

  async read() {
    const page = await getReady(path(["runs", this.run, "edits"], { from: this.next }));
    Object.assign(this, { next: page.next, read_all: page.next > page.head, head: Math.max(this.head, page.head) });
    this.all.push(...page.edits);
    this.element.hidden = this.all.length === 0 && this.next > this.head;
    this.rows.resize(this.all.length);
    this.tell();
  }

  tell() {
    const rest = this.head - this.next + 1;
    show(this.more, rest > 0 ? loads(`Search ${entries(rest)} more`, () => this.load(), { class: "more" }) : null);
  }

  row(at) {
    const edit = this.all[at];
    const stage = edit.stage && edit.stage !== this.all[at - 1]?.stage ? h("h4", {}, edit.stage) : null;
    const diff = h("div", {});
    // Only an open change is drawn.
    const box = h("details", { class: "edit", data: { edit: `${edit.seq}.${edit.index}` }, ontoggle: () => {
      show(diff, box.open ? text(edit.diff, { run: this.run, entry: edit.seq, of: `change.${edit.index}` }) : null);
    } }, h("summary", {}, edit.text, " ", h("a", { href: `/runs/${this.run}/entries/${edit.seq}`, data: { entry: edit.seq } }, `entry ${grouped(edit.seq)}`)), diff);
    return h("div", { class: "block" }, stage, box);
  }
}
