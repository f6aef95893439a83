// The story of a run as it is read: a window over its entries, and the text that is being written.

import { getReady, path } from "./api.js";
import { failure } from "./dialog.js";
import { arrange, h, visible } from "./dom.js";
import { byEntry, entryElement } from "./story.js";
import { Windowed } from "./window.js";

/** Entries of a block in the document, of a request, and the requests that are kept. */
const [BLOCK, PAGE, KEPT] = [8, 64, 12];
/** Pixels from the end within which a reader follows what is added. */
const NEAR = 60;
/** Characters of a text that is being written. */
const LIVE = 16_384;
const AGAIN = 3000;

export class Reading {
  /** `hits()` returns the found items by name; `progress(at, of)` is told how far the server has read. */
  constructor(run, { hits, progress }) {
    Object.assign(this, { run, hits, progress, head: 0, selected: 0, level: 1, wanted: null, pages: new Map(), live: new Map(), settled: new Set() });
    this.element = h("div", { class: "story", id: "story", tabindex: "0", role: "log", "aria-live": "off", "aria-label": "Story" });
    this.list = new Windowed(this.element, { draw: (index, old) => this.block(index, old), estimate: 420 });
    this.writing = h("div", { class: "writing" });
    this.element.append(this.writing);
    // A person who scrolls wants to be elsewhere.
    for (const name of ["wheel", "touchmove", "pointerdown", "keydown"]) {
      this.element.addEventListener(name, () => { this.wanted = null; }, { passive: true });
    }
  }

  // -- pages of entries

  /** Reads a page, once at a time. */
  load(index) {
    const page = this.pages.get(index) ?? {};
    this.pages.set(index, page);
    page.loading ??= this.read(index, page);
    return page.loading;
  }

  async read(index, page) {
    try {
      const where = path(["runs", this.run, "story"], { from: index * PAGE + 1, limit: PAGE });
      const read = await getReady(where, this.progress);
      const items = byEntry(read.items);
      // Entries never change: those that are known stay, with what is drawn of them.
      for (const [seq, known] of page.items ?? []) items.set(seq, known);
      Object.assign(page, { items, last: read.next - 1, error: null });
      this.answered(read.items);
    } catch (error) {
      page.error = error;
      if (error.passes) setTimeout(() => this.again(index), AGAIN);
    }
    page.loading = null;
    this.progress(0, 0);
    for (const old of this.pages.keys()) {
      if (this.pages.size <= KEPT) break;
      if (Math.abs(old - index) > 2) this.pages.delete(old);
    }
    this.draw(index);
    if (this.wanted) this.reveal(this.wanted.seq, this.wanted.end);
  }

  /** Reads a page that could not be read. */
  again(index) {
    if (!this.pages.get(index)?.error) return;
    this.pages.delete(index);
    this.draw(index);
  }

  /** Draws the blocks of a page, where they are in the document. */
  draw(index) {
    for (let block = (index * PAGE) / BLOCK; block < ((index + 1) * PAGE) / BLOCK; block += 1) this.list.refresh(block);
  }

  /** Reads all that could not be read. */
  restored() {
    for (const index of [...this.pages.keys()]) this.again(index);
  }

  /** The run has so many entries now. */
  grow(head) {
    this.head = head;
    this.list.resize(Math.ceil(head / BLOCK));
    const last = Math.floor((head - 1) / PAGE);
    if (this.pages.has(last) || this.live.size > 0) this.load(last);
  }

  // -- entries

  block(index, old) {
    const [first, last] = [index * BLOCK + 1, Math.min(this.head, (index + 1) * BLOCK)];
    const number = Math.floor((first - 1) / PAGE);
    const page = this.pages.get(number);
    if (!(page?.last >= last) && !page?.error) this.load(number);
    if (!page?.items) {
      if (page?.error) return h("div", { class: "block" }, failure(page.error, () => this.again(number)));
      return h("div", { class: "block waiting", "aria-hidden": "true" });
    }
    const block = old?.entries ? old : h("div", {});
    const entries = new Map();
    for (let seq = first; seq <= last; seq += 1) {
      const items = page.items.get(seq) ?? [];
      const shown = this.shown(items);
      if (shown.length === 0) continue;
      const key = shown.map((item) => item.index).join();
      const known = block.entries?.get(seq);
      const same = known?.items === items && known.key === key;
      entries.set(seq, same ? known : { items, key, element: entryElement(this.run, seq, shown) });
    }
    block.entries = entries;
    block.className = entries.size > 0 ? "block" : "block empty";
    arrange(block, [...entries.values()].map((it) => it.element));
    this.mark(block);
    return block;
  }

