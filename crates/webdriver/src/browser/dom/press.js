  // A control is pressed as it was agreed to, or not at all. What was agreed to is compared when
  // the click arrives, and when the form goes off: a page can change both until then.
  const KEPT = Symbol.for('pointsman.press');
  const arm = (selector, { label, does, origin, sites }) => {
    const found = find(selector);
    if (!found.element) return missing(found);
    const element = found.element;
    show(element);
    // They must not outlive the press: a person may go on on this page.
    const ends = new AbortController();
    const signal = AbortSignal.any([ends.signal, AbortSignal.timeout(120000)]);
    const press = { clicked: false, changed: '', stopped: '', ends };
    top.document[KEPT]?.ends?.abort();
    top.document[KEPT] = press;
    const leads = address => { const to = look.originOf(address); return to === null || !sites.length || sites.includes(to); };
    const differs = () => {
      const now = look.aimOf(element);
      if (label !== null && now.label !== label) return `\`${label}\` is \`${now.label.slice(0, 80)}\` now`;
      if (label !== null && now.origin !== origin) return `it leads to ${now.origin || 'no other page'} now`;
      return '';
    };
    const stop = (event, how, why) => {
      event.preventDefault();
      event.stopImmediatePropagation();
      press[how] ||= why;
    };
    addEventListener('click', event => {
      if (!contains(element, event.composedPath()[0])) return;
      const why = differs();
      if (press.clicked) return;
      if (why) stop(event, 'changed', why); else press.clicked = true;
    }, { capture: true, signal });
    const sent = event => {
      const action = event.submitter?.getAttribute('formaction') || event.target.getAttribute('action');
      if (action && !leads(action)) stop(event, 'stopped', look.originOf(action));
    };
    addEventListener('submit', event => {
      sent(event);
      // This notices later changes, even by handlers that stop the event.
      const watch = new MutationObserver(() => sent(event));
      for (const each of [event.target, event.submitter]) if (each) watch.observe(each, { attributes: true });
      setTimeout(() => watch.disconnect(), 0);
    }, { capture: true, signal });
    addEventListener('submit', sent, { signal });
    // What is sent without an event of the form shows here at the latest.
    self.navigation?.addEventListener('navigate', event => {
      if ((event.formData || event.sourceElement) && !leads(event.destination.url)) {
        stop(event, 'stopped', look.originOf(event.destination.url));
      }
    }, { signal });
    return facts(element, { complaints: [], document: performance.timeOrigin, changed: differs() });
  };

  Object.assign(functions, { arm });
