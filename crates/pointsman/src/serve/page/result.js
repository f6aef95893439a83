// What a run has come to: its result, what its agent tabulates, the map of an app, changed files.

import { getBlob, getReady, path } from "./api.js";
import { arrange, button, grouped, h, loads, renew, show } from "./dom.js";
import { Edits } from "./edits.js";
import { files } from "./files.js";
import { text } from "./story.js";

const ROWS = 50;
/** Cells of at most so many characters stay on one line. */
const SHORT = 14;

/** A table of the agent, a page of its rows at a time. */
class Table {
  constructor(run) {
    Object.assign(this, { run, drawn: new Map() });
    this.title = h("h3", {});
    this.head = h("tr", {});
    this.body = h("tbody", {});
    this.pager = h("p", { class: "pager" });
    this.wide = h("div", { class: "wide", tabindex: "0", role: "group" }, h("table", { class: "plain rows" }, h("thead", {}, this.head), this.body));
    this.element = h("section", { class: "tabulated" }, this.title, this.wide, this.pager);
  }

  /** Shows a part of the table. Rows that are the same stay, with their pictures. */
  show(entry, part) {
    const pictured = part.rows.some((row) => row.files.length > 0);
    Object.assign(this, { entry, from: part.from });
    this.element.dataset.table = part.title;
    this.wide.setAttribute("aria-label", part.title);
    renew(this.title, [part.title, part.count], () => `${part.title} (${grouped(part.count)})`);
    renew(this.head, [part.columns, pictured], () => [...part.columns, ...(pictured ? ["files"] : [])].map((name) => h("th", { scope: "col" }, name)));
    const drawn = new Map(part.rows.map((row, at) => {
      const key = JSON.stringify([part.from + at, row, pictured]);
      return [key, this.drawn.get(key) ?? this.row(row, pictured)];
    }));
    this.drawn = drawn;
    arrange(this.body, [...drawn.values()]);
    const last = part.from + part.rows.length;
    const go = (name, label, from) => loads(name, async () => {
      const read = await this.read(entry, part.table, from);
      // Meanwhile it may show another moment.
      if (this.entry === entry) this.show(entry, read);
    }, { class: "quiet", "aria-label": label, disabled: from < 0 || from >= part.count });
    renew(this.pager, [entry, part.from, part.count], () => (part.count > ROWS
      ? [go("←", "Rows before", part.from - ROWS), `${grouped(part.from + 1)} to ${grouped(last)} of ${grouped(part.count)}`, go("→", "Next rows", part.from + ROWS)] : null));
  }

  /** Reads some rows of the table, as it was at an entry. */
  async read(entry, table, from) {
    const read = await getReady(path(["runs", this.run, "entries", entry, "tables"], { table, from, limit: ROWS }));
    return read.tables[0];
  }

  row(row, pictured) {
    return h("tr", { class: row.mark },
      row.cells.map((cell, at) => h(at === 0 ? "th" : "td", { scope: at === 0 ? "row" : null, class: cell.length <= SHORT ? "short" : null }, cell)),
      pictured ? h("td", {}, files(this.run, row.files)) : null);
  }
}

/** The pane. The tables are of the selected moment; the map and the changes are of the whole run. */
export class ResultPane {
  constructor(element, run) {
    Object.assign(this, { element, run });
    addEventListener("theme", () => {
      if (this.map) this.draw_map();
    });
  }

  at(moment) {
    this.moment = moment;
    if (!this.edits) this.enter();
    renew(this.text, [moment.result, moment.view.ended], () => (moment.result
      ? [h("h3", {}, moment.view.ended ? "Result" : "Result so far"), text({ ...moment.result, title: "" }, { run: this.run, entry: moment.seq, of: "result" })]
      : h("p", { class: "dim" }, moment.view.ended ? "This run has no result." : "This run has no result yet.")));
    this.load(this.tables_place, () => this.tabulate(moment));
    this.load(this.edits_place, () => this.edits.grow(moment.head));
  }

  /** Does something, and says beside it what went wrong. */
  async load(place, work) {
    try {
      await work();
      place.firstChild.replaceChildren();
    } catch (error) {
      if (!place.isConnected) return;
      show(place.firstChild, h("p", { class: "bad" }, error.message, " ", button("Try again", () => this.load(place, work), { class: "more" })));
    }
  }

  enter() {
    const place = (...content) => h("div", {}, h("div", {}), content);
    this.edits = new Edits(this.run);
    this.tables = new Map();
    this.text = h("div", { class: "told" });
    this.map_box = h("div", { class: "map-place" });
    this.tables_box = h("div", { class: "tables" });
    [this.map_place, this.tables_place, this.edits_place] = [place(this.map_box), place(this.tables_box), place(this.edits.element)];
    show(this.element, this.text, this.map_place, this.tables_place, this.edits_place);
  }

  /** The pane is hidden: nothing of it is kept. */
  leave() {
    this.edits = null;
    this.map = null;
    this.release();
    this.element.replaceChildren();
  }

  async tabulate(moment) {
    const read = await getReady(path(["runs", this.run, "entries", moment.seq, "tables"], { limit: ROWS }));
    // Who has turned to other rows stays there, and sees them as they were at this moment.
    const parts = await Promise.all(read.tables.map((part) => {
      const from = this.tables?.get(part.title)?.from;
      return from && from < part.count ? this.tables.get(part.title).read(moment.seq, part.table, from) : part;
    }));
    if (!this.edits || moment !== this.moment) return;
    arrange(this.tables_box, parts.map((part) => {
      const table = this.tables.get(part.title) ?? new Table(this.run);
      this.tables.set(part.title, table);
      table.show(moment.seq, part);
      return table.element;
    }));
    this.element.dataset.tables = String(read.tables.length);
    if (read.map && this.map !== moment.head) {
      this.map = moment.head;
      this.draw_map();
    }
  }

  draw_map() {
    return this.load(this.map_place, async () => {
      const theme = document.documentElement.className || "auto";
      // As a picture, so that nothing in it can act.
      const content = await getBlob(path(["runs", this.run, "map"], { theme }));
      if (!this.map) return;
      this.release();
      this.address = URL.createObjectURL(content);
      const picture = h("img", { src: this.address, alt: "Map of the app: its screens, and the actions that lead from one to another" });
      show(this.map_box, h("h3", {}, "Map of the app"), h("div", { class: "wide map", tabindex: "0", role: "group", "aria-label": "Map of the app" },
        h("a", { href: this.address, target: "_blank", rel: "noopener", title: "Open the map" }, picture)));
    });
  }

  release() {
    if (this.address) URL.revokeObjectURL(this.address);
    this.address = null;
  }
}
