// What a person does to a run: answer its questions, cancel, pause, resume, fork.

import { path, post } from "./api.js";
import { change, dialog } from "./dialog.js";
import { arrange, button, h, renew } from "./dom.js";
import { text } from "./story.js";

function act(run, what, body) {
  return post(path(["runs", run, what]), body);
}

/** Asks for a reason, and returns it; nothing if the person left. */
function reason(title, action, tone, more) {
  return dialog(title, (close) => {
    const field = h("input", { type: "text", "aria-label": "Reason", placeholder: "Reason (the journal keeps it)" });
    const always = more ? h("select", { "aria-label": "How often" }, h("option", { value: "" }, "this call only"),
      more.map((rule) => h("option", { value: rule }, `always: ${rule}`))) : null;
    return h("form", { method: "dialog", onsubmit: (event) => {
      event.preventDefault();
      close({ reason: field.value.trim() || undefined, always: always?.value || undefined });
    } }, field, always, h("div", { class: "actions" }, h("button", { type: "submit", class: tone }, action)));
  });
}

export async function answer(run, question, granted, done) {
  const [action, tone] = granted ? ["Approve", "primary"] : ["Deny", "danger"];
  const title = question?.tool ? `${action} the call of ${question.tool}` : action;
  const given = await reason(title, action, tone, granted ? question?.always : null);
  if (!given) return;
  const body = { question: question?.question, reason: given.reason, always: granted ? given.always : undefined };
  await change(() => act(run, granted ? "approve" : "deny", body), (said) =>
    said.taken ? `The run was ${said.said}.` : "Recorded. The run takes the answer as soon as it continues.");
  done();
}

/** The open questions of a run, whole, each with its answers. */
export function questions(element, run, moment, done) {
  // The same questions stay as they are: they may be half read, or about to be answered.
  renew(element, moment.questions, () => moment.questions.map((question, at) => h("article", { class: "question" },
    h("header", {}, h("strong", {}, question.asked.tool ? `May it call ${question.asked.tool}?` : "A question for you"),
      question.asked.again ? h("span", { class: "pill warning" }, "may have run already") : null),
    h("div", { class: "about", tabindex: "0" }, text({ ...question.about, title: "" }, { run, entry: moment.seq, of: `question.${at}` })),
    h("div", { class: "actions" },
      button("Approve", () => answer(run, question.asked, true, done), { class: "primary", data: { act: "approve" } }),
      button("Deny", () => answer(run, question.asked, false, done), { class: "danger", data: { act: "deny" } })))));
}

/** Whether no process drives a run, and none is about to. */
export function is_idle(detail) {
  return detail.owner === null && detail.queue !== "ready" && detail.queue !== "leased";
}

/** The buttons of a run. Returns what shows those that fit the run as it stands. */
export function actions(element, run, selected, done) {
  const todo = (label, what, body, props) => button(label, async () => {
    await change(() => act(run, what, body), (said) => said.said === "resumed" && !said.taken ? "The run is queued." : said.taken === false ? "Recorded. The run takes it as soon as it continues." : "Done.");
    done();
  }, props);
  const pause = todo("Pause", "pause", {}, { data: { act: "pause" } });
  const resume = todo("Resume", "resume", {}, { data: { act: "resume" } });
  const cancel = button("Cancel", async () => {
    const sure = await dialog("Cancel this run?", (close) => [
      h("p", {}, "It stops its work and ends as cancelled. An ended run never changes again; a fork can continue from any earlier entry."),
      h("div", { class: "actions" }, button("Keep it", () => close(false)), button("Cancel the run", () => close(true), { class: "danger" }))]);
    if (!sure) return;
    await change(() => act(run, "cancel"), "The run is cancelled.");
    done();
  }, { data: { act: "cancel" } });
  let last;
  const fork = button("", async () => {
    const made = await change(() => act(run, "fork", { at: Math.min(selected(), last) }), null);
    if (made) location.assign(`/runs/${made.run ?? made.fork}`);
  }, { data: { act: "fork" } });
  return (detail) => {
    const open = detail.disposition === null;
    // No fork shares the end of a run: it would have nothing left to do.
    last = open ? detail.steps : detail.steps - 1;
    const [label, shares] = selected() > last ? ["Fork before the end", "all entries but the last"] : ["Fork from here", "the entries up to the selected one"];
    renew(fork, label, () => label);
    fork.title = `Start a new run that shares ${shares}`;
    resume.title = detail.paused ? "Lift the pause" : "No process drives this run: queue it";
    // A child follows its parent: only the pause of one that is driven can be lifted.
    const resumable = run.includes("-") ? detail.paused && detail.owner !== null : detail.paused || is_idle(detail);
    const fits = [[open && !detail.paused, pause], [open && resumable, resume], [open, cancel], [last > 0, fork]];
    arrange(element, fits.filter(([is]) => is).map(([, control]) => control));
  };
}
