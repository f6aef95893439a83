// Items of a run as a person reads them.

import { getReady, path } from "./api.js";
import { bytes, clock, grouped, h, loads, money, visible } from "./dom.js";
import { files } from "./files.js";
import { markdown } from "./markdown.js";

/** Lines of a diff that are elements of their own; the rest is one text. */
const SIGNED = 60;

function diff(text) {
  const lines = text.replace(/^\n+/, "").split("\n");
  const drawn = lines.slice(0, SIGNED).map((line) => {
    const sign = { "+": "added", "-": "removed" }[/^\s{0,4}([+-])/.exec(line)?.[1]];
    return sign ? h("span", { class: sign }, `${line}\n`) : `${line}\n`;
  });
  return h("pre", { class: "code", tabindex: "0" }, drawn, lines.slice(SIGNED).join("\n"));
}

/** A model that answers in JSON is shown as data. */
function pretty(text) {
  if (!/^\s*[{[]/.test(text)) return null;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}

function body(part) {
  if (part.format === "markdown") {
    const json = pretty(part.text);
    return json ? h("pre", { class: "code json", tabindex: "0" }, json) : markdown(part.text);
  }
  if (part.format === "diff") return diff(part.text);
  return h("pre", { class: part.format === "json" ? "code json" : "code", tabindex: "0" }, part.text);
}

/** A text that may be longer than its preview. `where` names it, for reading on. */
export function text(part, where) {
  const element = h("div", { class: `text ${part.format}` });
  if (part.title) element.append(h("p", { class: "label" }, part.title));
  const content = body(part);
  element.append(content);
  if (part.next === null || part.next === undefined) return element;
  let next = part.next;
  let whole = null;
  const more = loads(`Show more of ${bytes(part.bytes)}`, async () => {
    const read = await getReady(path(["runs", where.run, "entries", where.entry, "text"], { of: where.of, from: next }));
    if (!whole) {
      whole = h("pre", { class: "code long", tabindex: "0" }, part.text);
      content.replaceWith(whole);
    }
    whole.append(visible(read.text));
    next = read.next;
    if (next === null) more.remove();
    else more.textContent = `Show more: ${bytes(read.bytes - next)} left`;
  }, { class: "more" });
  element.append(more);
  return element;
}

/** What an item costs, in a few words. */
function cost(item) {
  const parts = [];
  if (item.tokens > 0) parts.push(`${grouped(item.tokens)} tokens`);
  if (item.money > 0) parts.push(`cost ${money(item.money)}`);
  return parts.length > 0 ? h("span", { class: "cost" }, parts.join(" · ")) : null;
}

/** The line of an item: its own words, or who speaks where the words follow. */
function line(item) {
  const speaks = item.kind === "answered" && item.by === "model" && item.parts[0]?.format === "markdown";
  if (speaks) return h("span", { class: "who" }, "Model");
  if (item.kind === "given" && item.parts.length > 0) return h("span", { class: "who" }, "Message");
  return h("span", { class: "what" }, item.text);
}

/** Draws an item. Its texts are previews. */
export function itemElement(run, item) {
  const id = `${item.seq}.${item.index}`;
  const classes = ["item", item.tone, `is-${item.kind}`];
  if (item.by) classes.push(`by-${item.by}`);
  // The line of a failure may say all of it. The others keep their numbers, which requests name.
  const said = (part) => part.next === null && item.text === `✗ ${part.text.trim()}`;
  const parts = item.parts.map((part, at) => !said(part) && text(part, { run, entry: item.seq, of: `item.${item.index}.${at}` }));
  const evidence = item.evidence.length > 0 ? h("p", { class: "evidence" }, "seen in entries ",
    item.evidence.map((seq, at) => [at > 0 ? ", " : "", h("a", { href: `/runs/${run}/entries/${seq}`, data: { entry: seq } }, String(seq))])) : null;
  return h("div", { class: classes.join(" "), data: { id, kind: item.kind } },
    h("p", { class: "line" }, line(item), cost(item)), parts, files(run, item.files), evidence);
}

/** Draws an entry: its number, its time, those of its items that are shown. */
export function entryElement(run, seq, shown) {
  const tone = shown.find((item) => ["bad", "warning"].includes(item.tone))?.tone ?? shown[0]?.tone ?? "plain";
  return h("section", { class: `entry ${tone}`, data: { seq }, "aria-label": `Entry ${seq}` },
    h("div", { class: "rail" },
      h("a", { class: "seq", href: `/runs/${run}/entries/${seq}`, data: { entry: seq }, title: `Entry ${grouped(seq)}: link` }, grouped(seq)),
      h("time", {}, clock(shown[0].at))),
    h("div", { class: "items" }, shown.map((item) => itemElement(run, item))));
}

/** Items by entry. */
export function byEntry(items) {
  const found = new Map();
  for (const item of items) {
    if (!found.has(item.seq)) found.set(item.seq, []);
    found.get(item.seq).push(item);
  }
  return found;
}
