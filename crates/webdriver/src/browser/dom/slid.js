  // Sliders that are no native ones, and where they stand.
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

