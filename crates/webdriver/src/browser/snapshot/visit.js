  // All of the page.
  visit(document);
  return {
    url: location.href, origin: location.origin, title: squeeze(document.title, 300),
    language: attribute(document.documentElement, "lang"), controls, places, said, captchas, alerts,
    ready: document.readyState, document: performance.timeOrigin,
    status: performance.getEntriesByType("navigation")[0]?.responseStatus || 0,
  };
