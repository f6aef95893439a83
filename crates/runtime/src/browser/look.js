(function look() {
  "use strict";
  // Reports what a page shows, as facts: it decides nothing and changes nothing.
  //
  // One expression that evaluates to a plain object (`Sighting` on the Rust side). It walks
  // the document, its open shadow roots and the frames of the same origin. What a fact means
  // is decided in Rust, where it can be tested without a browser.
  const MOST_CONTROLS = 2000, MOST_OPTIONS = 600, MOST_WORDS = 600, MOST_SAID = 400;
  const NATIVE = "input, textarea, select";
  const ROLES = "[role=combobox], [role=listbox], [role=checkbox], [role=radio], "
    + "[role=textbox], [role=searchbox], [role=spinbutton], [role=switch], [role=slider]";
  const EDITABLE = "[contenteditable=''], [contenteditable=true], [contenteditable=plaintext-only]";
  const PRESSED = "button, input[type=submit i], input[type=button i], input[type=image i], "
    + "input[type=reset i], [role=button], summary, a, [onclick]";
  const HEADINGS = "h1, h2, h3, h4, h5, h6, [role=heading], legend";
  const SILENT = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "SELECT", "TEXTAREA",
    "OPTION", "DATALIST", "SVG", "IFRAME", "OBJECT", "BUTTON", "INPUT"]);
  const INLINE = new Set(["B", "I", "EM", "STRONG", "U", "FONT", "MARK", "BDI", "WBR"]);
  const CAPTCHAS = [
    ["recaptcha", "iframe[src*='recaptcha'], .g-recaptcha, [class*='g-recaptcha']"],
    ["hcaptcha", "iframe[src*='hcaptcha'], .h-captcha"],
    ["turnstile", "iframe[src*='challenges.cloudflare'], .cf-turnstile"],
    ["captcha", "iframe[src*='captcha'], iframe[title*='captcha' i], [data-sitekey]"],
  ];

  const controls = [], places = [], said = [], captchas = [], alerts = [];
  const placeOf = new Map();
  let order = 0;

  const squeeze = (text, most = MOST_WORDS) =>
    (text || "").replace(/[\s\u00a0\u200b\ufeff]+/g, " ").trim().slice(0, most);
  const matches = (element, selector) => element.matches(selector);
  const attribute = (element, name) => element.getAttribute(name) || "";
  const styleOf = (element) => element.ownerDocument.defaultView.getComputedStyle(element);
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true });

  // The text of an element, without what its controls hold and without what is not shown.
  function words(root, most = MOST_WORDS, all = false) {
    let text = "";
    const walk = (node) => {
      if (text.length > most * 2) return;
      if (node.nodeType === 3) text += node.data;
      if (node.nodeType !== 1) return;
      if (node !== root && SILENT.has(node.tagName.toUpperCase())) { text += " "; return; }
      if (node !== root && !all && styleOf(node).display === "none") return;
      const gap = INLINE.has(node.tagName) ? "" : " ";
      text += gap;
      for (const child of node.childNodes) walk(child);
      text += gap;
    };
    walk(root);
    return squeeze(text, most);
  }

  const byIds = (element, name) => attribute(element, name).split(/\s+/).filter(Boolean)
    .map((id) => element.getRootNode().getElementById(id)).filter(Boolean);
  const textOfIds = (element, name) => squeeze(byIds(element, name).map((e) => words(e)).join(" "));

  // ---- where an element stands ----
  const isOnly = (root, selector, element) => {
    const found = root.querySelectorAll(selector);
    return found.length === 1 && found[0] === element;
  };
  const quoted = (value) => '"' + value.replace(/["\\\n]/g, (c) => c === "\n" ? "\\a " : "\\" + c) + '"';
  // An id that a framework makes anew for every page says nothing that lasts.
  const isMade = (id) => /^[:«]|\d{4,}|[0-9a-f]{8}-|^(ember|mui|ext-gen|yui_)/i.test(id);

  function ownSelector(element, root) {
    const tag = element.localName.replace(/:/g, "\\:");
    const { id } = element;
    const byId = typeof id === "string" && id ? "#" + CSS.escape(id) : "";
    if (byId && !isMade(id) && isOnly(root, byId, element)) return byId;
    const name = attribute(element, "name");
    if (name) {
      const named = tag + "[name=" + quoted(name) + "]";
      if (isOnly(root, named, element)) return named;
      const valued = named + "[value=" + quoted(attribute(element, "value")) + "]";
      if (/^(radio|checkbox)$/i.test(element.type || "") && isOnly(root, valued, element)) return valued;
    }
    for (const mark of ["data-testid", "data-test", "data-qa"]) {
      const marked = "[" + mark + "=" + quoted(attribute(element, mark)) + "]";
      if (element.hasAttribute(mark) && isOnly(root, marked, element)) return marked;
    }
    return byId && isOnly(root, byId, element) ? byId : "";
  }

  function localSelector(element) {
    const root = element.getRootNode();
    const steps = [];
    for (let at = element; at && at.nodeType === 1; at = at.parentElement) {
      const own = ownSelector(at, root);
      if (own) { steps.unshift(own); break; }
      let nth = 1;
      for (let s = at.previousElementSibling; s; s = s.previousElementSibling) nth += s.localName === at.localName ? 1 : 0;
      steps.unshift(at.localName.replace(/:/g, "\\:") + ":nth-of-type(" + nth + ")");
    }
    return steps.join(" > ");
  }

  const hostOf = (element) => {
    const root = element.getRootNode();
    return root.host || (root.defaultView && root.defaultView.frameElement) || null;
  };
  const selectorOf = (element) =>
    (hostOf(element) ? selectorOf(hostOf(element)) + " >>> " : "") + localSelector(element);
  const above = (element) => element.assignedSlot || element.parentElement || hostOf(element);

  // The box in the coordinates of the outermost document.
  function boxOf(element) {
    const box = element.getBoundingClientRect();
    let x = box.x + window.scrollX, y = box.y + window.scrollY;
    let view = element.ownerDocument.defaultView;
    while (view && view.frameElement) {
      const outer = view.frameElement.getBoundingClientRect();
      x += outer.x; y += outer.y;
      view = view.parent;
    }
    return { x: Math.round(x), y: Math.round(y), width: Math.round(box.width), height: Math.round(box.height) };
  }

  function attributesOf(element) {
    const told = [...element.attributes].filter(({ name }) => name !== "style" && name !== "value" && !name.startsWith("on"));
    return Object.fromEntries(told.map(({ name, value }) => [name, value.slice(0, 300)]));
  }

  // A place is an ancestor of a control; places name their parents, so that Rust has the tree.
  function placeIndex(element) {
    if (!element) return null;
    if (placeOf.has(element)) return placeOf.get(element);
    const parent = placeIndex(above(element));
    const index = places.length;
    placeOf.set(element, index);
    const isForm = element.localName === "form" || attribute(element, "role") === "form";
    const legend = element.localName === "fieldset"
      ? [...element.children].find((child) => child.localName === "legend") : null;
    places.push({
      selector: selectorOf(element), tag: element.localName, role: attribute(element, "role"),
      parent, order: order, attributes: attributesOf(element),
      legend: legend ? words(legend) : "", label: textOfIds(element, "aria-labelledby") || squeeze(attribute(element, "aria-label")),
      described: textOfIds(element, "aria-describedby"),
      box: boxOf(element), text: isForm ? words(element, 1500) : "",
    });
    return index;
  }

  // ---- whether it can be seen ----
  function sightOf(element) {
    const style = styleOf(element);
    const box = boxOf(element);
    let opacity = 1, clipped = false, ariaHidden = false, inert = false, far = false;
    for (let at = element; at; at = above(at)) {
      const own = styleOf(at);
      opacity = Math.min(opacity, Number(own.opacity));
      if (attribute(at, "aria-hidden") === "true") ariaHidden = true;
      if (at.inert) inert = true;
      const cut = /^rect\(([01](px)?,? ?){4}\)$/.test(own.clip);
      const inset = /^inset\((50|100)%/.test(own.clipPath) || own.clipPath === "circle(0px)";
      const rect = at === element ? null : at.getBoundingClientRect();
      const shut = rect && own.overflow !== "visible" && (rect.width <= 1 || rect.height <= 1)
        && own.display !== "contents" && own.display !== "inline";
      if ((cut && own.position === "absolute") || inset || shut) clipped = true;
      if (at === element && /^matrix\(0, 0, 0, 0/.test(own.transform)) clipped = true;
    }
    far = box.x + box.width <= 0 || box.y + box.height <= 0
      || box.x > Math.max(document.documentElement.scrollWidth, innerWidth);
    const tab = attribute(element, "tabindex");
    return {
      rendered: element.getClientRects().length > 0 && style.display !== "none",
      visible: style.visibility === "visible", opacity, clipped, far, inert,
      aria_hidden: ariaHidden, tabindex: tab === "" ? null : parseInt(tab, 10) || 0,
      parent_rendered: !above(element) || isShown(above(element)),
    };
  }

  // ---- what it is called ----
  const holdsControl = (element) =>
    matches(element, NATIVE + "," + ROLES) || !!element.querySelector(NATIVE + "," + ROLES);
  const isHiddenInput = (element) => element.localName === "input" && element.type === "hidden";
  const blocks = (node) => holdsControl(node) && !(isHiddenInput(node)
    || [...node.querySelectorAll(NATIVE)].every(isHiddenInput) && !matches(node, NATIVE) && !node.querySelector(ROLES));

  // The nearest text before or after an element that no other control stands between.
  function nearby(element, forward, climbs) {
    let at = element;
    for (let level = 0; at && level <= climbs; level += 1) {
      for (let n = forward ? at.nextSibling : at.previousSibling; n; n = forward ? n.nextSibling : n.previousSibling) {
        if (n.nodeType === 1 && (blocks(n) || matches(n, "button, a[role=button]"))) return { text: "", level };
        if (n.nodeType === 1 && (SILENT.has(n.tagName.toUpperCase()) || styleOf(n).display === "none")) continue;
        const text = n.nodeType === 3 ? squeeze(n.data) : n.nodeType === 1 ? words(n) : "";
        if (/[\p{L}\p{N}*]/u.test(text)) return { text: text.slice(0, 200), level };
      }
      at = at.parentElement;
      if (!at || matches(at, "form, fieldset, body, [role=form], [role=group], [role=radiogroup]")) break;
    }
    return { text: "", level: 0 };
  }

  function tableOf(element) {
    const cell = element.closest("table td, table th");
    if (!cell) return { column: "", row: "" };
    const row = cell.parentElement, table = row.closest("table");
    const head = table.rows[0] && table.rows[0] !== row ? table.rows[0].cells[cell.cellIndex] : null;
    const first = row.cells[0] !== cell && row.cells[0] && !holdsControl(row.cells[0]) ? row.cells[0] : null;
    const column = head && !holdsControl(head) && head.localName === "th" ? words(head, 200) : "";
    return { column, row: first ? words(first, 200) : "" };
  }

  function namesOf(element) {
    const root = element.getRootNode();
    const id = typeof element.id === "string" ? element.id : "";
    const all = element.labels ? [...element.labels] : [];
    if (!element.labels && id) all.push(...root.querySelectorAll("label[for=" + quoted(id) + "]"));
    const wrapping = element.closest("label");
    const apart = all.filter((label) => label !== wrapping);
    const before = nearby(element, false, 4), after = nearby(element, true, 3);
    return {
      associated: squeeze(apart.map((label) => words(label) || words(label, MOST_WORDS, true)).join(" ")),
      wrapping: wrapping ? words(wrapping) : "",
      labelled_by: textOfIds(element, "aria-labelledby"),
      before: before.text, before_level: before.level, after: after.text, after_level: after.level,
      aria: squeeze(attribute(element, "aria-label")), title: squeeze(attribute(element, "title")),
      placeholder: squeeze(attribute(element, "placeholder") || attribute(element, "data-placeholder")
        || attribute(element, "aria-placeholder")),
      described: textOfIds(element, "aria-describedby"),
      label_seen: [...all, wrapping].some((label) => label && isShown(label) && label.getClientRects().length > 0
        && boxOf(label).width > 1),
      table: tableOf(element),
    };
  }

  // ---- what it holds and what the page says of it ----
  function optionsOf(element) {
    if (element.localName === "select") {
      return [...element.options].slice(0, MOST_OPTIONS).map((option) => ({
        value: option.value, label: squeeze(option.label || option.text, 200), selector: null, selected: option.selected,
        disabled: option.disabled || (option.parentElement.localName === "optgroup" && option.parentElement.disabled),
      }));
    }
    const list = attribute(element, "role") === "listbox" ? [element]
      : [...byIds(element, "aria-controls"), ...byIds(element, "aria-owns")];
    const found = list.flatMap((box) => [...box.querySelectorAll("[role=option]")]);
    return found.slice(0, MOST_OPTIONS).map((option) => ({
      value: attribute(option, "data-value") || words(option, 200), label: words(option, 200),
      selector: selectorOf(option), selected: attribute(option, "aria-selected") === "true",
      disabled: attribute(option, "aria-disabled") === "true",
    }));
  }

  function valueOf(element) {
    if (/^(password|file)$/i.test(element.type || "")) return null;
    if (matches(element, "select") && element.multiple) return [...element.selectedOptions].map((o) => o.value).join("\n");
    if (matches(element, NATIVE)) return element.value.slice(0, 20000);
    if (attribute(element, "aria-valuenow")) return attribute(element, "aria-valuenow");
    // A list of the page's own holds what is chosen in it; what else it shows invites to choose.
    const lists = [element, ...byIds(element, "aria-controls"), ...byIds(element, "aria-owns")];
    const options = lists.flatMap((e) => [...e.querySelectorAll("[role=option]")]);
    if (matches(element, "[role=listbox], [role=combobox]") && options.length) {
      return options.filter((e) => attribute(e, "aria-selected") === "true").map((e) => squeeze(e.textContent, 300)).join("\n");
    }
    return squeeze(element.innerText || "", 20000);
  }

  const MESSAGE = /(^|[\s_-])(error|invalid|validation)[_-]*(message|msg|text|feedback|summary)s?([\s_-]|$)/i;
  const ERROR = /(^|[\s_-])(error|invalid|danger|warning|fehler|erreur)s?([\s_-]|$)|error-?(message|text|msg)|feedback/i;
  function complaintsOf(element) {
    const found = new Set(byIds(element, "aria-errormessage"));
    const groups = [element];
    for (let at = element.parentElement; at; at = at.parentElement) {
      if (matches(at, "fieldset, [role=group], [role=radiogroup]")) groups.push(at);
    }
    const looks = (e) => ERROR.test(attribute(e, "class")) || ERROR.test(e.id) || attribute(e, "role") === "alert";
    for (const at of groups) byIds(at, "aria-describedby").filter(looks).forEach((e) => found.add(e));
    let at = element.parentElement;
    for (let level = 0; at && level < 3 && !matches(at, "form, body"); level += 1, at = at.parentElement) {
      const others = [...at.querySelectorAll(NATIVE)].filter((e) => e !== element && !isHiddenInput(e)
        && !(e.name && e.name === element.name));
      if (others.length) break;
      for (const e of at.querySelectorAll("[role=alert], [class*=error i], [class*=invalid i]")) {
        if (!holdsControl(e) && e.localName !== "label" && (looks(e) || matches(e, "[class*=error i]"))) found.add(e);
      }
    }
    return [...found].filter(isShown).map((e) => words(e, 300)).filter(Boolean);
  }

  function isChecked(element) {
    if (/^(radio|checkbox)$/i.test(element.type || "")) return element.checked;
    return element.hasAttribute("aria-checked") ? attribute(element, "aria-checked") === "true" : null;
  }

  // ---- the controls ----
  const isEditable = (element) => matches(element, EDITABLE)
    && !(element.parentElement && element.parentElement.closest(EDITABLE));
  // A widget counts only where no native control does its work.
  function standsAlone(element) {
    if (matches(element, NATIVE)) return false;
    if (element.querySelector(NATIVE + "," + EDITABLE + ",[role=combobox], [role=checkbox], [role=textbox]")) return false;
    const role = attribute(element, "role");
    const id = quoted(element.id || "");
    const owned = "[aria-controls=" + id + "], [aria-owns=" + id + "]";
    if (role === "listbox" && element.id && element.getRootNode().querySelector(owned)) return false;
    // What stands for a native control shares a small box with it, or is next to it.
    const near = [element.previousElementSibling, element.nextElementSibling].filter(Boolean);
    const beside = element.parentElement?.childElementCount <= 4 ? [...element.parentElement.children] : near;
    const toggles = /^(checkbox|radio|switch)$/.test(role);
    return !beside.some((e) => matches(e, NATIVE) && !isHiddenInput(e) && (!toggles || /^(checkbox|radio)$/.test(e.type)));
  }

  function does(element) {
    const type = (element.type || "").toLowerCase();
    if (matches(element, "input, button")) return /^(submit|image)$/.test(type) ? "submit" : type === "reset" ? "reset" : "button";
    return element.localName === "a" && attribute(element, "role") !== "button" ? "link" : "button";
  }

  function saysOf(element) {
    const image = element.querySelector("img[alt], svg title");
    return words(element, 200) || squeeze(element.localName === "input" ? element.value : "", 200)
      || squeeze(attribute(element, "aria-label"), 200) || squeeze(attribute(element, "title"), 200)
      || squeeze(attribute(element, "alt"), 200)
      || squeeze(image ? attribute(image, "alt") || image.textContent : "", 200)
      || squeeze(attribute(element, "value"), 200);
  }

  function base(element) {
    return {
      selector: selectorOf(element), tag: element.localName, type: (element.type || "").toString().toLowerCase(),
      role: attribute(element, "role"), order, place: placeIndex(above(element)),
      form: element.form ? placeIndex(element.form) : null,
      attributes: attributesOf(element), box: boxOf(element), sight: sightOf(element),
      disabled: !!element.disabled || attribute(element, "aria-disabled") === "true" || matches(element, ":disabled"),
    };
  }

  function addField(element) {
    if (controls.length >= MOST_CONTROLS) return;
    const value = valueOf(element);
    const twin = element.parentElement && [...element.parentElement.children]
      .find((e) => e !== element && matches(e, "[role=checkbox], [role=radio], [role=switch]"));
    controls.push({
      ...base(element), what: "field", names: namesOf(element), options: optionsOf(element),
      value, holds_value: value === null ? !!element.value : value !== "",
      checked: isChecked(element), editable: isEditable(element), stand_in: !!twin && isShown(twin),
      required: !!element.required, read_only: !!element.readOnly || attribute(element, "aria-readonly") === "true",
      multiple: !!element.multiple || attribute(element, "aria-multiselectable") === "true",
      user_invalid: matches(element, ":user-invalid"),
      message: squeeze(element.validationMessage, 300), complaints: complaintsOf(element),
    });
  }

  function addPressed(element) {
    if (controls.length >= MOST_CONTROLS) return;
    const label = saysOf(element);
    const own = element.hasAttribute("formaction") && element.form ? element.formAction : "";
    const target = own || (element.form ? element.form.getAttribute("action") : attribute(element, "href"));
    const origin = target && URL.canParse(target, location.href) ? new URL(target, location.href).origin : null;
    controls.push({ ...base(element), what: "pressed", does: does(element), label, origin });
  }

  function isField(element) {
    if (element.localName === "input") return !/^(hidden|submit|button|reset|image)$/i.test(element.type);
    if (matches(element, "textarea, select")) return true;
    if (isEditable(element)) return !matches(element, "body, html");
    return matches(element, ROLES) && standsAlone(element);
  }

  // A plain box with a few words and a hand over it is a button to those who see it.
  function invitesClicks(element) {
    if (!matches(element, "div, span") || element.childElementCount || !element.parentElement || element.closest("label, a, button")) return false;
    return getComputedStyle(element).cursor === "pointer" && getComputedStyle(element.parentElement).cursor !== "pointer";
  }

  // A link is a control where it is dressed as a button or stands in a form.
  function isPressed(element) {
    if (matches(element, ROLES) || !(matches(element, PRESSED) || invitesClicks(element))) return false;
    if (element.localName === "a") {
      return attribute(element, "role") === "button" || /btn|button|submit/i.test(attribute(element, "class") + element.id)
        || !!element.closest("form") || /^javascript:/i.test(attribute(element, "href")) || !!element.onclick;
    }
    if (matches(element, "button, input, [role=button]")) return true;
    return !holdsControl(element) && words(element, 80).length > 0 && words(element, 120).length < 80;
  }

  function visit(root) {
    for (const element of root.querySelectorAll("*")) {
      order += 1;
      if (isField(element)) addField(element);
      else if (isPressed(element)) addPressed(element);
      else if (matches(element, HEADINGS) || element.localName === "a") {
        const text = words(element, 160);
        const what = element.localName === "a" ? "link" : "heading";
        if (text && said.length < MOST_SAID) said.push({ what, text, order, place: placeIndex(above(element)), seen: isShown(element) });
      }
      const calls = matches(element, "[role=alert], [aria-live=assertive]")
        || (MESSAGE.test(attribute(element, "class")) && !holdsControl(element));
      const called = calls && isShown(element) ? words(element, 600) : "";
      if (called) alerts.push(called);
      const [kind] = CAPTCHAS.find(([, selector]) => matches(element, selector)) || [];
      if (kind) captchas.push({ kind, selector: selectorOf(element), order, place: placeIndex(above(element)), seen: isShown(element) });
      if (element.shadowRoot) visit(element.shadowRoot);
      if (element.localName === "iframe") {
        // A frame of another origin has no document for us.
        const inner = element.contentDocument;
        if (inner && inner.documentElement) visit(inner);
      }
    }
  }

  visit(document);
  return {
    url: location.href, origin: location.origin, title: squeeze(document.title, 300),
    language: attribute(document.documentElement, "lang"), controls, places, said, captchas, alerts,
  };
})()
