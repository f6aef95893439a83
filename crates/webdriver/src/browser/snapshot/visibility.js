  // Whether an element can be seen: by how it is drawn, and by what a pointer would meet.
  const SMALLEST = 4, CLEAR = 0.1, OPAQUE = 0.9, MOST_VEILS = 3000;
  const numbersOf = (text) => (text.match(/-?[\d.]+(?:e-?\d+)?(?:px|%)?/g) || []);
  const lengthOf = (text, whole) => text.endsWith("%") ? parseFloat(text) * whole / 100 : parseFloat(text);

  const alphaOf = (colour) => {
    if (colour === "transparent") return 0;
    const found = /^rgba\(.*,\s*([\d.]+)\)$|\/\s*([\d.]+%?)\s*\)$/.exec(colour);
    return found ? lengthOf(found[1] || found[2], 1) : 1;
  };

  // What is left of a box that a shape cuts, as width and height.
  function cutBy(shape, box) {
    const parts = numbersOf(shape);
    const across = (text) => lengthOf(text, box.width), down = (text) => lengthOf(text, box.height);
    if (shape.startsWith("inset(")) {
      const [top, right = top, bottom = top, left = right] = numbersOf(shape.split("round")[0]);
      return [box.width - across(left || "0") - across(right || "0"), box.height - down(top || "0") - down(bottom || "0")];
    }
    const [radius] = shape.replace(/\bat\b.*/, ")").split("(").slice(1);
    const radii = numbersOf(radius || "");
    if (shape.startsWith("circle(") && radii.length) return [2 * across(radii[0]), 2 * across(radii[0])];
    if (shape.startsWith("ellipse(") && radii.length > 1) return [2 * across(radii[0]), 2 * down(radii[1])];
    if (shape.startsWith("polygon(") || shape.startsWith("path(")) {
      const wide = parts.filter((_, at) => at % 2 === 0).map(across), high = parts.filter((_, at) => at % 2).map(down);
      const span = (all) => all.length ? Math.max(...all) - Math.min(...all) : 0;
      return [span(wide), span(high)];
    }
    return [box.width, box.height];
  }

  // Whether styles of its own leave nothing of an element.
  function isCut(at, style) {
    const small = ([width, height]) => width < SMALLEST || height < SMALLEST;
    if (style.clip !== "auto" && /^(absolute|fixed)$/.test(style.position)) {
      const [top, right, bottom, left] = numbersOf(style.clip).map(parseFloat);
      if (small([right - left, bottom - top])) return true;
    }
    if (style.clipPath !== "none" && small(cutBy(style.clipPath, at.getBoundingClientRect()))) return true;
    const mask = style.maskImage || "none";
    if (mask !== "none") {
      const colours = mask.match(/rgba?\([^)]*\)|transparent/g) || [];
      if (colours.length && colours.every((colour) => alphaOf(colour) <= CLEAR)) return true;
      if (mask.includes("url(") && matches(at, NATIVE)) return true;
    }
    const turned = /^matrix3d\((.*)\)$/.exec(style.transform);
    return style.backfaceVisibility === "hidden" && !!turned && Number(turned[1].split(",")[10]) < 0;
  }

  // How an element and all that is around it is drawn.
  const drawings = new Map();
  function drawingOf(at) {
    if (!at) return { opacity: 1, cut: false, hidden: false, inert: false, fixed: false, turned: false };
    if (drawings.has(at)) return drawings.get(at);
    const style = styleOf(at), outer = drawingOf(above(at));
    const [, faded = "1"] = /opacity\(([\d.]+%?)\)/.exec(style.filter) || [];
    const drawing = {
      opacity: outer.opacity * Number(style.opacity) * lengthOf(faded, 1),
      cut: outer.cut || !outer.turned && isCut(at, style),
      hidden: outer.hidden || attribute(at, "aria-hidden") === "true",
      inert: outer.inert || !!at.inert,
      // What is fixed within a frame goes with the frame.
      fixed: style.position === "fixed" || outer.fixed && above(at).ownerDocument === at.ownerDocument,
      turned: outer.turned || style.transform.startsWith("matrix3d"),
    };
    drawings.set(at, drawing);
    return drawing;
  }
  const isDrawn = (element) => drawingOf(element).opacity > CLEAR && !drawingOf(element).cut;

  // The part of an element that the boxes around it let be seen. What can be scrolled into view
  // counts as seen, and where it is now is not known.
  function showing(element) {
    const own = element.getBoundingClientRect();
    let { left, top, right, bottom } = own, scrolls = false, outermost = false;
    let position = styleOf(element).position;
    for (let at = element.parentElement || hostOf(element); at && !outermost; at = above(at)) {
      if (at.ownerDocument !== element.ownerDocument || matches(at, "html, body")) break;
      const style = styleOf(at);
      if (position === "fixed") break;
      const holds = position !== "absolute" || style.position !== "static" || style.transform !== "none";
      if (!holds || /^(contents|inline)$/.test(style.display)) continue;
      position = style.position;
      if (style.overflow === "visible") continue;
      const box = at.getBoundingClientRect();
      if (box.width < SMALLEST || box.height < SMALLEST) return { shut: true };
      if (/auto|scroll/.test(style.overflow)) {
        scrolls = true;
        left = box.left; top = box.top; right = box.right; bottom = box.bottom;
        continue;
      }
      left = Math.max(left, box.left); top = Math.max(top, box.top);
      right = Math.min(right, box.right); bottom = Math.min(bottom, box.bottom);
    }
    const shut = right - left < SMALLEST || bottom - top < SMALLEST;
    if (scrolls) {
      left = Math.max(left, own.left); top = Math.max(top, own.top);
      right = Math.min(right, own.right); bottom = Math.min(bottom, own.bottom);
    }
    return { shut, left, top, right, bottom };
  }

  // Whether what lies over a field leaves nothing of it, and is not a dialog that waits for an answer.
  const isOpaque = (at, style = styleOf(at)) => drawingOf(at).opacity >= OPAQUE
    && (alphaOf(style.backgroundColor) >= OPAQUE || style.backgroundImage !== "none" || matches(at, "img, video, canvas, iframe, object, embed"));
  const waits = (at) => {
    for (let up = at; up; up = above(up)) if (matches(up, "dialog, [role=dialog], [role=alertdialog], [aria-modal=true]")) return true;
    return drawingOf(at).fixed;
  };

  // What lets the pointer through and hides what is under it all the same.
  let veils = null;
  function veilsOf(root) {
    const all = root.querySelectorAll("body *");
    if (veils || all.length > MOST_VEILS) return veils || [];
    veils = [...all].filter((at) => {
      const style = styleOf(at);
      return style.pointerEvents === "none" && /^(absolute|fixed|relative|sticky)$/.test(style.position)
        && isOpaque(at, style) && isShown(at) && !matches(at, NATIVE);
    });
    return veils;
  }

  function isCovered(element, style) {
    const { shut, left, top, right, bottom } = showing(element);
    const view = element.ownerDocument.defaultView, root = element.getRootNode();
    // What is scrolled away, and what lets the pointer through, is not met where it is.
    if (shut || right - left < 1 || bottom - top < 1 || style.pointerEvents === "none" || !root.elementsFromPoint) return false;
    const isOwn = (at) => at === element || element.contains(at);
    const lines = matches(element, "textarea, [contenteditable], input:not([type=checkbox], [type=radio], [type=file], [type=range])");
    const over = lines ? veilsOf(element.ownerDocument) : [];
    let met = 0;
    for (const [x, y] of [[.5, .5], [.1, .2], [.9, .2], [.1, .8], [.9, .8]]) {
      const [across, down] = [left + (right - left) * x, top + (bottom - top) * y];
      if (across < 0 || down < 0 || across >= view.innerWidth || down >= view.innerHeight) continue;
      const pile = root.elementsFromPoint(across, down);
      const depth = pile.findIndex(isOwn);
      const within = (at) => { const box = at.getBoundingClientRect(); return box.left <= across && box.right >= across && box.top <= down && box.bottom >= down; };
      if (pile.slice(0, Math.max(depth, 0)).some(waits)) continue;
      met += 1;
      const later = (at) => !!(element.compareDocumentPosition(at) & 4) || Number(styleOf(at).zIndex) > 0;
      const veiled = () => over.some((at) => !at.contains(element) && later(at) && within(at));
      // One point that can be seen is enough.
      if (depth >= 0 && !pile.slice(0, depth).some((at) => isOpaque(at)) && !veiled()) return false;
    }
    return met > 0;
  }

  // Whether neither a line, nor what is typed into it, stands out from what is behind it.
  function isFaint(element, style) {
    if (!matches(element, "textarea, input:not([type=checkbox], [type=radio], [type=file], [type=range], [type=color])")) return false;
    if (style.appearance !== "none" && /^auto/.test(style.appearance) && alphaOf(style.backgroundColor) > CLEAR && style.borderTopStyle === "inset") return false;
    const behind = (at) => {
      for (; at; at = above(at)) {
        const { backgroundColor, backgroundImage } = styleOf(at);
        if (backgroundImage !== "none") return null;
        if (alphaOf(backgroundColor) > CLEAR) return backgroundColor;
      }
      return "rgb(255, 255, 255)";
    };
    const back = behind(above(element)), own = behind(element);
    if (back === null || own === null || own !== back) return false;
    const lost = (colour) => alphaOf(colour) <= CLEAR || colour === own;
    const edged = ["Top", "Right", "Bottom", "Left"].some((side) => parseFloat(style["border" + side + "Width"]) > 0
      && style["border" + side + "Style"] !== "none" && !lost(style["border" + side + "Color"]));
    return lost(style.webkitTextFillColor || style.color) && !edged && style.boxShadow === "none" && style.textShadow === "none";
  }

  // Whether nobody can scroll to it.
  function isFar(element) {
    const rect = element.getBoundingClientRect(), view = element.ownerDocument.defaultView;
    const [right, bottom] = [rect.right + view.scrollX, rect.bottom + view.scrollY];
    const wide = Math.max(element.ownerDocument.documentElement.scrollWidth, view.innerWidth);
    if (right <= 0 || bottom <= 0 || rect.left + view.scrollX > wide) return true;
    if (drawingOf(element).fixed && (rect.right <= 0 || rect.bottom <= 0 || rect.left >= view.innerWidth || rect.top >= view.innerHeight)) return true;
    return !!view.frameElement && isFar(view.frameElement);
  }

  function sightOf(element) {
    const style = styleOf(element), drawing = drawingOf(element);
    const tab = attribute(element, "tabindex");
    const rendered = element.getClientRects().length > 0 && style.display !== "none";
    return {
      rendered, visible: style.visibility === "visible", opacity: drawing.opacity,
      clipped: drawing.cut || rendered && !!showing(element).shut, far: isFar(element), inert: drawing.inert,
      covered: rendered && (isCovered(element, style) || isFaint(element, style)),
      aria_hidden: drawing.hidden, tabindex: tab === "" ? null : parseInt(tab, 10) || 0,
      parent_rendered: !above(element) || isShown(above(element)),
    };
  }
