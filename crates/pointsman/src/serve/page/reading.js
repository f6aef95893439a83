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
    this.list = new Windowed(this.element, { draw: (index, old) => this.block(index, old), estimate: 420, empty: (index) => this.empty(index) });
    this.writing = h("div", { class: "writing" });
    this.element.append(this.writing);
    // A person who scrolls wants to be elsewhere.
    for (const name of ["wheel", "touchmove", "pointerdown", "keydown"]) {
      this.element.addEventListener(name, () => { this.wanted = null; }, { passive: true });
    }
  }

  // -- pages of entries

  /** Reads a page, once at a time: whole, or what the filter shows of it and of the pages after it. */
  load(index, whole = this.level === 1) {
    const page = this.pages.get(index) ?? {};
    this.pages.set(index, page);
    // One such answer may fill many pages.
    if (!page.loading && (whole || !this.searching)) page.loading = this.read(index, page, whole);
    return page.loading;
  }

  async read(index, page, whole) {
    const level = whole ? 1 : this.level;
    this.searching ||= !whole;
    try {
      const where = path(["runs", this.run, "story"], { from: index * PAGE + 1, limit: PAGE, level: whole ? null : level });
      const read = await getReady(where, this.progress);
      if (whole || level === this.level) this.fill(index, page, read, level);
      this.answered(read.items);
    } catch (error) {
      // What is known of the page stays.
      page.error = error;
      if (error.passes) setTimeout(() => this.again(index), AGAIN);
    }
    page.loading = null;
    if (!whole) this.searching = false;
    this.progress(0, 0);
    this.forget(index);
    if (whole) this.draw(index);
    else for (const block of [...this.list.drawn.keys()]) this.list.refresh(block);
    if (this.wanted) this.reveal(this.wanted.seq, this.wanted.end);
  }

  /** Puts what was read into its page, and into those after it that a search has passed. */
  fill(index, page, read, level) {
    const all = byEntry(read.items);
    for (let at = index; at === index || at * PAGE + 1 < read.next; at += 1) {
      const to = at === index ? page : this.pages.get(at) ?? {};
      if (at !== index && (to.items || to.loading)) continue;
      const items = new Map([...all].filter(([seq]) => Math.floor((seq - 1) / PAGE) === at));
      // Entries never change: those that are known stay, with what is drawn of them.
      const known = to.level > level ? [] : to.items ?? [];
      for (const [seq, old] of known) items.set(seq, old);
      Object.assign(to, { items, level, last: Math.min(read.next - 1, (at + 1) * PAGE), error: null, filled: null });
      // The last one to be forgotten.
      this.pages.delete(at);
      this.pages.set(at, to);
    }
  }

  /**
   * Forgets what is in pages, those first that were read first: never one on the screen, nor those around the one
   * just read. Which of their blocks are empty is kept, so that nothing moves.
   */
  forget(index) {
    const seen = new Set([...this.list.drawn.keys()].map((block) => Math.floor((block * BLOCK) / PAGE)));
    let held = [...this.pages.values()].reduce((sum, page) => sum + (page.items?.size ?? 0), 0);
    for (const [old, page] of this.pages) {
      if (held <= KEPT * PAGE) break;
      if (Math.abs(old - index) <= 2 || seen.has(old) || page.loading || !page.items?.size) continue;
      held -= page.items.size;
      this.fill_of(page);
      page.items = null;
    }
  }

  /** Whether nothing of a block is shown, as far as its entries are known. */
  empty(index) {
    const page = this.pages.get(Math.floor((index * BLOCK) / PAGE));
    if (!(page?.last >= Math.min(this.head, (index + 1) * BLOCK)) || this.holds(index)) return false;
    if (!page.items && page.filled?.level !== this.level) return false;
    return !this.fill_of(page).has(index);
  }

  /** The blocks of a page in which something is shown. */
  fill_of(page) {
    if (page.filled?.level !== this.level) {
      const shown = [...page.items].filter(([, items]) => items.some((item) => item.level >= this.level));
      page.filled = { level: this.level, blocks: new Set(shown.map(([seq]) => Math.floor((seq - 1) / BLOCK))) };
    }
    return page.filled.blocks;
  }

  /** Whether what the filter shows of an entry has been read. */
  knows(seq) {
    const page = this.pages.get(Math.floor((seq - 1) / PAGE));
    return Boolean(page?.items) && page.last >= seq;
  }

  /** Whether the selected entry is in a block. */
  holds(index) {
    return Math.floor((this.selected - 1) / BLOCK) === index;
  }

  /** Reads a page again that could not be read. */
  again(index) {
    const page = this.pages.get(index);
    if (!page?.error) return;
    page.error = null;
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
    // Whole, since it tells which text has been written to its end.
    if (this.pages.has(last) || this.live.size > 0) this.load(last, true);
  }

  // -- entries

  block(index, old) {
    const [first, last] = [index * BLOCK + 1, Math.min(this.head, (index + 1) * BLOCK)];
    const number = Math.floor((first - 1) / PAGE);
    const page = this.pages.get(number);
    // The selected entry is shown whatever the filter hides.
    const whole = this.level === 1 || this.holds(index);
    if ((!this.knows(last) || (whole && page.level > 1)) && !page?.error) this.load(number, whole);
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
    const lacks = page.error && !(page.last >= last);
    block.className = entries.size > 0 || lacks ? "block" : "block empty";
    const elements = [...entries.values()].map((it) => it.element);
    if (lacks) elements.push(h("div", {}, failure(page.error, () => this.again(number))));
    arrange(block, elements);
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
    this.list.soon();
  }

  filter(level) {
    this.level = level;
    for (const [at, page] of this.pages) {
      if ((page.level > level || !page.items) && !page.loading) this.pages.delete(at);
    }
    this.list.reset();
    this.reveal(this.selected);
  }

  /** Returns the next entry that the filter shows, from one on; nothing if there is none. */
  async next(from, by, signal) {
    let seq = from;
    while (seq >= 1 && seq <= this.head) {
      if (this.level === 1) return seq;
      if (this.knows(seq)) {
        const items = this.pages.get(Math.floor((seq - 1) / PAGE)).items.get(seq);
        if (items?.some((item) => item.level >= this.level)) return seq;
        seq += by;
        continue;
      }
      // The server searches thousands of entries at once.
      const found = await getReady(path(["runs", this.run, "next"], { from: seq, level: this.level, back: by < 0 }), this.progress, signal);
      if (found.entry !== null) return found.entry;
      seq = found.next;
      this.progress(seq, this.head);
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
    if (entry || (this.knows(seq) && this.pages.get(Math.floor((seq - 1) / PAGE)).level === 1)) this.wanted = null;
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
