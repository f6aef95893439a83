  // Sliders that are no native ones, and what moves them.
  // What jQuery UI says of its slider: it has neither a role nor a value of its own.
  const library = (element, ...asked) => {
    if (!element.matches('.ui-slider')) return null;
    try { return element.ownerDocument.defaultView.jQuery(element).slider(...asked); } catch { return null; }
  };

  const numeric = value => value !== null && value !== '' && Number.isFinite(Number(value)) ? Number(value) : null;

  // What a slider stands at; nothing where it is no such slider.
  const slid = element => {
    if (element.matches('.ui-slider')) return numeric(library(element, 'value'));
    return element.matches('[role=slider]') ? numeric(element.getAttribute('aria-valuenow')) : null;
  };

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
