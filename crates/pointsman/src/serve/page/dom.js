// Elements and the words for numbers and times. Text becomes text nodes, never markup.

const SVG = "http://www.w3.org/2000/svg";

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]/gu;

/** Shows characters that draw nothing, or that turn the text around, by a sign. */
export function visible(text) {
  return String(text).replace(HIDDEN, (it) => `⟨U+${it.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

function nodes(children) {
  return children.flat(Infinity).filter((it) => it !== null && it !== undefined && it !== false && it !== "")
    .map((it) => (it instanceof Node ? it : visible(it)));
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...nodes(children));
  return element;
}

/** Makes an element of HTML. */
export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** Makes an element of SVG. */
export function s(tag, props, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

/** Replaces what an element contains. */
export function show(element, ...children) {
  element.replaceChildren(...nodes(children));
  return element;
}

/** Makes an element contain exactly these, in their order. Those that are in place are not touched. */
export function arrange(element, wanted) {
  const kept = new Set(wanted);
  for (const child of [...element.childNodes]) {
    if (!kept.has(child)) child.remove();
  }
  let place = element.firstChild;
  for (const child of wanted) {
    if (child === place) place = place.nextSibling;
    else element.insertBefore(child, place);
  }
  return element;
}

const renewed = new WeakMap();

/** Draws what an element contains, if it does not show the same already. */
export function renew(element, facts, draw) {
  const key = JSON.stringify(facts);
  if (renewed.get(element) === key) return;
  renewed.set(element, key);
  show(element, draw());
}

/** A button that says what it does. */
export function button(text, onclick, props) {
  return h("button", { type: "button", onclick, ...props }, text);
}

/** A button that loads something. If that fails it says why, and can be pressed again. */
export function loads(text, work, props) {
  let busy = false;
  const why = h("span", { class: "why bad", role: "alert" });
  const control = button(text, async () => {
    if (busy) return;
    busy = true;
    control.setAttribute("aria-busy", "true");
    try {
      await work(control);
      why.remove();
    } catch (error) {
      show(why, `${error.message}. Try again.`);
      control.after(why);
    }
    busy = false;
    control.removeAttribute("aria-busy");
  }, props);
  return control;
}

const GROUPED = new Intl.NumberFormat("en");

export function grouped(number) {
  return GROUPED.format(number);
}

export function counted(number, noun) {
  return `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
}

export function entries(number) {
  return number === 1 ? "1 entry" : `${grouped(number)} entries`;
}

const UNITS = [["d", 86_400_000], ["h", 3_600_000], ["min", 60_000], ["s", 1000], ["ms", 1]];

/** The two largest units that fit, as the program writes them: 850 ms, 12 s 400 ms, 3 min, 2 h 5 min. */
export function duration(ms) {
  const [[unit, size], next] = UNITS.slice(UNITS.findIndex((it) => ms >= it[1] || it[1] === 1));
  const rest = next ? Math.floor((ms % size) / next[1]) : 0;
  return `${Math.floor(ms / size)} ${unit}${rest > 0 ? ` ${rest} ${next[0]}` : ""}`;
}

/** A moment of a run, as on a stopwatch. */
export function clock(ms) {
  const total = Math.floor(ms / 1000);
  const two = (number) => String(number).padStart(2, "0");
  const [hours, minutes, seconds] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}

export function age(then) {
  const seconds = Math.max(0, (Date.now() - then) / 1000);
  for (const [size, unit] of [[86_400, "d"], [3600, "h"], [60, "min"]]) {
    if (seconds >= size) return `${Math.floor(seconds / size)} ${unit} ago`;
  }
  return "just now";
}

export function bytes(count) {
  if (count < 1024) return counted(count, "byte");
  if (count < 1 << 20) return `${(count / 1024).toFixed(1)} KiB`;
  return `${(count / (1 << 20)).toFixed(1)} MiB`;
}

/** Millionths of a currency unit. */
export function money(micros) {
  return (micros / 1e6).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 4 });
}

/** Tells everyone, screen readers included. */
export function say(text, tone = "plain") {
  const element = document.getElementById("said");
  show(element, h("p", { class: `toast ${tone}` }, text));
  clearTimeout(say.timer);
  say.timer = setTimeout(() => element.replaceChildren(), 6000);
}
