  // What a person's hand does to a field. Each can be done a second time, when a dialog has
  // cut the first one short, and nothing is told to the page twice.
  // Goes to a field: it is scrolled into view, focused, and what it holds is selected.
  const reach = (selector, wants) => {
    const found = find(selector);
    if (!found.element) return missing(found);
    const element = found.element;
    // To scroll shows what nobody could scroll to.
    const shut = !!wants.alone && look.isShut(element);
    show(element);
    const more = { complaints: complaints(element).standing, document: performance.timeOrigin };
    if (wants.focus) {
      element.focus({ preventScroll: true });
      if (isEditable(element)) getSelection().selectAllChildren(element);
      else if (element.select && valueOf(element)) element.select();
    }
    if (wants.target) more.target = target(element);
    if (wants.alone) {
      // It is looked at when it has the focus: a page may change it then.
      more.alone = look.alone(element);
      more.alone.seen.sight.clipped ||= shut;
      more.like = look.likeness(element);
    }
    return facts(element, more);
  };

  const tell = (element, ...names) => {
    for (const name of names) element.dispatchEvent(new Event(name, { bubbles: true, composed: true }));
  };

  // Leaves a field, and tells what it holds then.
  const leave = selector => {
    const found = find(selector);
    if (!found.element) return missing(found);
    const active = activeIn(document);
    if (active && active !== document.body) active.blur();
    return { value: valueOf(found.element) };
  };

  // Sets a value in one go, past whatever a framework has put around the property.
  const set = (selector, value) => {
    const found = find(selector);
    if (!found.element) return missing(found);
    const element = found.element;
    // What a person could not type is not put in behind the page's back.
    if (element.maxLength >= 0 && value.length > element.maxLength) value = value.slice(0, element.maxLength);
    if (valueOf(element) !== value) {
      element.focus({ preventScroll: true });
      const kind = element.ownerDocument.defaultView[
        { textarea: 'HTMLTextAreaElement', select: 'HTMLSelectElement' }[element.localName] || 'HTMLInputElement'];
      const property = Object.getOwnPropertyDescriptor(kind.prototype, 'value');
      if (property && element instanceof kind) property.set.call(element, value);
      tell(element, 'input', 'change');
    }
    element.blur();
    return { value: valueOf(element) };
  };

  // Chooses of a native list: exactly these options, by their values.
  const choose = (selector, values) => {
    const found = find(selector);
    if (!found.element) return missing(found);
    const element = found.element;
    if (element.localName !== 'select') return { tag: element.localName };
    if (element.disabled) return { disabled: true };
    show(element);
    element.focus({ preventScroll: true });
    const options = [...element.options];
    // What was read of an option is compared as well: its value may have come to mean another.
    const named = ({ label }, option) => label === null || squeeze(option.label || option.text) === squeeze(label);
    const wanted = values.map(one => options.find(it => it.value === one.value && named(one, it) && !it.disabled)
      || options.find(it => squeeze(it.label) === squeeze(one.value) && named(one, it) && !it.disabled));
    const absent = values.filter((_, at) => !wanted[at]).length;
    if (!absent) {
      const before = valueOf(element);
      if (element.multiple) for (const option of options) option.selected = wanted.includes(option);
      else wanted[0].selected = true;
      if (valueOf(element) !== before) tell(element, 'input', 'change');
    }
    return { tag: 'select', absent };
  };

  // The options that a list of its own shows, wherever the page has put them.
  const offered = selector => {
    const found = find(selector);
    if (!found.element) return missing(found);
    const element = found.element;
    const root = element.getRootNode();
    const inner = element.querySelector('[role=combobox],[aria-controls],[aria-owns]');
    const ids = [element, inner].filter(Boolean)
      .flatMap(it => [it.getAttribute('aria-controls'), it.getAttribute('aria-owns')])
      .filter(Boolean).flatMap(it => it.split(/\s+/));
    const lists = ids.map(id => root.getElementById?.(id) || document.getElementById(id)).filter(Boolean);
    const named = lists.concat(element.matches('[role=listbox],[role=radiogroup]') ? [element] : []);
    const within = named.length ? named : [root, document];
    const seen = new Set();
    for (const place of within) for (const option of place.querySelectorAll('[role=option],[role=menuitemradio]')) {
      if (isShown(option)) seen.add(option);
    }
    if (!seen.size && lists.length) {
      for (const list of lists) for (const option of list.querySelectorAll('li')) if (isShown(option)) seen.add(option);
    }
    return { options: [...seen].slice(0, 500).map(option => ({
      element: option,
      label: squeeze(option.innerText) || squeeze(option.getAttribute('aria-label')),
      value: option.getAttribute('data-value') || option.getAttribute('value') || '',
      selected: option.getAttribute('aria-selected') === 'true',
      disabled: option.getAttribute('aria-disabled') === 'true',
    })) };
  };

  Object.assign(functions, { reach, leave, set, choose, offered });
