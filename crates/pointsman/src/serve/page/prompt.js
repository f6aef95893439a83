// The prompts that a step sent to a model. A conversation may have thousands of messages: only the
// visible ones are requested, and in the document.

import { getReady, path } from "./api.js";
import { failure } from "./dialog.js";
import { counted, h, show } from "./dom.js";
import { text } from "./story.js";
import { Windowed } from "./window.js";

/** Parts of a block, which a request reads; a moment has the first of them. */
const BLOCK = 8;

function message(part) {
  if (part.next !== null) return null;
  try {
    const parsed = JSON.parse(part.text);
    const role = parsed.role ?? Object.keys(parsed)[0];
    const said = parsed.content ?? parsed.text ?? parsed[role]?.text ?? parsed[role];
    if (typeof said === "string") return { role, said };
  } catch {
    // A part that is no JSON is shown as it is.
  }
  return null;
}

function partElement(part, where) {
  const found = message(part);
  return h("section", { class: "message" }, found
    ? [h("p", { class: "label" }, found.role), h("pre", { class: "code", tabindex: "0" }, found.said)]
    : text(part, where));
}

/** Draws the prompts of a moment. */
export function prompt(element, run, moment) {
  if (moment.prompts.length === 0) {
    show(element, h("p", { class: "dim" }, "This step sent no prompt. The entry that asks the model shows it."));
    return;
  }
  const blocks = moment.prompts.flatMap((asked, prompt) =>
    Array.from({ length: Math.max(1, Math.ceil(asked.count / BLOCK)) }, (_, at) => ({ asked, prompt, from: at * BLOCK, parts: at === 0 ? asked.parts : null })));
  const scroller = h("div", { class: "parts", tabindex: "0", role: "group", "aria-label": "Parts of the prompt" });
  const load = async (index) => {
    const block = blocks[index];
    if (block.loading) return;
    block.loading = true;
    block.error = null;
    try {
      const where = path(["runs", run, "entries", moment.seq, "prompt"], { prompt: block.prompt, from: block.from, limit: BLOCK });
      block.parts = (await getReady(where)).parts;
    } catch (error) {
      block.error = error;
    }
    block.loading = false;
    list.refresh(index);
  };
  const draw = (index) => {
    const { asked, prompt, from, parts, error } = blocks[index];
    if (!parts) {
      if (error) return h("div", { class: "block" }, failure(error, () => load(index)));
      load(index);
      return h("div", { class: "block waiting", "aria-hidden": "true" });
    }
    return h("div", { class: "block" },
      from === 0 ? h("h3", {}, `Prompt of effect ${asked.effect} (${counted(asked.count, "part")})`) : null,
      parts.map((part, at) => partElement(part, { run, entry: moment.seq, of: `prompt.${prompt}.${from + at}` })));
  };
  show(element, scroller);
  const list = new Windowed(scroller, { draw, estimate: 600 });
  list.resize(blocks.length);
}
