// A long list. Only its visible part is in the document.
//
// Items are in blocks. A block has an estimated height until it was drawn once, then its own.

const AROUND = 300;
/** Milliseconds after which what is due is drawn though the browser has asked for no frame. */
const LATE = 250;

export class Windowed {
  /**
   * `draw(index, old)` returns the element of a block, which may be the one that it returned before;
   * `estimate` is the height of an unknown one. A block that is known to be `empty(index)` is not in the document.
   */
  constructor(scroller, { draw, estimate, empty = () => false }) {
    Object.assign(this, { scroller, draw, estimate, empty });
    this.count = 0;
    this.heights = [];
    this.drawn = new Map();
    this.above = document.createElement("div");
    this.below = document.createElement("div");
    for (const spacer of [this.above, this.below]) spacer.setAttribute("role", "presentation");
    this.body = document.createElement("div");
    scroller.append(this.above, this.body, this.below);
    scroller.addEventListener("scroll", () => this.soon(), { passive: true });
    new ResizeObserver(() => this.soon()).observe(scroller);
  }

  resize(count) {
    this.count = count;
    this.heights.length = count;
    for (const [index, element] of this.drawn) {
      if (index < count) continue;
      element.remove();
      this.drawn.delete(index);
    }
    this.soon();
  }

  /** Forgets what was drawn and measured: everything looks different now. */
  reset() {
    for (const element of this.drawn.values()) element.remove();
    this.drawn.clear();
    this.heights = new Array(this.count);
    this.soon();
  }

  /** Draws a block anew, if it is in the document. */
  refresh(index) {
    const old = this.drawn.get(index);
    if (!old) return;
    const anchor = this.anchor();
    const element = this.draw(index, old);
    if (this.empty(index)) {
      old.remove();
      this.drawn.delete(index);
    } else {
      if (element !== old) old.replaceWith(element);
      this.drawn.set(index, element);
      this.heights[index] = element.offsetHeight;
    }
    this.keep(anchor);
    this.soon();
  }

  height(index) {
    return this.empty(index) ? 0 : this.heights[index] ?? this.estimate;
  }

  top(index) {
    let y = 0;
    for (let at = 0; at < index; at += 1) y += this.height(at);
    return y;
  }

  /** Scrolls so that a block is in the document. */
  reveal(index) {
    if (this.drawn.size === 0) {
      // Room to go there at once: what is on the way need not be drawn, nor read.
      this.above.style.height = `${this.top(this.count)}px`;
      this.scroller.scrollTop = Math.max(0, this.top(index) - this.scroller.clientHeight / 3);
    }
    this.update();
    // Blocks that were measured on the way may have moved it out again.
    for (let turn = 0; turn < 4 && !this.drawn.has(index); turn += 1) {
      this.scroller.scrollTop = Math.max(0, this.top(index) - this.scroller.clientHeight / 3);
      this.update();
    }
    return this.drawn.get(index);
  }

  soon() {
    if (this.asked) return;
    this.asked = true;
    const now = () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      this.asked = false;
      this.update();
    };
    const frame = requestAnimationFrame(now);
    // A browser whose drawing stands still asks for no frame: what depends on it, such as reading on, continues.
    const timer = setTimeout(now, LATE);
  }

  /** The first visible block, and where it is on the screen. */
  anchor() {
    const edge = this.scroller.getBoundingClientRect().top;
    const indices = [...this.drawn.keys()].sort((one, two) => one - two);
    for (const index of indices) {
      const place = this.drawn.get(index).getBoundingClientRect();
      if (place.bottom > edge) return { index, top: place.top };
    }
    return null;
  }

  keep(anchor) {
    const element = anchor && this.drawn.get(anchor.index);
    if (!element) return;
    const moved = element.getBoundingClientRect().top - anchor.top;
    if (Math.abs(moved) >= 1) this.scroller.scrollTop += moved;
  }

  update() {
    const { scrollTop, clientHeight } = this.scroller;
    // What is not shown has no height.
    if (clientHeight === 0) return;
    let index = 0;
    let y = this.body.offsetTop - this.above.offsetTop - this.above.offsetHeight;
    while (index < this.count && y + this.height(index) < scrollTop - AROUND) y += this.height(index++);
    const [first, before] = [index, y];
    while (index < this.count && y < scrollTop + clientHeight + AROUND) y += this.height(index++);
    const last = index;
    let after = 0;
    while (index < this.count) after += this.height(index++);
    const anchor = this.anchor();
    for (const [at, element] of this.drawn) {
      if (at >= first && at < last && !this.empty(at)) continue;
      element.remove();
      this.drawn.delete(at);
    }
    let previous = null;
    for (let at = first; at < last; at += 1) {
      if (this.empty(at)) continue;
      let element = this.drawn.get(at);
      if (!element) {
        element = this.draw(at);
        this.drawn.set(at, element);
        if (previous) previous.after(element);
        else this.body.prepend(element);
      }
      previous = element;
    }
    this.above.style.height = `${before}px`;
    this.below.style.height = `${after}px`;
    let changed = false;
    for (const [at, element] of this.drawn) {
      const height = element.offsetHeight;
      if (this.heights[at] !== height) changed = true;
      this.heights[at] = height;
    }
    this.keep(anchor);
    if (changed) this.soon();
  }
}
