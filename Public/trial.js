// Tries an operation: a form makes its request with the token of the session, and shows the same request for curl.

import { BASE, parsed } from "./api.js";
import { find, make } from "./dom.js";
import { Access } from "./renewal.js";
import { current } from "./session-store.js";

const PATIENCE = 15000; // milliseconds

let access; // the access to the token of this browser's session; undefined if no one is signed in

/** Returns the token to try with: the pasted one, else the session's, which may have to be renewed, else null. */
const token = () => find("token-pasted").value.trim() || access?.token || null;
const freshToken = async () => token() ?? (await access?.renew()) ?? null;

/** Says whose token is used, and where to get one. */
export async function showToken() {
  const config = await fetch("config.json", { cache: "no-cache" }).then((answer) => answer.json()).catch(() => ({}));
  const session = config.authority ? current() : null;
  if (session) access = new Access(config, session, () => location.reload());
  find("token").hidden = false;
  const say = () => find("token-state").replaceChildren(...stateOfToken());
  say();
  find("token").addEventListener("input", async () => {
    say();
    if (find("token-shown").checked) await freshToken().catch(() => null);
    document.dispatchEvent(new Event("token"));
  });
  showMock(config.authority);
}

function showMock(authority) {
  // mock-authority listens on the machine itself unless it is told otherwise, so nothing is promised elsewhere.
  if (!authority || !["localhost", "127.0.0.1", "[::1]"].includes(new URL(authority).hostname)) return;
  const url = `${new URL(authority).origin}/_mock/token?user=alice@example.com`;
  find("token-mock-line").textContent = `TOKEN=$(curl -s ${quoted(url)})`;
  find("token-mock").hidden = false;
  // The mock's page copies the token; its controls answer no page of another origin.
  find("token-get").href = `${new URL(authority).origin}/_mock#token`;
}

function stateOfToken() {
  if (find("token-pasted").value.trim()) return ["Requests are made with the token below, for the person whom it names."];
  if (access) return ["You are signed in, so requests are made with your token: they show and change your own tasks."];
  return ["You are not signed in, so only requests that need no token succeed. ",
    make("a", { href: ".", textContent: "Sign in on the start page" }), ", then come back here."];
}

/** Makes the part that opens to a form, when it is opened. `parameters` and `body` are resolved. */
export function trial(tried) {
  const details = make("details", { className: "try" }, make("summary", { textContent: "Try it" }));
  details.addEventListener("toggle", () => details.append(formOf(tried)), { once: true });
  return details;
}

function formOf({ path, method, operation, parameters, body }) {
  const name = (what) => `${operation.operationId}-${what}`;
  const needsToken = !operation.security;
  const type = body && Object.keys(body.content)[0];
  const fields = parameters.map((parameter) => ({ parameter, input: inputOf(parameter, name(parameter.name)) }));
  const text = body && make("textarea", { id: name("body"), rows: 3, spellcheck: false, value: exampleOf(body.content[type]) });
  const curl = make("pre", { tabIndex: 0, attributes: { "aria-label": `${method.toUpperCase()} ${path} with curl`, role: "group" } });
  const state = make("p", { attributes: { role: "status" } });
  const answer = make("div");
  const request = () => requestOf({ path, method, fields, text, type, needsToken });
  const form = make("form", {},
    ...fields.map(({ parameter, input }) => field(`${parameter.name} (${parameter.in})`, input)),
    ...(text ? [field(`Body (${type})`, text)] : []),
    curl,
    make("div", { className: "try-buttons" },
      make("button", { type: "submit", className: "primary", textContent: `Send ${method.toUpperCase()}` }),
      make("button", { type: "button", className: "secondary", textContent: "Copy for curl", onclick: () => copy(curl, state) })),
    state, answer);
  const refresh = () => (curl.textContent = curlLine(request()));
  form.addEventListener("input", refresh);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(request(), state, answer);
  });
  document.addEventListener("token", refresh);
  refresh();
  return form;
}

function inputOf(parameter, id) {
  return make("input", {
    type: "text", id, required: Boolean(parameter.required), autocomplete: "off", spellcheck: false,
    value: parameter.required ? String(parameter.example ?? "") : "", placeholder: String(parameter.example ?? ""),
  });
}

const field = (label, input) => make("div", { className: "try-field" }, make("label", { htmlFor: input.id, textContent: label }), input);

const exampleOf = ({ example }) => (example === undefined ? "" : JSON.stringify(example));

/** Returns {method, url, headers, body, needsToken} of the form; fields that are empty are left out. */
function requestOf({ path, method, fields, text, type, needsToken }) {
  const given = (place) => fields.filter(({ parameter, input }) => parameter.in === place && input.value)
    .map(({ parameter, input }) => [parameter.name, input.value]);
  let url = path;
  for (const [name, value] of given("path")) url = url.replace(`{${name}}`, encodeURIComponent(value));
  const query = new URLSearchParams(given("query"));
  const headers = { ...(needsToken && { Accept: "application/json" }), ...Object.fromEntries(given("header")) };
  const body = text?.value.trim() ? text.value : undefined;
  if (body) headers["Content-Type"] = type;
  return { method: method.toUpperCase(), url: query.size ? `${url}?${query}` : url, headers, body, needsToken };
}

/** Returns the request as a line for a shell. The token itself is in it only if that was asked for. */
function curlLine({ method, url, headers, body, needsToken }) {
  const shown = find("token-shown").checked && token();
  const parts = ["curl -i"];
  if (method !== "GET") parts.push(`-X ${method}`);
  if (needsToken) parts.push(shown ? `-H ${quoted(`Authorization: Bearer ${shown}`)}` : '-H "Authorization: Bearer $TOKEN"');
  for (const [name, value] of Object.entries(headers)) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body) parts.push(`--data-raw ${quoted(body)}`);
  return [...parts, quoted(location.origin + BASE + url)].join(" ");
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

async function copy(curl, state) {
  try {
    await navigator.clipboard.writeText(curl.textContent);
    state.textContent = "Copied.";
  } catch {
    getSelection().selectAllChildren(curl);
    state.textContent = "This browser does not allow it; the line is selected, so copy it by hand.";
  }
}

async function send({ method, url, headers, body, needsToken }, state, answer) {
  state.textContent = "Asking …";
  answer.replaceChildren();
  const begin = performance.now();
  try {
    const bearer = needsToken && (await freshToken());
    const response = await fetch(BASE + url, {
      method, body, cache: "no-store", credentials: "omit", redirect: "error", signal: AbortSignal.timeout(PATIENCE),
      headers: { ...headers, ...(bearer && { Authorization: `Bearer ${bearer}` }) },
    });
    const text = await response.text();
    state.textContent = `${response.status} ${response.statusText}, after ${Math.round(performance.now() - begin)} ms`;
    answer.replaceChildren(...shownAnswer(response, text));
  } catch (error) {
    state.textContent = `No answer: ${error.message}`;
  }
}

function shownAnswer(response, text) {
  const json = parsed(text);
  const body = json === undefined ? text : JSON.stringify(json, null, 1);
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  return [
    ...(json?.code ? [make("p", {}, make("a", { href: `problems.html#${json.code}`, textContent: `${json.code} explained` }))] : []),
    make("details", {}, make("summary", { textContent: "Headers" }), block("Headers of the answer", headers)),
    block("Body of the answer", body || "(no body)"),
  ];
}

const block = (label, textContent) => make("pre", { tabIndex: 0, textContent, attributes: { "aria-label": label, role: "group" } });
