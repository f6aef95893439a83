// Requests to the server, with the reader's token where there is one.

const BASE = "/api/v1";
const KEY = "pointsman.token";

/** Why a request failed, in the server's words. */
export class Problem extends Error {
  constructor(status, detail, hint) {
    super(detail);
    this.status = status;
    this.hint = hint ?? "";
  }

  /** Whether the same request may succeed later. */
  get passes() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export function token() {
  return sessionStorage.getItem(KEY) ?? "";
}

export function setToken(text) {
  if (text) sessionStorage.setItem(KEY, text);
  else sessionStorage.removeItem(KEY);
}

function headers(more) {
  const all = { ...more };
  if (token()) all.Authorization = `Bearer ${token()}`;
  return all;
}

async function answered(response) {
  if (response.ok) return response;
  let problem = {};
  try {
    problem = await response.json();
  } catch {
    // A proxy's answer may be anything.
  }
  throw new Problem(response.status, problem.detail ?? `the server answered ${response.status}`, problem.hint);
}

let lost = false;

/** Tells the page that the connection is lost, and that it is back, as soon as it is. */
function connected(is) {
  if (lost === !is) return;
  lost = !is;
  dispatchEvent(new CustomEvent("connection", { detail: is }));
  if (lost) ask();
}

async function ask() {
  while (lost) {
    await pause(1500);
    try {
      connected((await fetch("/healthz")).ok);
    } catch {
      // It is still away.
    }
  }
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(BASE + path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    connected(false);
    throw new Problem(0, "the server does not answer", "is `pointsman serve` still running?");
  }
  connected(true);
  return answered(response);
}

/** Path and query, with every value encoded. */
export function path(parts, query) {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== "" && value !== null && value !== undefined && value !== false);
  const text = new URLSearchParams(given).toString();
  return `/${parts.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

export async function get(where, signal) {
  return (await request(where, { headers: headers(), signal })).json();
}

export async function getText(where, signal) {
  return (await request(where, { headers: headers(), signal })).text();
}

export async function getBlob(where, signal) {
  return (await request(where, { headers: headers(), signal })).blob();
}

/** A part of some content, with its type and the size of the whole. */
export async function getPart(where, from, to) {
  const response = await request(where, { headers: headers({ Range: `bytes=${from}-${to}` }) });
  const size = Number(/\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "")?.[1] ?? response.headers.get("Content-Length") ?? 0);
  return { content: await response.blob(), type: response.headers.get("Content-Type") ?? "", size };
}

/** Repeats a request until the server has read far enough, and reports how far it is. */
export async function getReady(where, progress, signal) {
  for (;;) {
    const response = await request(where, { headers: headers(), signal });
    const body = await response.json();
    if (response.status !== 202) return body;
    progress?.(body.read, body.of);
    await pause(150, signal);
  }
}

export async function post(where, body) {
  const options = { method: "POST", headers: headers({ "Content-Type": "application/json" }), body: JSON.stringify(body ?? {}) };
  return (await request(where, options)).json();
}

export function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("stopped", "AbortError"));
    }, { once: true });
  });
}

/** Resolves as soon as the tab is shown. */
function visible() {
  return new Promise((resolve) => {
    if (document.visibilityState === "visible") resolve();
    else document.addEventListener("visibilitychange", () => visible().then(resolve), { once: true });
  });
}

/**
 * Follows a run from an entry on: calls `heed(name, data)` for each event until it ends. While the tab is
 * hidden nothing is followed: a browser has few connections to a server, for all tabs together. Fails if the
 * server wants a token.
 */
export async function follow(run, from, heed) {
  const place = { last: null };
  for (;;) {
    await visible();
    const stop = new AbortController();
    const hide = () => stop.abort();
    document.addEventListener("visibilitychange", hide, { once: true });
    try {
      const more = place.last ? { "Last-Event-ID": place.last } : {};
      const where = path(["runs", run, "events"], { from, brief: true });
      const response = await request(where, { headers: headers(more), signal: stop.signal });
      if (response.status === 204) return;
      await events(response.body, place, heed);
    } catch (error) {
      if (error.status === 400 || error.status === 404) return;
      if (error.status === 401 || error.status === 403) throw error;
    }
    document.removeEventListener("visibilitychange", hide);
    if (!stop.signal.aborted) await pause(1500);
  }
}

/** Reads events until the stream breaks, and remembers the id of the last one. */
async function events(body, place, heed) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const chunk = await reader.read();
    if (chunk.done) return;
    rest += chunk.value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split("\n").filter((line) => line.includes(": ")).map((line) => {
        const at = line.indexOf(": ");
        return [line.slice(0, at), line.slice(at + 2)];
      }));
      if (fields.id) place.last = fields.id;
      if (fields.event) heed(fields.event, JSON.parse(fields.data));
    }
  }
}
