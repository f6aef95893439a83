  // Sliders that are no native ones: those of a role, and those of a library that gives them
  // neither a role nor a value and tells about them itself.
  const LIBRARY_SLIDER = ".ui-slider";

  // What jQuery UI says of its slider; nothing where it is none of its own.
  function slides(element) {
    if (!matches(element, LIBRARY_SLIDER)) return null;
    try {
      const options = element.ownerDocument.defaultView.jQuery(element).slider("option");
      return options && typeof options === "object" ? options : null;
    } catch { return null; }
  }

  // A handle is a part of its slider.
  const isHandle = (element) => {
    const holder = element.parentElement && element.parentElement.closest(LIBRARY_SLIDER);
    return !!holder && slides(holder) !== null;
  };

  // The facts of such a slider, in the words of a native one. One with several handles has
  // several values.
  function slidOf(element) {
    const options = slides(element);
    if (!options) return {};
    const handles = element.querySelectorAll(".ui-slider-handle").length;
    const plain = (value) => Number.isFinite(value) ? String(value) : "";
    const { min, max, step } = options;
    return {
      type: handles === 1 ? "ui-slider" : "ui-slider-range",
      attributes: { ...attributesOf(element), min: plain(min), max: plain(max), step: plain(step) },
      value: handles === 1 ? plain(options.value) : null, disabled: !!options.disabled,
    };
  }
