// Describes a page as a list of elements in document order, or finds one of them again.
// It changes nothing but how far the page is scrolled, and fields whose picker is drawn by
// the system, where no pointer of ours comes.
"use strict";

const LONGEST = 200;
const MOST = 5000;
const ROLES = new Set(["button", "link", "menuitem", "menuitemcheckbox", "menuitemradio", "tab",
  "checkbox", "radio", "switch", "option", "treeitem", "combobox"]);
const TYPED = new Set(["", "text", "search", "email", "url", "tel", "password", "number", "date",
  "datetime-local", "month", "time", "week"]);
// Fields whose value a picker sets: what it looks like, and one that any of them takes.
const PICKED = {
  date: [/^\d{4}-\d\d-\d\d$/, "2001-02-03"],
  month: [/^\d{4}-\d\d$/, "2001-02"],
  week: [/^\d{4}-W\d\d$/, "2001-W05"],
  time: [/^\d\d:\d\d$/, "12:34"],
  "datetime-local": [/^\d{4}-\d\d-\d\dT\d\d:\d\d$/, "2001-02-03T12:34"],
};
const UNSEEN = new Set(["SCRIPT", "STYLE", "TEMPLATE", "NOSCRIPT", "HEAD", "OPTION", "OPTGROUP"]);

const cut = (text) => (text || "").replace(/\s+/g, " ").trim().slice(0, LONGEST);
const typeOf = (element) => (element.getAttribute("type") || "").toLowerCase();
const roleOf = (element) => (element.getAttribute("role") || "").toLowerCase().split(/\s+/)[0];

const isEditable = (element) => {
  if (element.tagName === "INPUT") return TYPED.has(typeOf(element)) && !element.readOnly;
  if (element.tagName === "TEXTAREA") return !element.readOnly;
  if (element.isContentEditable) {
    return !(element.parentElement && element.parentElement.isContentEditable);
  }
  return roleOf(element) === "textbox";
};

const hasPointer = (element) => {
  const pointed = (it) => it && getComputedStyle(it).cursor === "pointer";
  return pointed(element) && !pointed(element.parentElement);
};

const isClickable = (element) => {
  switch (element.tagName) {
    case "A": case "AREA": {
      const href = element.getAttribute("href");
      return href === null ? Boolean(element.onclick) : !/^(mailto|tel|sms|blob|data):/i.test(href);
    }
    case "BUTTON": case "SELECT": case "SUMMARY": case "TEXTAREA": return true;
    // What chooses a file opens a window of the system's, which no script sees.
    case "INPUT": return !["hidden", "file"].includes(typeOf(element));
    case "LABEL": return false;
    case "HTML": case "BODY": return false;
  }
  return ROLES.has(roleOf(element)) || typeof element.onclick === "function"
    || isEditable(element) || hasPointer(element);
};

const isScrollable = (element) => {
  if (element === document.scrollingElement) {
    return element.scrollHeight > innerHeight + 1 || element.scrollWidth > innerWidth + 1;
  }
  const style = getComputedStyle(element);
  const scrolls = (way) => way === "auto" || way === "scroll";
  return (scrolls(style.overflowY) && element.scrollHeight > element.clientHeight + 1)
    || (scrolls(style.overflowX) && element.scrollWidth > element.clientWidth + 1);
};

const isShown = (element) => {
  const box = element.getBoundingClientRect();
  if (box.width < 1 || box.height < 1) return false;
  return element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
};

// A point inside the window at which a pointer would meet the element, or another over it.
const isCovered = (element, box) => {
  const x = box.left + box.width / 2, y = box.top + box.height / 2;
  if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return false;
  let met = document.elementFromPoint(x, y);
  while (met && met.shadowRoot && met.shadowRoot.elementFromPoint(x, y) !== met) {
    const inner = met.shadowRoot.elementFromPoint(x, y);
    if (!inner || inner === met) break;
    met = inner;
  }
  for (let it = met; it; it = it.parentElement || (it.getRootNode() || {}).host) {
    if (it === element) return false;
  }
  // What lies around it was met: a part of a line, or a label.
  for (let it = element; it; it = it.parentElement || (it.getRootNode() || {}).host) {
    if (it === met) return false;
  }
  return !(met && met.closest && met.closest("label") && met.closest("label").control === element);
};

// Rows of data are alike; entries of a menu are not, although both may be written as a list.
const isList = (element) => {
  const listed = ["UL", "OL", "TBODY"].includes(element.tagName)
    || ["list", "listbox"].includes(roleOf(element));
  const menus = "nav, header, footer, menu, [role=navigation], [role=menu], [role=menubar], [role=tablist]";
  return listed && !element.closest(menus);
};

const ownText = (element) => {
  let text = "";
  for (const child of element.childNodes) if (child.nodeType === 3) text += child.data;
  return cut(text);
};

const labelOf = (element) => {
  const aria = element.getAttribute("aria-label");
  if (aria) return cut(aria);
  const by = element.getAttribute("aria-labelledby");
  if (by) {
    const named = by.split(/\s+/).map((id) => document.getElementById(id));
    return cut(named.map((it) => (it ? it.innerText : "")).join(" "));
  }
  if (element.labels && element.labels.length) return cut(element.labels[0].innerText);
  return cut(element.getAttribute("title") || element.getAttribute("alt"));
};

