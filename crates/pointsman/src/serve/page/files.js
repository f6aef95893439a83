// Files that a run keeps: screenshots as pictures, everything else as text, a part at a time.

import { getPart, path } from "./api.js";
import { bytes, h, loads, show, visible } from "./dom.js";

/** Bytes of a preview, of each further part, and of a picture that is loaded unasked. */
const [FIRST, PART, UNASKED] = [4_096, 65_536, 4 << 20];
/** Pictures that keep their bytes after they have left the document. */
const KEPT = 24;

let shown = [];

/** Loads what comes into view, and nothing else. */
const seen = new IntersectionObserver((found) => {
  for (const { target, isIntersecting } of found) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    target.load();
  }
}, { rootMargin: "150px" });

function picture(content, name) {
  const address = URL.createObjectURL(content);
  const gone = shown.filter(({ link }) => !link.isConnected).slice(0, Math.max(0, shown.length - KEPT));
  for (const old of gone) URL.revokeObjectURL(old.address);
  shown = shown.filter((it) => !gone.includes(it));
  const link = h("a", { href: address, target: "_blank", rel: "noopener", title: `${name}: open` }, h("img", { src: address, alt: `Screenshot ${name}`, decoding: "async" }));
  shown.push({ address, link });
  return link;
}

async function draw(box, where, name) {
  const first = await getPart(where, 0, FIRST - 1);
  if (first.type.startsWith("image/")) {
    const load = async () => show(box, picture((await getPart(where, 0, first.size - 1)).content, name));
    if (first.size <= UNASKED) await load();
    else show(box, loads(`Show picture of ${bytes(first.size)}`, load, { class: "more" }));
    return;
  }
  if (!first.type.startsWith("text/")) {
    show(box, h("p", { class: "dim" }, `${name}: ${bytes(first.size)} that are neither text nor a picture`));
    return;
  }
  // A part may end within a character: the decoder keeps its beginning for the next one.
  const decoder = new TextDecoder();
  const words = async (part, last) => decoder.decode(await part.content.arrayBuffer(), { stream: !last });
  let next = FIRST;
  const content = h("pre", { class: "code", tabindex: "0" }, await words(first, first.size <= FIRST));
  show(box, h("p", { class: "label" }, name), content);
  if (first.size <= FIRST) return;
  const more = loads(`Show more of ${bytes(first.size)}`, async () => {
    const part = await getPart(where, next, next + PART - 1);
    next += PART;
    content.append(visible(await words(part, next >= first.size)));
    if (next >= first.size) more.remove();
    else more.textContent = `Show more: ${bytes(first.size - next)} left`;
  }, { class: "more" });
  box.append(more);
}

/** A place for each file, which is filled when it is looked at. */
export function files(run, names) {
  if (!names || names.length === 0) return null;
  return h("div", { class: "files" }, names.map((name) => {
    const box = h("div", { class: `file ${name.endsWith(".png") ? "picture" : "words"}`, data: { file: name } });
    box.load = () => draw(box, path(["runs", run, "files", name]), name)
      .catch((error) => {
        const gone = error.status === 404;
        box.classList.toggle("gone", gone);
        show(box, gone ? h("p", { class: "dim" }, `${name} is no longer kept`) : loads(`${error.message}: load ${name} again`, () => box.load(), { class: "more" }));
      });
    seen.observe(box);
    return box;
  }));
}
