  // The controls of the page.
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

  // What a style sheet writes before and after an element: text to those who see it.
  function drawnBy(element) {
    const view = element.ownerDocument.defaultView;
    return ["::before", "::after"].map((part) => {
      const { content, display } = view.getComputedStyle(element, part);
      if (display === "none" || !content || /^(none|normal)$/.test(content)) return "";
      const pieces = content.match(/"(?:[^"\\]|\\.)*"|attr\([^)\s]+/g) || [];
      const text = pieces.map((piece) => piece[0] === '"' ? piece.slice(1, -1).replace(/\\(.)/g, "$1")
        : attribute(element, piece.slice(5))).join(" ");
      // The signs of icon fonts are no letters.
      return /\p{L}/u.test(text) ? text : "";
    }).join(" ");
  }

  // What stands beside a control, up to the nearest field on either side: prices are there.
  function nearOf(element) {
    const root = element.form || element.closest("form, [role=form], dialog, [role=dialog]")
      || element.getRootNode().body || element.getRootNode();
    const names = ["aria-label", "title", "alt"].map((name) => attribute(element, name)).join(" ");
    const read = (forward, most) => {
      const walker = element.ownerDocument.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
      walker.currentNode = element;
      let text = "", steps = 0;
      while (text.length < most && (steps += 1) < 400) {
        const node = forward ? walker.nextNode() : walker.previousNode();
        if (!node) break;
        if (element.contains(node)) continue;
        if (node.nodeType === 1) {
          if (matches(node, NATIVE + "," + ROLES + "," + EDITABLE) && !isHiddenInput(node) && isShown(node)) break;
          continue;
        }
        const parent = node.parentElement;
        if (!parent || !/\S/.test(node.data) || parent.closest("script, style, noscript, template, option, button, label, legend")) continue;
        if (!isShown(parent)) continue;
        text = forward ? text + " " + node.data : node.data + " " + text;
      }
      return forward ? text.slice(0, most) : text.slice(-most);
    };
    return squeeze([names, read(false, 400), read(true, 200)].join(" "));
  }

  function saysOf(element) {
    const drawn = [element, ...[...element.querySelectorAll("*")].slice(0, 30)].map(drawnBy).join(" ");
    return squeeze(writtenOn(element) + " " + drawn, 200);
  }

  function writtenOn(element) {
    const image = element.querySelector("img[alt], svg title");
    return words(element, 200) || squeeze(element.localName === "input" ? element.value : "", 200)
      || squeeze(attribute(element, "aria-label"), 200) || squeeze(attribute(element, "title"), 200)
      || squeeze(attribute(element, "alt"), 200)
      || squeeze(image ? attribute(image, "alt") || image.textContent : "", 200)
      || squeeze(attribute(element, "value"), 200);
  }

  function base(element) {
    return {
      selector: ALONE ? "" : selectorOf(element), tag: element.localName, type: (element.type || "").toString().toLowerCase(),
      role: attribute(element, "role"), order, place: placeIndex(above(element)),
      form: element.form ? placeIndex(element.form) : null,
      attributes: attributesOf(element), box: boxOf(element), sight: sightOf(element),
      document: element.ownerDocument.defaultView.performance.timeOrigin,
      disabled: !!element.disabled || attribute(element, "aria-disabled") === "true" || matches(element, ":disabled"),
    };
  }

  // Whether a drawn widget replaces it.
  const standsIn = (element) => {
    const twin = element.parentElement && [...element.parentElement.children]
      .find((e) => e !== element && matches(e, "[role=checkbox], [role=radio], [role=switch]"));
    return !!twin && isShown(twin);
  };

  function addField(element) {
    if (controls.length >= MOST_CONTROLS) return;
    const value = valueOf(element);
    controls.push({
      ...base(element), what: "field", names: namesOf(element), options: optionsOf(element),
      value, holds_value: value === null ? !!element.value : value !== "",
      checked: isChecked(element), editable: isEditable(element), stand_in: standsIn(element),
      required: !!element.required, read_only: !!element.readOnly || attribute(element, "aria-readonly") === "true",
      multiple: !!element.multiple || attribute(element, "aria-multiselectable") === "true",
      user_invalid: matches(element, ":user-invalid"),
      message: squeeze(element.validationMessage, 300), complaints: complaintsOf(element), ...slidOf(element),
      masked: /^(disc|circle|square)$/.test(styleOf(element).webkitTextSecurity || "")
        && (element.type || "").toLowerCase() !== "password",
    });
  }

  // Where an address leads: scheme, host and port; nothing where it leads to no page.
  const originOf = (address) => {
    if (!address || !URL.canParse(address, location.href)) return null;
    const { protocol, origin } = new URL(address, location.href);
    if (protocol === "file:") return "file://";
    return /^https?:$/.test(protocol) ? origin : null;
  };

  // What is written on a control, what it does, and where it leads.
  function aimOf(element) {
    const own = element.hasAttribute("formaction") && element.form ? element.formAction : "";
    const target = own || (element.form ? element.form.getAttribute("action") : attribute(element, "href"));
    return { does: does(element), label: saysOf(element), origin: originOf(target) };
  }

  function addPressed(element) {
    if (controls.length >= MOST_CONTROLS) return;
    controls.push({ ...base(element), what: "pressed", ...aimOf(element), near: nearOf(element) });
  }

  function isField(element) {
    if (element.localName === "input") return !/^(hidden|submit|button|reset|image)$/i.test(element.type);
    if (matches(element, "textarea, select")) return true;
    if (isEditable(element)) return !matches(element, "body, html");
    if (slides(element)) return true;
    return matches(element, ROLES) && standsAlone(element) && !isHandle(element);
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
