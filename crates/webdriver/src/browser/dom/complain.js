  // What a page has against a field.
  const ERROR = /(^|[-_\s])(error|errors|invalid|danger|warn|warning|fehler|erreur|has-error)|error|invalid-feedback/i;
  const marked = element => ERROR.test(`${element.id} ${element.getAttribute('class') || ''}`);
  const FIELDS = 'input:not([type=hidden]):not([type=submit]):not([type=button]),select,textarea,[contenteditable=""],[contenteditable=true],[role=combobox],[role=listbox]';
  const ALERTS = '[role=alert],[aria-live=assertive]';

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
      for (const each of group.querySelectorAll(`${ALERTS},[class],[id]`)) {
        const about = each.matches(ALERTS) || marked(each);
        if (about && !each.querySelector(FIELDS) && !each.matches(FIELDS) && !each.matches('label,legend')) standing.add(said(each));
      }
    }
    const next = group.nextElementSibling;
    if (next && marked(next) && !next.querySelector(FIELDS) && !next.matches(FIELDS)) standing.add(said(next));
    const labels = labelsOf(element).map(label => squeeze(label.innerText).replace(/[*:\s]+$/, '').toLowerCase()).filter(it => it.length > 2);
    for (const each of document.querySelectorAll(ALERTS)) {
      const words = said(each);
      if (labels.some(label => words.toLowerCase().includes(label))) standing.add(words);
    }
    standing.delete('');
    if (invalid && !standing.size) standing.add('the field is marked as invalid');
    return { live, standing: [...standing] };
  };