const boundsOf = (element) => {
  if (element === document.scrollingElement) return [0, 0, innerWidth, innerHeight];
  const box = element.getBoundingClientRect();
  return [box.left, box.top, box.right, box.bottom].map(Math.round);
};

const describe = (element) => {
  const clickable = isClickable(element), editable = isEditable(element);
  const role = roleOf(element), type = typeOf(element);
  const field = "value" in element && ["INPUT", "TEXTAREA", "SELECT"].includes(element.tagName);
  const tick = (field && ["checkbox", "radio"].includes(type))
    || ["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"].includes(role);
  let text = clickable && !field ? cut(element.innerText) : ownText(element);
  if (field && !tick) {
    const chosen = element.tagName === "SELECT" && element.selectedOptions[0];
    text = cut(chosen ? chosen.text : element.value);
  }
  if (editable && !field) text = cut(element.innerText);
  const secret = type === "password";
  const is = (name) => element.getAttribute(name) === "true";
  const tag = element.tagName.toLowerCase();
  return {
    class: role || (tag === "input" ? `input.${type || "text"}` : tag),
    resource: element.id || element.getAttribute("data-testid") || element.getAttribute("name") || "",
    text: secret ? "*".repeat(text.length) : text,
    description: labelOf(element),
    hint: cut(element.getAttribute("placeholder")),
    bounds: boundsOf(element),
    clickable,
    long_clickable: typeof element.oncontextmenu === "function",
    scrollable: isScrollable(element),
    checkable: tick,
    checked: tick && (field ? element.checked : is("aria-checked")),
    selected: is("aria-selected") || Boolean(element.getAttribute("aria-current")
      && element.getAttribute("aria-current") !== "false"),
    enabled: !element.disabled && !is("aria-disabled"),
    editable,
    password: secret,
    focused: element === element.getRootNode().activeElement,
    displayed: !((clickable || editable) && isCovered(element, element.getBoundingClientRect())),
  };
};

// All elements that say or do something, each with the ordinal of the one around it.
const walk = () => {
  const found = [];
  const visit = (element, parent) => {
    if (found.length >= MOST || UNSEEN.has(element.tagName)) return;
    if (element.namespaceURI !== "http://www.w3.org/1999/xhtml") return;
    const whole = element === document.scrollingElement;
    if (!whole && !element.checkVisibility()) return;
    let inner = parent;
    const worth = whole || (isShown(element) && (isClickable(element) || isEditable(element)
      || isScrollable(element) || isList(element) || ownText(element)
      || element.tagName === "IMG"));
    if (worth) {
      inner = found.length;
      found.push([element, parent]);
    }
    // What is inside something that is pressed as a whole says nothing more.
    if (worth && ["A", "BUTTON", "SELECT", "TEXTAREA"].includes(element.tagName)) return;
    const children = element.shadowRoot ? element.shadowRoot.children : element.children;
    for (const child of children) visit(child, inner);
  };
  if (document.scrollingElement) visit(document.scrollingElement, null);
  return found;
};

const functions = {
  look() {
    const seen = performance.getEntriesByType("navigation")[0];
    const elements = walk().map(([element, parent]) => ({ parent, ...describe(element) }));
    const way = /^#[/!]/.test(location.hash) ? location.hash : "";
    return {
      href: location.href, origin: location.origin, path: location.pathname + way,
      title: cut(document.title), ready: document.readyState,
      status: (seen && seen.responseStatus) || 0, elements,
    };
  },

  // Finds an element again by its ordinal, or by where it was if the list has shifted.
  find(ordinal, bounds, act, text) {
    const all = walk().map(([element]) => element);
    const same = (element) => !bounds || boundsOf(element).every((it, at) => it === bounds[at]);
    let element = all[ordinal];
    if (!element || !same(element)) {
      const alike = all.filter((it) => bounds && same(it) && (isClickable(it) || isEditable(it)));
      element = alike.length === 1 ? alike[0] : null;
    }
    if (!element) return { stale: true };
    if (act === "tap" && element.tagName === "SELECT" && !element.multiple) {
      // Its list is drawn by the system: the next of its options is chosen instead.
      const open = [...element.options].filter((it) => !it.disabled);
      if (open.length && !element.disabled) {
        const next = open[(open.indexOf(element.selectedOptions[0]) + 1) % open.length];
        element.focus();
        element.value = next.value;
        element.dispatchEvent(new Event("input", { bubbles: true }));
        element.dispatchEvent(new Event("change", { bubbles: true }));
      }
      return { done: true };
    }
    const picked = act === "text" && element.tagName === "INPUT" && PICKED[typeOf(element)];
    if (picked) {
      // Keys go to a picker in the order of the browser's language: the value is set instead.
      const [shape, usual] = picked;
      const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
      setter.call(element, shape.test(text) ? text : usual);
      element.dispatchEvent(new Event("input", { bubbles: true }));
      element.dispatchEvent(new Event("change", { bubbles: true }));
      return { done: true };
    }
    if (element !== document.scrollingElement) {
      element.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    }
    const box = element.getBoundingClientRect();
    const covered = act !== "swipe" && isCovered(element, box);
    return { element, bounds: boundsOf(element), window: [innerWidth, innerHeight], covered };
  },
};
return functions[arguments[0]](...[...arguments].slice(1));
