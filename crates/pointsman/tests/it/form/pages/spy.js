// Tells the server what reaches the page's fields and controls, one note for each event.
(() => {
  const named = element =>
    element.name || element.id || element.getAttribute?.('aria-label') || element.localName || '';
  const note = event => {
    const element = event.composedPath()[0];
    navigator.sendBeacon('/note', JSON.stringify({
      kind: event.type,
      field: named(element),
      tag: element.localName,
      value: element.isContentEditable ? element.textContent : element.value ?? '',
      how: event.inputType ?? event.key ?? '',
      trusted: event.isTrusted,
    }));
  };
  for (const kind of ['keydown', 'input', 'change', 'click']) {
    document.addEventListener(kind, note, true);
  }
})();
