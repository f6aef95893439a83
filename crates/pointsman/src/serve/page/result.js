// What a run has come to: its result, what its agent tabulates, the map of an app, changed files.

import { getBlob, getReady, path } from "./api.js";
import { button, entries, grouped, h, show } from "./dom.js";
import { files } from "./files.js";
import { text } from "./story.js";

const ROWS = 50;

function rows(run, part) {
  const pictured = part.rows.some((row) => row.files.length > 0);
  const head = [...part.columns, ...(pictured ? ["files"] : [])].map((name) => h("th", { scope: "col" }, name));
  const body = part.rows.map((row) => h("tr", { class: row.mark },
    row.cells.map((cell, at) => (at === 0 ? h("th", { scope: "row" }, cell) : h("td", {}, cell))),
    pictured ? h("td", {}, files(run, row.files)) : null));
  return h("div", { class: "wide", tabindex: "0", role: "group", "aria-label": part.title },
    h("table", { class: "plain rows" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, body)));
}

/** A table, a page of its rows at a time. */
function table(run, entry, part) {
  const element = h("section", { class: "tabulated", data: { table: part.title } });
  const draw = (shown) => {
    const go = (name, from) => button(name, async () => {
      const read = await getReady(path(["runs", run, "entries", entry, "tables"], { table: shown.table, from, limit: ROWS }));
      draw(read.tables[0]);
    }, { class: "quiet", disabled: from < 0 || from >= shown.count });
    const last = shown.from + shown.rows.length;
    show(element, h("h3", {}, `${shown.title} (${grouped(shown.count)})`), rows(run, shown),
      shown.count > ROWS ? h("p", { class: "pager" }, go("←", shown.from - ROWS), `${grouped(shown.from + 1)} to ${grouped(last)} of ${grouped(shown.count)}`, go("→", shown.from + ROWS)) : null);
  };
  draw(part);
  return element;
}

async function map(element, run) {
  const theme = document.documentElement.className || "auto";
  // As a picture, so that nothing in it can act.
  const address = URL.createObjectURL(await getBlob(path(["runs", run, "map"], { theme })));
  const picture = h("img", { src: address, alt: "Map of the app: its screens, and the actions that lead from one to another" });
  show(element, h("h3", {}, "Map of the app"), h("div", { class: "wide map", tabindex: "0", role: "group", "aria-label": "Map of the app" },
    h("a", { href: address, target: "_blank", rel: "noopener", title: "Open the map" }, picture)));
}

/** The changes of files, under the stages in which they were made. */
async function edits(element, run) {
  const list = h("div", { class: "edits" });
  const more = h("p", {});
  let [stage, count] = [null, 0];
  const load = async (from) => {
    const page = await getReady(path(["runs", run, "edits"], { from }));
    for (const edit of page.edits) {
      if (edit.stage && edit.stage !== stage) {
        stage = edit.stage;
        list.append(h("h4", {}, stage));
      }
      count += 1;
      list.append(h("details", { class: "edit", data: { edit: `${edit.seq}.${edit.index}` } },
        h("summary", {}, edit.text, " ", h("a", { href: `/runs/${run}/entries/${edit.seq}`, data: { entry: edit.seq } }, `entry ${grouped(edit.seq)}`)),
        text(edit.diff, { run, entry: edit.seq, of: `change.${edit.index}` })));
    }
    if (count > 0 && !element.firstChild) show(element, h("h3", {}, "Changed files"), list, more);
    const rest = page.next <= page.head;
    show(more, rest ? button(`Search ${entries(page.head - page.next + 1)} more`, () => load(page.next), { class: "more" }) : null);
  };
  await load(1);
}

/** Draws the pane. `moment` is the selected one; the map and the changes are of the whole run. */
export function result(element, run, moment) {
  const [tables, drawn, changed] = [h("div", {}), h("div", { class: "map-place" }), h("div", {})];
  const nothing = h("p", { class: "dim" }, "This run has no result yet.");
  show(element, moment.result ? [h("h3", {}, moment.view.ended ? "Result" : "Result so far"), text({ ...moment.result, title: "" }, { run, entry: moment.seq, of: "result" })] : nothing,
    drawn, tables, changed);
  const failed = (place) => (error) => show(place, h("p", { class: "bad" }, error.message));
  getReady(path(["runs", run, "entries", moment.seq, "tables"], { limit: ROWS })).then((read) => {
    show(tables, read.tables.map((part) => table(run, moment.seq, part)));
    element.dataset.tables = String(read.tables.length);
    return read.map ? map(drawn, run) : null;
  }).catch(failed(tables));
  edits(changed, run).catch(failed(changed));
}
