  // What came of it: in a field that was left, and on the page.
  const MODALS = 'dialog[open],[role=alertdialog],[aria-modal=true]';

  // How many parts of the page say that nothing else can be used, beside those that hold the
  // field.
  const modals = element => [...document.querySelectorAll(MODALS)]
    .filter(it => !contains(it, element) && isShown(it)).length;

  // Leaves a field where that is wanted, and tells what it holds, and what the page has
  // against it.
  const check = async (selector, { whole, buttons, leaves }) => {
    let found = find(selector);
    if (!found.element) return missing(found);
    const before = valueOf(found.element);
    const active = activeIn(document);
    if (leaves && active && active !== document.body) {
      active.blur();
      await turn();
      // It may have been rendered anew.
      found = find(selector);
      if (!found.element) return missing(found);
    }
    const element = found.element;
    // In a frame only what follows the frame counts, of the buttons' selectors too.
    const outside = whole.endsWith(selector) ? whole.slice(0, whole.length - selector.length) : '';
    const inside = it => it.startsWith(outside) ? it.slice(outside.length) : it;
    const members = buttons.map(it => find(inside(it)).element || null);
    const chosen = members.flatMap((it, at) => it && isChecked(it) ? [at] : []);
    const picked = members.flatMap((it, at) => it && it.getAttribute('aria-selected') === 'true' ? [at] : []);
    return {
      before, value: valueOf(element), chosen, picked, joined: members.map(it => it ? it.value || '' : '').join(''),
      editable: isEditable(element), lines: element.localName === 'textarea',
      document: performance.timeOrigin, off: isOff(element), modals: modals(element), ...complaints(element),
    };
  };

  // What is known of the last press on this document.
  const press = () => {
    const { clicked = false, changed = '', stopped = '' } = document[Symbol.for('pointsman.press')] || {};
    return { clicked, changed, stopped };
  };

  // Whether the page is still at work on what was pressed, and which of its alerts look
  // like errors.
  const after = selector => {
    const { element, frame } = find(selector);
    const waits = element && (isOff(element) || element.getAttribute('aria-busy') === 'true');
    const works = [...document.querySelectorAll('[aria-busy=true],[role=progressbar]')].some(isShown);
    const wrong = [...document.querySelectorAll(ALERTS)].filter(it => it.closest('[class*=error i],[class*=invalid i],[class*=danger i]')
      || marked(it) || [...it.querySelectorAll('*')].some(marked));
    return { stopped: press().stopped, busy: !!(waits || works), wrong: frame ? [] : wrong.map(said).filter(Boolean) };
  };

  // The same as `after`, when the press is over.
  const over = selector => {
    document[Symbol.for('pointsman.press')]?.ends?.abort();
    return after(selector);
  };

  // How the page stands.
  const state = () => ({ url: location.href, document: performance.timeOrigin });

  Object.assign(functions, { check, after, over, press, state });
