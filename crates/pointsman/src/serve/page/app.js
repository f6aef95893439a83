// The page: which view an address shows, theme, token and keys.

import { token } from "./api.js";
import { askToken, dialog } from "./dialog.js";
import { h, show } from "./dom.js";
import { KEYS as LIST_KEYS, ListPage } from "./list.js";
import { KEYS as RUN_KEYS, RunPage } from "./run.js";
import { KEYS as STATS_KEYS, StatsPage } from "./stats.js";

const THEME = "pointsman.theme";
const THEMES = { auto: "◐", light: "☀", dark: "☾" };

function theme(name) {
  document.documentElement.className = name === "auto" ? "" : name;
  const control = document.getElementById("theme");
  control.textContent = THEMES[name];
  control.setAttribute("aria-label", `Theme: ${name}`);
  control.title = `Theme: ${name}`;
  dispatchEvent(new Event("theme"));
}

function themes() {
  let name = localStorage.getItem(THEME) ?? "auto";
  theme(name);
  document.getElementById("theme").addEventListener("click", () => {
    const names = Object.keys(THEMES);
    name = names[(names.indexOf(name) + 1) % names.length];
    localStorage.setItem(THEME, name);
    theme(name);
  });
}

function tokens() {
  const control = document.getElementById("token");
  const told = () => {
    control.textContent = token() ? "token set" : "read-only";
    control.title = token() ? "Changes use your token" : "Enter a token to make changes";
  };
  told();
  control.addEventListener("click", async () => {
    await askToken();
    told();
  });
  addEventListener("focusin", told);
}

/** Says that the connection is lost, until it is back. */
function connection(shown) {
  const note = document.getElementById("lost");
  addEventListener("connection", ({ detail: back }) => {
    note.textContent = back ? "" : "Connection lost, retrying…";
    if (back) shown.restored?.();
  });
}

/** Whether an element scrolls sideways itself, so that the arrow keys are its own. */
function scrolls(element, key) {
  if (key !== "ArrowLeft" && key !== "ArrowRight") return false;
  const box = element.closest("[tabindex]");
  return Boolean(box) && box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== "visible";
}

function view(main) {
  const [, kind, run, , entry] = location.pathname.split("/");
  if (kind === "runs") return [new RunPage(main, decodeURIComponent(run), entry ? Math.max(1, Number(entry) || 1) : null), "runs", RUN_KEYS];
  if (kind === "stats") return [new StatsPage(main), "stats", STATS_KEYS];
  return [new ListPage(main), "runs", LIST_KEYS];
}

function help(keys) {
  const rows = [...keys, ["?", "this list"], ["Esc", "close"]].map(([key, what]) => h("tr", {}, h("th", { scope: "row" }, h("kbd", {}, key)), h("td", {}, what)));
  dialog("Keys", () => h("table", { class: "plain keys" }, h("tbody", {}, rows)));
}

const main = document.getElementById("main");
show(main);
themes();
tokens();
const [shown, nav, keys] = view(main);
document.querySelector(`[data-nav="${nav}"]`)?.setAttribute("aria-current", "page");
connection(shown);
document.getElementById("help").addEventListener("click", () => help(keys));
addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog")) return;
  if (event.target.matches("input, select, textarea") || scrolls(event.target, event.key)) return;
  if (event.key === "?") help(keys);
  else if (!shown.key(event.key)) return;
  event.preventDefault();
});
shown.open();
