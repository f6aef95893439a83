// What hands need to know of a field, and what a person's hand does to one. It reports
// facts; what they mean is decided elsewhere. It runs in the frame that holds the element.
const hand = (() => {
  const STEP = ' >>> ';
  const squeeze = text => (text || '').replace(/\s+/g, ' ').trim();
  const isFrame = element => element.localName === 'iframe' || element.localName === 'frame';

  // Finds what a selector names; where a frame lies between, that frame and the rest.
  const find = selector => {
    let root = document, element = null;
    const steps = selector.split(STEP);
    for (let at = 0; at < steps.length; at += 1) {
      element = root && root.querySelector(steps[at]);
      if (!element) return {};
      const last = at === steps.length - 1;
      if (!last && isFrame(element)) return { frame: element, rest: steps.slice(at + 1).join(STEP) };
      if (!last) root = element.shadowRoot;
    }
    return { element };
  };

  const isShown = element => {
    if (!element.getClientRects().length) return false;
    const style = getComputedStyle(element);
    return style.visibility === 'visible' && Number(style.opacity) > 0.01;
  };

  // The parent, out of shadow roots too.
  const above = element => element.assignedSlot || element.parentElement
    || (element.getRootNode() instanceof ShadowRoot ? element.getRootNode().host : null);

  const contains = (outer, inner) => {
    for (let at = inner; at; at = above(at)) if (at === outer) return true;
    return false;
  };

  // What a pointer would meet in the middle of an element.
  const hit = element => {
    const area = element.getBoundingClientRect();
    let met = document.elementFromPoint(area.x + area.width / 2, area.y + area.height / 2);
    while (met && met.shadowRoot) {
      const inner = met.shadowRoot.elementFromPoint(area.x + area.width / 2, area.y + area.height / 2);
      if (!inner || inner === met) break;
      met = inner;
    }
    return met;
  };

  const isMet = element => {
    if (!isShown(element)) return false;
    const met = hit(element);
    if (!met || !contains(element, met)) return !!met && met.localName === 'label' && contains(met, element);
    // A link within a label leads away.
    const other = met.closest('a, button, [role=link], [role=button]');
    return !other || other === element || !contains(element, other);
  };

  const labelsOf = element => [...(element.labels || [])].concat(
    (element.getAttribute('aria-labelledby') || '').split(/\s+/).filter(Boolean)
      .map(id => element.getRootNode().getElementById?.(id)).filter(Boolean));

  // What to click for an element: itself, or its label where something covers it.
  const target = element => [element, ...labelsOf(element)].find(isMet) || null;

  const isChecked = element => {
    if (element.localName === 'input') return element.checked;
    const told = element.getAttribute('aria-checked') || element.getAttribute('aria-pressed');
    return told === null ? null : told === 'true';
  };

  const isEditable = element => element.isContentEditable === true;

  // What a person would read in a field.
  const valueOf = element => {
    if (isEditable(element)) return element.innerText.replace(/\n$/, '');
    switch (element.localName) {
      case 'select': return [...element.selectedOptions].map(option => option.value).join('\n');
      case 'textarea': return element.value;
      case 'input':
        if (element.type === 'checkbox' || element.type === 'radio') return String(element.checked);
        if (element.type === 'file') return [...element.files].map(file => file.name).join('\n');
        return element.value;
      default: {
        const checked = isChecked(element);
        if (checked !== null) return String(checked);
        const chosen = [...element.querySelectorAll('[role=option][aria-selected=true]')];
        if (chosen.length) return chosen.map(option => squeeze(option.innerText)).join('\n');
        const inner = element.querySelector('input:not([type=hidden])');
        return inner && inner.value ? inner.value : squeeze(element.innerText);
      }
    }
  };

  const activeIn = root => {
    let active = root.activeElement;
    while (active && active.shadowRoot && active.shadowRoot.activeElement) active = active.shadowRoot.activeElement;
    return active;
  };

  // The order in which this browser takes the parts of a day and a time.
  const order = () => {
    const format = new Intl.DateTimeFormat(undefined, {
      year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit',
    });
    return {
      parts: format.formatToParts(new Date(2001, 11, 31, 22, 30)).map(part => part.type).filter(type => type !== 'literal'),
    };
  };

  const facts = (element, more) => ({
    element,
    tag: element.localName,
    type: (element.type || '').toString().toLowerCase(),
    value: valueOf(element),
    checked: isChecked(element),
    marks: Object.entries({
      editable: isEditable(element),
      shown: isShown(element),
      disabled: element.matches(':disabled') || element.getAttribute('aria-disabled') === 'true',
      readonly: element.readOnly === true || element.getAttribute('aria-readonly') === 'true',
    }).filter(([, is]) => is).map(([mark]) => mark),
    ...more,
  });

  const missing = found => found.frame ? found : null;

  // Goes to a field: it is scrolled into view, focused, and what it holds is selected.
  const reach = (selector, wants) => {
    const found = find(selector);
    if (!found.element) return missing(found);
    const element = found.element;
    const area = element.getBoundingClientRect();
    if (area.top < 0 || area.bottom > innerHeight || area.left < 0 || area.right > innerWidth) {
      element.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
    }
    const more = { complaints: complaints(element).standing, document: performance.timeOrigin };
    if (wants.focus) {
      element.focus({ preventScroll: true });
      if (isEditable(element)) getSelection().selectAllChildren(element);
      else if (element.select && valueOf(element)) element.select();
    }
    if (wants.target) more.target = target(element);
    if (wants.order) more.order = order();
    return facts(element, more);
  };

  const tell = (element, ...names) => {
    for (const name of names) element.dispatchEvent(new Event(name, { bubbles: true, composed: true }));
  };

  // Leaves a field, and tells what it held before and holds after.
  const leave = selector => {
    const found = find(selector);
    if (!found.element) return missing(found);
    const before = valueOf(found.element);
    const active = activeIn(document);
    if (active && active !== document.body) active.blur();
    return { before, value: valueOf(found.element) };
  };

  // Sets a value in one go, past whatever a framework has put around the property.
  const set = (selector, value) => {
    const found = find(selector);
    if (!found.element) return missing(found);
    const element = found.element;
    // What a person could not type is not put in behind the page's back.
    if (element.maxLength >= 0 && value.length > element.maxLength) value = value.slice(0, element.maxLength);
    element.focus({ preventScroll: true });
    if (isEditable(element)) {
      getSelection().selectAllChildren(element);
      document.execCommand('insertText', false, value);
    } else {
      const kind = element.ownerDocument.defaultView[
        { textarea: 'HTMLTextAreaElement', select: 'HTMLSelectElement' }[element.localName] || 'HTMLInputElement'];
      const property = Object.getOwnPropertyDescriptor(kind.prototype, 'value');
      if (property && element instanceof kind) property.set.call(element, value);
      tell(element, 'input', 'change');
    }
    element.blur();
    return { before: valueOf(element), value: valueOf(element) };
  };

  // Puts text in where the cursor is, as a paste does.
  const paste = (selector, text) => {
    const found = find(selector);
    if (!found.element) return missing(found);
    found.element.focus({ preventScroll: true });
    if (isEditable(found.element)) getSelection().selectAllChildren(found.element);
    else if (found.element.select) found.element.select();
    document.execCommand('insertText', false, text);
    return { value: valueOf(found.element) };
  };

  // Chooses of a native list: exactly these options, by their values.
  const choose = (selector, values) => {
    const found = find(selector);
    if (!found.element) return missing(found);
    const element = found.element;
    if (element.localName !== 'select') return { tag: element.localName };
    if (element.disabled) return { disabled: true };
    const area = element.getBoundingClientRect();
    if (area.top < 0 || area.bottom > innerHeight) element.scrollIntoView({ block: 'center', behavior: 'instant' });
    const standing = complaints(element).standing;
    element.focus({ preventScroll: true });
    const options = [...element.options];
    const wanted = values.map(value => options.find(it => it.value === value && !it.disabled)
      || options.find(it => squeeze(it.label) === squeeze(value) && !it.disabled));
    const absent = values.filter((_, at) => !wanted[at]);
    if (!absent.length) {
      const before = valueOf(element);
      if (element.multiple) for (const option of options) option.selected = wanted.includes(option);
      else wanted[0].selected = true;
      if (valueOf(element) !== before) tell(element, 'input', 'change');
    }
    element.blur();
    return { tag: 'select', absent, value: valueOf(element), complaints: standing, document: performance.timeOrigin };
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

  const ERROR = /(^|[-_\s])(error|errors|invalid|danger|warn|warning|fehler|erreur|has-error)|error|invalid-feedback/i;
  const marked = element => ERROR.test(`${element.id} ${element.getAttribute('class') || ''}`);
  const FIELDS = 'input:not([type=hidden]):not([type=submit]):not([type=button]),select,textarea,[contenteditable=""],[contenteditable=true],[role=combobox],[role=listbox]';

  // The part of the page that is about this field alone.
  const groupOf = element => {
    const name = element.getAttribute('name');
    const same = other => other === element || contains(element, other)
      || (element.type === 'radio' || element.type === 'checkbox') && name && other.getAttribute('name') === name;
    let group = element;
    for (let level = 0; level < 6; level += 1) {
      const outer = above(group);
      if (!outer || outer === document.body || outer.localName === 'form') break;
      if ([...outer.querySelectorAll(FIELDS)].some(other => !same(other))) break;
      group = outer;
    }
    return group;
  };

  const said = element => isShown(element) ? squeeze(element.innerText).slice(0, 300) : '';

  // What the page has against a field: what the browser itself finds wrong with it now,
  // and the words that stand on the page.
  const complaints = element => {
    const root = element.getRootNode();
    // A form that is not to be validated shows nobody what the browser has against it.
    const heeded = !(element.form && element.form.noValidate);
    const live = heeded && element.willValidate && element.validity && !element.validity.valid ? squeeze(element.validationMessage) : '';
    const standing = new Set();
    const group = groupOf(element);
    const holders = [element, group, element.closest('fieldset')].filter(Boolean);
    const invalid = holders.some(it => it.getAttribute('aria-invalid') === 'true');
    const refer = names => holders.flatMap(it => names.map(name => it.getAttribute(name)))
      .filter(Boolean).flatMap(ids => ids.split(/\s+/)).map(id => root.getElementById?.(id)).filter(Boolean);
    const described = refer(['aria-describedby']);
    const wrong = described.filter(it => marked(it) || it.getAttribute('role') === 'alert' || it.querySelector('[role=alert]'));
    for (const each of wrong) standing.add(said(each));
    if (invalid) {
      for (const each of refer(['aria-errormessage'])) standing.add(said(each));
      if (!standing.size) for (const each of described) standing.add(said(each));
    }
    if (group !== element) {
      for (const each of group.querySelectorAll('[role=alert],[aria-live=assertive],[class],[id]')) {
        const about = each.matches('[role=alert],[aria-live=assertive]') || marked(each);
        if (about && !each.querySelector(FIELDS) && !each.matches(FIELDS) && !each.matches('label,legend')) standing.add(said(each));
      }
    }
    const next = group.nextElementSibling;
    if (next && marked(next) && !next.querySelector(FIELDS) && !next.matches(FIELDS)) standing.add(said(next));
    const labels = labelsOf(element).map(label => squeeze(label.innerText).replace(/[*:\s]+$/, '').toLowerCase()).filter(it => it.length > 2);
    for (const each of document.querySelectorAll('[role=alert],[aria-live=assertive]')) {
      const words = said(each);
      if (labels.some(label => words.toLowerCase().includes(label))) standing.add(words);
    }
    standing.delete('');
    if (invalid && !standing.size) standing.add('the field is marked as invalid');
    return { live, standing: [...standing] };
  };

  // What a field holds after it was left, and what the page has against it.
  const check = (selector, { whole, buttons }) => {
    const found = find(selector);
    if (!found.element) return missing(found);
    const element = found.element;
    // In a frame only what follows the frame counts, of the buttons' selectors too.
    const outside = whole.endsWith(selector) ? whole.slice(0, whole.length - selector.length) : '';
    const inside = it => it.startsWith(outside) ? it.slice(outside.length) : it;
    const members = buttons.map(it => find(inside(it)).element || null);
    const chosen = members.flatMap((it, at) => it && isChecked(it) ? [at] : []);
    const picked = members.flatMap((it, at) => it && it.getAttribute('aria-selected') === 'true' ? [at] : []);
    return {
      value: valueOf(element), chosen, picked, joined: members.map(it => it ? it.value || '' : '').join(''),
      document: performance.timeOrigin, ...complaints(element),
    };
  };

  // How the page stands.
  const state = () => ({
    ready: document.readyState, url: location.href, origin: location.origin, title: document.title,
    document: performance.timeOrigin,
  });

  return { reach, leave, set, paste, choose, offered, check, state };
})();
