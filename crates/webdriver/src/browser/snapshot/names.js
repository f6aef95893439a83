  // What a field is called.
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
        && boxOf(label).width > 1 && isDrawn(label)),
      table: tableOf(element),
    };
  }
