// Questions of the page itself, in a modal dialog.

import { Problem, setToken, token } from "./api.js";
import { button, h, say, show } from "./dom.js";

/** Opens a dialog with the elements of `content(close)`. Resolves with the argument of `close`. */
export function dialog(title, content) {
  return new Promise((resolve) => {
    const box = h("dialog", { "aria-labelledby": "dialog-title" });
    let result;
    const close = (value) => {
      result = value;
      box.close();
    };
    const head = h("header", {}, h("h2", { id: "dialog-title" }, title),
      button("×", () => close(undefined), { class: "quiet", "aria-label": "Close" }));
    box.append(head, ...[content(close)].flat());
    box.addEventListener("close", () => {
      box.remove();
      resolve(result);
    });
    // A press beside the dialog closes it. Its padding is not beside it, and the end of a selection is no press.
    const beside = ({ target, clientX: x, clientY: y }) => {
      const { left, right, top, bottom } = box.getBoundingClientRect();
      return target === box && (x < left || x > right || y < top || y > bottom);
    };
    let began = false;
    box.addEventListener("pointerdown", (event) => { began = beside(event); });
    box.addEventListener("click", (event) => {
      if (began && beside(event)) close(undefined);
    });
    document.body.append(box);
    box.showModal();
    (box.querySelector("input, select, textarea") ?? box.querySelector(".actions button"))?.focus();
  });
}

/** Asks for a token, and keeps it for this tab. */
export function askToken(why) {
  return dialog("Token", (close) => {
    const field = h("input", { type: "password", autocomplete: "off", value: token(), "aria-label": "Token", spellcheck: "false" });
    const form = h("form", {
      method: "dialog",
      onsubmit: (event) => {
        event.preventDefault();
        setToken(field.value.trim());
        close(Boolean(field.value.trim()));
      },
    },
    h("p", {}, why ?? "Reading needs no token on this machine; changes do. The token stays in this tab, and is forgotten when the tab closes."),
    h("p", {}, "Create one in a terminal:"),
    h("pre", { tabindex: "0" }, "pointsman token create --role admin --page --expires 12h"),
    field,
    h("div", { class: "actions" }, token() ? button("Forget it", () => {
      setToken("");
      close(false);
    }) : null, h("button", { type: "submit", class: "primary" }, "Use it")));
    return form;
  });
}

/** Does something that may need a token: asks for one and tries again. Reports what went wrong. */
export async function change(work, done) {
  for (;;) {
    try {
      const result = await work();
      if (done) say(typeof done === "function" ? done(result) : done, "good");
      return result;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status === 401 || error.status === 403) {
        const why = token() ? `${error.message}.` : undefined;
        if (await askToken(why)) continue;
        return undefined;
      }
      say(`${error.message}${error.hint ? `. ${error.hint}` : ""}`, "bad");
      return undefined;
    }
  }
}

/** An error in the place of what could not be shown. */
export function failure(error, retry) {
  const needs = error instanceof Problem && error.status === 401;
  return h("div", { class: "failure", role: "alert" },
    h("h2", {}, needs ? "This server needs a token" : error.message),
    error.hint && !needs ? h("p", {}, error.hint) : null,
    h("p", {}, needs ? button("Enter a token", async () => {
      if (await askToken("Every request to this server needs a token.")) location.reload();
    }, { class: "primary" }) : retry ? button("Try again", retry) : h("a", { href: "/" }, "All runs")));
}

export function loading(element, text) {
  show(element, h("p", { class: "loading" }, text));
}