  /** The items of an entry that the filter shows. The selected entry is always shown, at least by what matters most in it. */
  shown(items) {
    const chosen = items[0]?.seq === this.selected;
    const level = chosen ? Math.min(this.level, Math.max(...items.map((item) => item.level))) : this.level;
    const found = (item) => chosen && this.hits().has(`${item.seq}.${item.index}`);
    return items.filter((item) => item.level >= level || found(item));
  }

  /** Marks the selected entry, and what was found. */
  mark(element = this.element) {
    for (const entry of element.querySelectorAll(".entry")) entry.classList.toggle("selected", Number(entry.dataset.seq) === this.selected);
    for (const item of element.querySelectorAll(".item")) item.classList.toggle("hit", this.hits().has(item.dataset.id));
  }

  /** Other items are found. */
  found() {
    this.mark();
    this.list.refresh(Math.floor((this.selected - 1) / BLOCK));
  }

  select(seq) {
    const blocks = [this.selected, seq].map((it) => Math.floor((it - 1) / BLOCK));
    this.selected = seq;
    for (const index of new Set(blocks)) this.list.refresh(index);
  }

  filter(level) {
    this.level = level;
    this.list.reset();
    this.reveal(this.selected);
  }

  /** Returns the next entry that the filter shows, from one on; nothing if there is none. */
  async next(from, by) {
    for (let seq = from; seq >= 1 && seq <= this.head; seq += by) {
      if (this.level === 1) return seq;
      const number = Math.floor((seq - 1) / PAGE);
      if (!this.pages.get(number)?.items) await this.load(number);
      const items = this.pages.get(number)?.items;
      if (!items) return null;
      if (items.get(seq)?.some((item) => item.level >= this.level)) return seq;
    }
    return null;
  }

  // -- scrolling

  /** Brings an entry into view as soon as it is there; with `end`, all that follows it, too. */
  reveal(seq, end = false) {
    this.wanted = { seq, end };
    const block = this.list.reveal(Math.floor((seq - 1) / BLOCK));
    const entry = block?.querySelector(`[data-seq="${seq}"]`);
    // An entry without an item is in no block.
    if (entry || this.pages.get(Math.floor((seq - 1) / PAGE))?.last >= seq) this.wanted = null;
    if (!entry) return;
    if (end) {
      this.element.scrollTop = this.element.scrollHeight;
      return;
    }
    const [place, view] = [entry.getBoundingClientRect(), this.element.getBoundingClientRect()];
    if (place.top < view.top + 8) this.element.scrollTop += place.top - view.top - 24;
    else if (place.bottom > view.bottom - 8) this.element.scrollTop += Math.min(place.top - view.top - 24, place.bottom - view.bottom + 24);
  }

  /** Whether the reader is at the end, or on the way there. */
  is_at_end() {
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    return this.wanted?.end === true || scrollHeight - scrollTop - clientHeight < NEAR;
  }

  // -- what is being written

  write(effect, text) {
    // The answer may be read before the last of its text arrives here.
    if (this.settled.has(effect)) return;
    this.live.set(effect, `${this.live.get(effect) ?? ""}${text}`.slice(-LIVE));
    this.show_live();
  }

  /** Drops the text of an effect, or all of it. */
  discard(effect) {
    if (effect) this.live.delete(effect);
    else this.live.clear();
    this.show_live();
  }

  /** The story has the whole answer now. */
  answered(items) {
    for (const item of items) {
      if (!item.effect || !["answered", "stopped"].includes(item.kind)) continue;
      this.settled.add(item.effect);
      this.live.delete(item.effect);
    }
    this.show_live();
  }

  show_live() {
    this.drawing ??= requestAnimationFrame(() => {
      this.drawing = null;
      const end = this.is_at_end();
      const known = new Map([...this.writing.children].map((it) => [it.dataset.effect, it]));
      arrange(this.writing, [...this.live].map(([effect, text]) => {
        const box = known.get(effect) ?? h("div", { class: "live", data: { effect } }, h("p", { class: "label" }, "writing…"), h("p", {}));
        box.lastChild.textContent = visible(text);
        return box;
      }));
      if (end && this.live.size > 0) this.element.scrollTop = this.element.scrollHeight;
    });
  }
}
