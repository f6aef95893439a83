  // What a part of the page says, without what is written on its controls.
  const told = selector => {
    const found = find(selector);
    if (!found.element) return missing(found);
    const element = found.element;
    const shown = isShown(element) || [...element.querySelectorAll('*')].some(isShown);
    if (!shown) return { words: '' };
    let text = '';
    const walk = node => {
      if (node.nodeType === 3) text += node.data;
      if (node.nodeType !== 1 || node.matches('button,input,select,textarea,script,style,[role=button],a')) return;
      if (getComputedStyle(node).display === 'none') return;
      for (const child of (node.shadowRoot || node).childNodes) walk(child);
      text += ' ';
    };
    walk(element);
    return { words: squeeze(text).slice(0, 300) };
  };

  Object.assign(functions, { told });
