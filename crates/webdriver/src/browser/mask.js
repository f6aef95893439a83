// Blots out what fields hold, and values wherever the page repeats them; takes it away again.
// The page's own elements are not touched, and no rule of its own forbids it: adopted style
// sheets and highlights are no part of the document. Returns whether the veil holds.
const [on, values] = arguments;
const NAME = 'pointsman-veil';
const RULES = `
  input, textarea, [contenteditable], [contenteditable] * {
    -webkit-text-security: disc !important; caret-color: transparent !important; transition: none !important; }
  input:is([type=date], [type=time], [type=datetime-local], [type=month], [type=week], [type=number],
    [type=radio], [type=checkbox], [type=range], [type=color], [type=file]), select, output, meter, progress,
  [role=combobox]:not(input), [role=listbox], [role=option], [role=checkbox], [role=radio], [role=switch],
  [role=slider], [role=spinbutton]:not(input), [role=textbox]:not(input, textarea) {
    opacity: 0 !important; transition: none !important; }
  ::highlight(${NAME}) { color: transparent; background-color: #777; text-shadow: none; }
  :root { --${NAME}: yes; }`;

const spaced = value => value.trim().replace(/[.*+?^${}()|[\]\\\/]/g, '\\$&').replace(/\s+/g, '\\s+');
const wanted = values.filter(value => value.trim()).map(spaced);
const told = wanted.length ? new RegExp(wanted.join('|'), 'giu') : null;

// A value may be spread over several pieces of text.
const ranges = (root, doc) => {
  const walker = doc.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes = [];
  let text = '';
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    nodes.push({ node, from: text.length });
    text += node.data;
  }
  const at = (place, end) => {
    let found = nodes[0];
    for (const each of nodes) if (each.from < place || (!end && each.from === place)) found = each;
    return [found.node, place - found.from];
  };
  return [...text.matchAll(told)].map(match => {
    const range = doc.createRange();
    range.setStart(...at(match.index, false));
    range.setEnd(...at(match.index + match[0].length, true));
    return range;
  });
};

let holds = true;
const visit = root => {
  const doc = root.ownerDocument || root;
  const view = doc.defaultView;
  const others = [...root.adoptedStyleSheets].filter(sheet => ![...sheet.cssRules].some(rule => rule.cssText.includes(NAME)));
  if (on) {
    const sheet = new view.CSSStyleSheet();
    sheet.replaceSync(RULES);
    root.adoptedStyleSheets = [...others, sheet];
    if (root === doc) holds &&= view.getComputedStyle(doc.documentElement).getPropertyValue(`--${NAME}`).trim() === 'yes';
    if (told) {
      const blots = view.CSS.highlights.get(NAME) || new view.Highlight();
      for (const range of ranges(root, doc)) blots.add(range);
      view.CSS.highlights.set(NAME, blots);
    }
  } else {
    root.adoptedStyleSheets = others;
    view.CSS.highlights.delete(NAME);
  }
  for (const element of root.querySelectorAll('*')) {
    if (element.shadowRoot) visit(element.shadowRoot);
    if (element.localName === 'iframe' || element.localName === 'frame') {
      let inner = null;
      try { inner = element.contentDocument; } catch { inner = null; }
      if (inner && inner.documentElement) visit(inner);
    }
  }
};
visit(document);
return holds;
