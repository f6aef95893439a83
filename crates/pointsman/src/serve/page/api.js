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

async function request(path, options) {
  let response;
  try {
    response = await fetch(BASE + path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "the server does not answer", "is `pointsman serve` still running?");
  }
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

/** Follows a run from an entry on: calls `heed(name, data)` for each event until it ends. */
export async function follow(run, from, heed, signal) {
  let last = null;
  for (;;) {
    try {
      const more = last ? { "Last-Event-ID": last } : {};
      const where = path(["runs", run, "events"], { from, brief: true });
      const response = await request(where, { headers: headers(more), signal });
      if (response.status === 204) return;
      last = await events(response.body, last, heed);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (error.status === 400 || error.status === 404) return;
    }
    try {
      await pause(1500, signal);
    } catch {
      return;
    }
  }
}

async function events(body, last, heed) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    let chunk;
    try {
      chunk = await reader.read();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      return last;
    }
    if (chunk.done) return last;
    rest += chunk.value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split("\n").filter((line) => line.includes(": ")).map((line) => {
        const at = line.indexOf(": ");
        return [line.slice(0, at), line.slice(at + 2)];
      }));
      if (fields.id) last = fields.id;
      if (fields.event) heed(fields.event, JSON.parse(fields.data));
    }
  }
}
