// Markdown of models as elements. Only the forms below exist; everything else stays text.

import { h } from "./dom.js";

/** Elements that one text may become; the rest of it is plain. */
const MOST = 240;

const INLINE = /(`+)([^`]+?)\1|\*\*([^*\n]+)\*\*|__([^_\n]+)__|\*([^*\s][^*\n]*)\*|\[([^\]\n]+)\]\(([^)\s]+)\)/;

function inline(text, room) {
  const parts = [];
  let rest = text;
  while (rest && room.left > 0) {
    const found = INLINE.exec(rest);
    if (!found) break;
    parts.push(rest.slice(0, found.index));
    room.left -= 1;
    const [all, , code, strong, bold, light, label, target] = found;
    if (code !== undefined) parts.push(h("code", {}, code));
    else if (strong ?? bold) parts.push(h("strong", {}, strong ?? bold));
    else if (light) parts.push(h("em", {}, light));
    else parts.push(link(label, target));
    rest = rest.slice(found.index + all.length);
  }
  parts.push(rest);
  return parts.filter((part) => part !== "");
}

/** A link shows where it leads, and only leads to the web. */
function link(label, target) {
  let address;
  try {
    address = new URL(target);
  } catch {
    return `${label} (${target})`;
  }
  if (address.protocol !== "https:" && address.protocol !== "http:") return `${label} (${target})`;
  const props = { href: address.href, rel: "noopener noreferrer nofollow", target: "_blank", title: address.href };
  return [h("a", props, label), label === target ? "" : ` (${address.host})`];
}

function list(lines, at, room, ordered) {
  const mark = ordered ? /^\s*\d+[.)]\s+(.*)$/ : /^\s*[-*+]\s+(.*)$/;
  const items = [];
  let index = at;
  for (; index < lines.length; index += 1) {
    const found = mark.exec(lines[index]);
    if (found) items.push([found[1]]);
    else if (/^\s{2,}\S/.test(lines[index]) && items.length > 0) items.at(-1).push(lines[index].trim());
    else break;
  }
  room.left -= items.length + 1;
  const drawn = items.map((words) => h("li", {}, inline(words.join(" "), room)));
  return [h(ordered ? "ol" : "ul", {}, drawn), index];
}

function table(lines, at, room) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
  let index = at + 2;
  const rows = [];
  while (index < lines.length && lines[index].includes("|") && room.left > 0) {
    rows.push(cells(lines[index]));
    room.left -= rows.at(-1).length + 1;
    index += 1;
  }
  const row = (tag) => (found) => h("tr", {}, found.map((cell) => h(tag, {}, inline(cell, room))));
  const drawn = h("table", {}, h("thead", {}, row("th")(cells(lines[at]))), h("tbody", {}, rows.map(row("td"))));
  return [h("div", { class: "wide" }, drawn), index];
}

/** Returns a text as elements. */
export function markdown(text) {
  const lines = text.split("\n");
  const room = { left: MOST };
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    if (room.left <= 0) {
      blocks.push(h("p", { class: "rest" }, lines.slice(at).join("\n")));
      break;
    }
    room.left -= 1;
    const fence = /^\s*(```+|~~~+)/.exec(line);
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (line.trim() === "") {
      at += 1;
    } else if (fence) {
      let end = at + 1;
      while (end < lines.length && !lines[end].trim().startsWith(fence[1])) end += 1;
      blocks.push(h("pre", { tabindex: "0" }, h("code", {}, lines.slice(at + 1, end).join("\n"))));
      at = end + 1;
    } else if (heading) {
      blocks.push(h("p", { class: `heading h${heading[1].length}` }, inline(heading[2], room)));
      at += 1;
    } else if (/^ {2,}(?![-*+]\s|\d+[.)]\s)\S/.test(line)) {
      // Columns that are aligned by spaces.
      let end = at;
      while (end < lines.length && /^ {2,}\S/.test(lines[end])) end += 1;
      const columns = lines.slice(at, end);
      const indent = Math.min(...columns.map((it) => it.search(/\S/)));
      blocks.push(h("pre", { tabindex: "0" }, columns.map((it) => it.slice(indent)).join("\n")));
      at = end;
    } else if (/^\s*[-*+]\s+/.test(line)) {
      const [element, next] = list(lines, at, room, false);
      blocks.push(element);
      at = next;
    } else if (/^\s*\d+[.)]\s+/.test(line)) {
      const [element, next] = list(lines, at, room, true);
      blocks.push(element);
      at = next;
    } else if (line.includes("|") && /^[\s|:-]+$/.test(lines[at + 1] ?? "") && (lines[at + 1] ?? "").includes("-")) {
      const [element, next] = table(lines, at, room);
      blocks.push(element);
      at = next;
    } else if (line.startsWith(">")) {
      let end = at;
      while (end < lines.length && lines[end].startsWith(">")) end += 1;
      const words = lines.slice(at, end).map((it) => it.replace(/^>\s?/, "")).join("\n");
      blocks.push(h("blockquote", {}, inline(words, room)));
      at = end;
    } else {
      let end = at + 1;
      while (end < lines.length && lines[end].trim() !== "" && !/^(\s*([-*+]|\d+[.)])\s| {2,}\S|#{1,6}\s|\s*```|\s*~~~|>)/.test(lines[end])) end += 1;
      blocks.push(h("p", {}, inline(lines.slice(at, end).join("\n"), room)));
      at = end;
    }
  }
  return h("div", { class: "markdown" }, blocks);
}
