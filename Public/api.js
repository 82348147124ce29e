// One call of the server's API, which gives an answer or throws one of two errors.

/** The server answered, and refused (RFC 9457); `code` is explained in /problems.html. */
export class Problem extends Error {
  constructor(status, members, retryAfter) {
    super(members.detail || members.title || `The server answered ${status}.`);
    this.status = status;
    this.code = members.code ?? "";
    this.title = members.title ?? `Status ${status}`;
    this.ids = members.ids ?? []; // the ids of the tasks because of which a list of changes was refused
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may succeed later. */
  get isPassing() {
    return this.status >= 500 || this.status === 429 || this.status === 408;
  }
}

/** The server gave no answer: no connection, no answer in time, or somebody else's. The request may have arrived. */
export class Unreachable extends Error {}

export function unreachable(error) {
  throw new Unreachable(error.message);
}

/** The path below which a proxy has put the server, or "". */
export const BASE = new URL(".", location).pathname.slice(0, -1);

const LONGEST_SILENCE = 15000; // milliseconds

/** Sends a request, with `headers` and `body` as needed, and returns {status, tag, next, body}; `next` is the query of
 * the next page, or the id of the next task. `access` gives the token; a token that the server refuses is renewed once, if that is possible. `heard`
 * is called when an answer begins. `each` is called with the text of a stream whenever more of it is there, and returns
 * what it leaves for the next time; `silence` is how long nothing may come, and `signal` can end it. */
export async function call(access, method, path, options = {}) {
  const token = access.token ?? (await access.renew());
  if (!token) throw new Problem(401, { code: "token.expired", title: "The session has ended" });
  try {
    return await ask(token, method, path, options);
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 401) throw error;
    const next = await access.renew(token);
    if (!next || next === token) throw error;
    return ask(next, method, path, options);
  }
}

/** A network's portal answers in the server's place, with any status. The server repeats the name that a request carries in
 * `client-request-id` (docs/internals/token-validation.md), and nobody else does. So success, also a 204 without a body, is
 * believed only with that name, and a refusal (4xx) only with that or with one of the server's codes ("task.changed"). */
async function ask(token, method, path, { headers = {}, body, keepalive = false, ...reading }) {
  const name = crypto.randomUUID();
  const { response, answer } = await exchange(path, reading, {
    method, keepalive, cache: "no-store", credentials: "omit", redirect: "error",
    headers: {
      Accept: "application/json; names=one, application/problem+json", Authorization: `Bearer ${token}`,
      "client-request-id": name, "return-client-request-id": "true",
      ...(body && { "Content-Type": "application/json" }),
      ...headers,
    },
    body: body && JSON.stringify(body),
  });
  const problem = response.ok || response.status === 304
    ? null : new Problem(response.status, answer ?? {}, secondsIn(response.headers.get("Retry-After")));
  const isOurs = response.headers.get("client-request-id") === name || /^\w+\.\w+$/.test(problem?.code);
  if (!isOurs && !problem?.isPassing) throw new Unreachable("Somebody else answered.");
  if (problem) throw problem;
  const next = /<[^>?]*?(\?[^>]*|\d+)>;\s*rel="next"/.exec(response.headers.get("Link") ?? "")?.[1];
  return { status: response.status, tag: response.headers.get("ETag"), next, body: answer };
}

/** Returns the seconds that `Retry-After` asks for (RFC 9110), which may name a date. */
const secondsIn = (field) => Math.max(0, Number(field ?? 0) || (Date.parse(field) - Date.now()) / 1000 || 0);

/** Returns a response and its JSON, or null in its place. A request that receives nothing for 15 s is ended; a long answer
 * may take longer. An answer that was cut off on the way counts as no answer. */
async function exchange(path, { heard, each, silence = LONGEST_SILENCE, signal }, request) {
  const controller = new AbortController();
  signal?.addEventListener("abort", () => controller.abort());
  const decoder = new TextDecoder();
  let text = "";
  let timer;
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(() => controller.abort(), silence);
  };
  try {
    wait();
    const response = await fetch(BASE + path, { ...request, signal: controller.signal });
    heard?.();
    const reader = response.body?.getReader();
    for (let part = await reader?.read(); part && !part.done; part = await reader.read()) {
      wait();
      text += decoder.decode(part.value, { stream: true });
      if (each && response.ok) text = each(text);
    }
    return { response, answer: parsed(text) ?? null };
  } catch (error) {
    unreachable(error);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the JSON of a text, or undefined if the text is none. */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
