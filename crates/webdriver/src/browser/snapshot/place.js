  // Where an element stands.
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
      selector: ALONE ? "" : selectorOf(element), tag: element.localName, role: attribute(element, "role"),
      parent, order: order, attributes: attributesOf(element),
      legend: legend ? words(legend) : "", label: textOfIds(element, "aria-labelledby") || squeeze(attribute(element, "aria-label")),
      described: textOfIds(element, "aria-describedby"),
      box: boxOf(element), text: isForm && !ALONE ? words(element, 1500) : "",
    });
    return index;
  }
