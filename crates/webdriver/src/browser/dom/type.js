  // Text goes into the field itself, one character after the other as keys would bring it. It
  // is put where the cursor of this document is, never where the browser's keys would go: no
  // frame that takes the focus gets any of it, and no field can take it for the path of a file.
  const KEY = { bubbles: true, cancelable: true, composed: true, view: window };
  const told = (element, kind, sign) => {
    const enter = sign === '\n';
    const code = enter ? 13 : sign.toUpperCase().codePointAt(0);
    const charCode = kind === 'keypress' ? sign.codePointAt(0) : 0;
    return element.dispatchEvent(new KeyboardEvent(kind, {
      ...KEY, key: enter ? 'Enter' : sign, shiftKey: enter, keyCode: charCode || code, which: charCode || code, charCode,
    }));
  };

  // An editor may take a text itself, before the browser puts it in.
  const announced = (element, text) => element.dispatchEvent(new InputEvent('beforeinput', {
    ...KEY, ...(text === '\n' ? { inputType: 'insertLineBreak' } : { inputType: 'insertText', data: text }),
  }));

  const holdsFocus = element => {
    const active = activeIn(document);
    return !!active && contains(element, active);
  };

  // What has taken the focus, in a few words.
  const taker = () => {
    const active = activeIn(document);
    if (!active || active === document.body) return 'nothing';
    const name = active.id || active.getAttribute('name') || '';
    return `${isFrame(active) ? 'the frame' : 'the element'} ${active.localName}${name ? '#' + name : ''}`;
  };

  const put = (element, sign) => {
    if (sign === '\n' && isEditable(element)) document.execCommand('insertLineBreak');
    else document.execCommand('insertText', false, sign);
  };

  const type = (selector, { text, once, like }) => {
    const found = find(selector);
    if (!found.element) return missing(found);
    const element = found.element;
    if (valueOf(element) === text) return { typed: 0 };
    if (look.likeness(element) !== like) return { changed: true };
    if (!holdsFocus(element)) element.focus({ preventScroll: true });
    if (isEditable(element)) getSelection().selectAllChildren(element);
    else if (element.select && valueOf(element)) element.select();
    const shape = () => `${element.localName} ${element.type} ${isEditable(element)} ${element.isConnected}`;
    const before = shape();
    const stays = () => holdsFocus(element) && shape() === before;
    if (!holdsFocus(element)) return { taker: taker(), typed: 0 };
    if (look.likeness(element) !== like) return { changed: true };
    if (valueOf(element)) document.execCommand('delete');
    let typed = 0;
    for (const sign of once ? [text] : text) {
      if (!stays()) break;
      let heeds = once || (told(element, 'keydown', sign) && stays() && told(element, 'keypress', sign));
      heeds &&= stays() && announced(element, sign);
      if (!stays()) break;
      if (heeds) put(element, sign);
      typed += 1;
      if (!once && stays()) told(element, 'keyup', sign);
    }
    const whole = once ? typed === 1 : typed === [...text].length;
    if (stays()) return { typed };
    if (!element.isConnected || shape() !== before) return { changed: true, typed };
    // A field that leads on to the next when it is full has taken it all.
    return { typed, taker: taker(), whole, framed: isFrame(activeIn(document) || document.body) };
  };

  Object.assign(functions, { type });
