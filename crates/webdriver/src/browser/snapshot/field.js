  // What a field holds, and what the page says of it.
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
