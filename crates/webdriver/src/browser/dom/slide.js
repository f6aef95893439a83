  // Goes to a slider's handle, and tells where it stands and how far it goes.
  const slide = async selector => {
    // What the last keys have moved may be drawn a moment later.
    await turn();
    const found = find(selector);
    if (!found.element) return missing(found);
    const element = found.element;
    const now = slid(element);
    if (now === null) return { native: element.localName === 'input' };
    const options = library(element, 'option');
    const handle = options ? element.querySelector('.ui-slider-handle') || element : element;
    show(handle);
    if (activeIn(document) !== handle) handle.focus({ preventScroll: true });
    const told = options || { min: element.getAttribute('aria-valuemin'), max: element.getAttribute('aria-valuemax') };
    return { native: false, handle, now, min: numeric(told.min), max: numeric(told.max), off: !!told.disabled || isOff(element) };
  };

  Object.assign(functions, { slide });
