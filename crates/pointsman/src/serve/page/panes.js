// One moment besides its story: why, budgets, data.

import { getReady, path } from "./api.js";
import { button, duration, grouped, h, money, show } from "./dom.js";
import { text } from "./story.js";

function amount(budget, number) {
  if (budget.charge === "time") return duration(number);
  if (budget.charge === "money") return money(number);
  return grouped(number);
}

function bar(name, used, max, words, note) {
  const share = max > 0 ? Math.min(1, used / max) : 1;
  const tone = share >= 1 ? "bad" : share >= 0.8 ? "warning" : "good";
  const meter = h("div", { class: `bar ${tone}`, role: "meter", "aria-label": name, "aria-valuemin": 0, "aria-valuemax": max, "aria-valuenow": used, "aria-valuetext": words }, h("span", {}));
  meter.firstChild.hidden = used === 0;
  meter.firstChild.style.width = `${share * 100}%`;
  return h("div", { class: "budget" }, h("div", { class: "row" }, h("span", { class: "name" }, name), h("span", { class: "figure" }, words)), meter, note ? h("p", { class: "note" }, note) : null);
}

const BOUNDS = { steps: "visits", model_calls: "model calls", tool_calls: "tool calls" };

/** Budgets as bars, and the calls and visits beside the certificate. */
export function budgets(element, moment) {
  const drawn = moment.view.budgets.map((budget) => {
    const used = Math.max(0, budget.max - budget.left);
    const words = `${amount(budget, used)} of ${amount(budget, budget.max)}`;
    return bar(budget.name.replaceAll("_", " "), used, budget.max, words, budget.closed ? "used up" : null);
  });
  const bounds = moment.bounds.map((bound) =>
    bar(BOUNDS[bound.name] ?? bound.name, bound.used, bound.max, `${grouped(bound.used)} of at most ${grouped(bound.max)}`));
  // Visits are counted for a whole run alone.
  const per = moment.bounds.some((bound) => bound.name === "steps") ? "run" : "turn";
  show(element,
    h("h3", {}, "Budgets"), drawn.length > 0 ? [drawn, h("p", { class: "dim" }, "A budget may start again, for example with a turn, a phase or a restart.")] : h("p", { class: "dim" }, "This chart has no budgets."),
    h("h3", {}, "Certificate"), h("p", { class: "dim" }, `The worst case of a ${per}, proved before the run began.`), bounds);
}

/** Why the step went the way it did. */
export function why(element, moment) {
  const { why: step, view } = moment;
  const hops = step.hops.map((hop) => h("article", { class: "hop" },
    h("p", { class: "taken" }, h("span", { class: "state-name" }, hop.because === "began" ? "start" : hop.from), h("span", { class: "because" }, ` ${hop.because} → `), h("span", { class: "state-name" }, hop.to ?? "the end")),
    hop.spent ? h("p", { class: "dim" }, `spends one of the budget ${hop.spent}`) : null,
    hop.not_taken.length > 0 ? h("details", {}, h("summary", {}, `${hop.not_taken.length} not taken`),
      h("ul", {}, hop.not_taken.map(([outcome, to]) => h("li", {}, `${outcome} → ${to}`)))) : null));
  const verdicts = step.verdicts.map((verdict) => h("article", { class: "hop warning" },
    h("p", {}, h("strong", {}, `${verdict.level}: ${verdict.rule.replaceAll("_", " ")}`)), h("p", {}, verdict.reason), verdict.advice ? h("p", { class: "dim" }, verdict.advice) : null));
  const left = step.budgets.map((budget) => h("tr", {}, h("th", { scope: "row" }, budget.name.replaceAll("_", " ")), h("td", {}, amount(budget, budget.left)), h("td", {}, `of ${amount(budget, budget.max)}`)));
  show(element,
    h("p", { class: "lead" }, "Event ", h("code", {}, step.event), step.hops.length === 0 ? " changed no state." : " led to:"),
    hops, verdicts,
    step.failed?.length > 0 ? [h("h3", {}, "Failed attempts"), h("ul", {}, step.failed.map((why) => h("li", {}, why)))] : null,
    h("dl", { class: "facts" },
      h("dt", {}, "State"), h("dd", {}, view.seen_as && view.seen_as !== view.state ? `${view.state}, seen as ${view.seen_as}` : view.state),
      h("dt", {}, "Time in it"), h("dd", {}, duration(view.in_state_ms)),
      h("dt", {}, "Visits to all states"), h("dd", {}, grouped(view.visits)),
      moment.stage ? [h("dt", {}, "Stage"), h("dd", {}, moment.stage)] : null),
    left.length > 0 ? [h("h3", {}, "Budgets left"), h("table", { class: "plain" }, h("tbody", {}, left))] : null);
}

function changed(change) {
  // An empty text would be nothing to see.
  const [before, after] = [change.before, change.after].map((value) => (value === "" ? '""' : value));
  return h("li", {}, h("code", {}, change.path || "/"),
    before === null ? null : h("del", { class: "removed" }, before),
    after === null ? null : h("ins", { class: "added" }, after));
}

/** What differs from another moment, in a list. */
async function compared(element, where, none) {
  try {
    const { changes, more } = await getReady(await where);
    show(element, changes.length === 0 ? h("p", { class: "dim" }, none) : h("ul", { class: "changes" }, changes.slice(0, 60).map(changed)),
      more || changes.length > 60 ? h("p", { class: "dim" }, "and more") : null);
  } catch (error) {
    show(element, h("p", { class: "bad" }, error.message, " ", button("Try again", () => compared(element, where, none), { class: "more" })));
  }
}

/** The agent's data, and what changed in it. `original` is the last entry of the run that it was forked from. */
export function data(element, run, moment, forked, original) {
  const [step, fork] = [h("div", {}), h("div", {})];
  const where = ["runs", run, "entries", moment.seq, "changes"];
  compared(step, path(where), "Nothing changed in this step.");
  if (forked && moment.seq > forked.at) {
    const beside = async () => path(where, { run: forked.run, with: Math.min(moment.seq, (await original) ?? moment.seq) });
    compared(fork, beside(), "Both runs have the same data here.");
  }
  show(element, h("h3", {}, "Changed in this step"), step,
    forked && moment.seq > forked.at ? [h("h3", {}, "Compared with the run that it was forked from"), fork] : null,
    h("h3", {}, `Data after entry ${grouped(moment.seq)}`), text({ ...moment.data, title: "" }, { run, entry: moment.seq, of: "data" }));
}
