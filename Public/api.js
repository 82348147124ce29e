// One call of the server's API: its answer, or one of two errors.

/** The server answered, and refused (RFC 9457); `code` is explained in /problems.html. */
export class Problem extends Error {
  constructor(status, members, retryAfter) {
    super(members.detail || members.title || `The server answered ${status}.`);
    this.status = status;
    this.code = members.code ?? "";
    this.title = members.title ?? `Status ${status}`;
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may succeed later. */
  get isPassing() {
    return this.status >= 500 || this.status === 429 || this.status === 408;
  }
}

/** No answer: no connection, or not in time. Whether the request arrived is unknown. */
export class Unreachable extends Error {}

/** Asks; `headers` and `body` as needed. Answers {status, tag, next, body}. */
export async function call(token, method, path, { headers = {}, body, keepalive = false } = {}) {
  const response = await send(path, {
    method,
    keepalive,
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    signal: keepalive ? undefined : AbortSignal.timeout(15000),
    headers: {
      Accept: "application/json, application/problem+json",
      Authorization: `Bearer ${token}`,
      ...(body && { "Content-Type": "application/json" }),
      ...headers,
    },
    body: body && JSON.stringify(body),
  });
  const answer = await read(response);
  if (!response.ok && response.status !== 304) {
    throw new Problem(response.status, answer ?? {}, Number(response.headers.get("Retry-After")) || 0);
  }
  const next = /<([^>]+)>;\s*rel="next"/.exec(response.headers.get("Link") ?? "")?.[1];
  return { status: response.status, tag: response.headers.get("ETag"), next, body: answer };
}

async function send(path, options) {
  try {
    return await fetch(path, options);
  } catch (error) {
    throw new Unreachable(error.message);
  }
}

/** The JSON of an answer; null if it has none. An answer cut off on the way is none at all. */
async function read(response) {
  let text;
  try {
    text = await response.text();
  } catch (error) {
    throw new Unreachable(error.message);
  }
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}
