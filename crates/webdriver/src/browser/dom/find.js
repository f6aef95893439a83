  // Finds elements, and tells what they are and what they hold.
  const functions = {};
  const STEP = ' >>> ';
  const squeeze = text => (text || '').replace(/\s+/g, ' ').trim();
  const isFrame = element => element.localName === 'iframe' || element.localName === 'frame';

  // How many frames we are in.
  const depth = () => {
    let deep = 0;
    for (let at = window; at !== at.parent; at = at.parent) deep += 1;
    return deep;
  };

  // The site whose address a person sees; nothing in a frame of another site, or within one. It
  // is read from addresses, which no page can forge.
  const site = () => {
    try {
      const whole = top.location.origin;
      let at = window;
      for (let deep = 0; at !== top; at = at.parent, deep += 1) {
        const same = at.location.origin === whole || at.location.href.startsWith('about:');
        if (!same || deep > 50) return null;
      }
      return whole;
    } catch { return null; }
  };

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

  // Nothing at all is what the driver says when a dialog cuts a script short.
  const missing = found => found.frame ? found : { none: true };

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
  const isOff = element => element.matches(':disabled') || element.getAttribute('aria-disabled') === 'true';

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
        const stands = slid(element);
        if (stands !== null) return String(stands);
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

  const facts = (element, more) => ({
    element,
    tag: element.localName,
    type: (element.type || '').toString().toLowerCase(),
    value: valueOf(element),
    checked: isChecked(element),
    marks: Object.entries({
      editable: isEditable(element),
      shown: isShown(element),
      disabled: isOff(element),
      readonly: element.readOnly === true || element.getAttribute('aria-readonly') === 'true',
    }).filter(([, is]) => is).map(([mark]) => mark),
    ...more,
  });

  // Does something to a field, where we are thought to be and on the site that was agreed on,
  // and nowhere else.
  const touch = (name, where, selector, more) => {
    const here = site();
    if (here === null) return { elsewhere: 'a frame of another site' };
    if (depth() !== where.depth) return { lost: true };
    if (where.site !== null && here !== where.site) return { elsewhere: here };
    return functions[name](selector, more);
  };

  const show = element => {
    const area = element.getBoundingClientRect();
    if (area.top < 0 || area.bottom > innerHeight || area.left < 0 || area.right > innerWidth) {
      element.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
    }
  };

  // Lets the page do what it has put off until the next turn.
  const turn = async () => {
    // The clock of a page that nobody sees stands nearly still.
    if (!document.hidden) await new Promise(done => setTimeout(done, 0));
    await new Promise(done => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => { channel.port1.close(); done(); };
      channel.port2.postMessage(0);
    });
  };
