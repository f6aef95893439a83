  // One field, looked at by itself: what it is, what it is called, and whether it is seen.
  function alone(element) {
    controls.length = 0; places.length = 0; placeOf.clear(); drawings.clear(); veils = null;
    const seen = { ...base(element), what: "field", names: namesOf(element), editable: isEditable(element), stand_in: standsIn(element), ...slidOf(element) };
    return { seen, places: [...places] };
  }
  // What must not change before it is typed into.
  function likeness(element) {
    const { associated, wrapping, labelled_by, before, aria, title, placeholder } = namesOf(element);
    return JSON.stringify([element.localName, element.type || "", attribute(element, "role"), isEditable(element),
      performance.timeOrigin, associated, wrapping, labelled_by, before, aria, title, placeholder]);
  }
  const isShut = (element) => !!showing(element).shut;
  return { alone, likeness, isShut, aimOf, originOf };
