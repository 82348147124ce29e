// The page for developers: shows what the controls of the mock answer, and sends them what forms say.
//
// Texts come from clients, so they enter the page as text and as values of fields, and never as HTML.
"use strict";

const mostRows = 50;
const find = (selector) => document.querySelector(selector);

// The parameters of the address that choose a run and a tenant; each request repeats them.
const selection = new URLSearchParams();
for (const [name, value] of new URLSearchParams(location.search)) {
  if (["profile", "tenant", "run"].includes(name)) selection.append(name, value);
}

function address(path, parameters = {}) {
  const query = new URLSearchParams([...selection, ...Object.entries(parameters)]).toString();
  return `/_mock/${path}${query && "?"}${query}`;
}

/** Sends a request to a control. Returns its JSON; throws the reason if the control refuses. */
async function control(method, path, { body, parameters } = {}) {
  const answer = await fetch(address(path, parameters), {
    method, cache: "no-store", headers: { Accept: "application/json" }, body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.status === 204 ? undefined : answer.json();
}

/** An element with these properties and children; a child that is a text becomes text. */
function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

const mark = (text, isBad) => make("span", { className: isBad ? "mark bad" : "mark" }, text);
const code = (text) => make("code", {}, text);
const folded = (summary, ...content) => make("li", {}, make("details", {}, make("summary", {}, ...summary), ...content));

const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** A time of the reader's clock, with the time of UTC as its title. */
function time(seconds) {
  const date = new Date(seconds * 1000);
  if (isNaN(date)) return String(seconds);
  const exact = date.toISOString().replace(".000", "");
  return make("time", { dateTime: exact, title: exact }, local.format(date));
}

// The names of the clients by their ids.
const names = new Map();

/** The name of a client, or its id if the client is unknown or has no name. */
const nameOf = (id) => names.get(String(id).toLowerCase()) || String(id);

/** The mark of the client that a request names in its query or its form; nothing if it names none. */
function clientMark(target, body) {
  const id = [target.split("?")[1], body].map((text) => new URLSearchParams(text ?? "").get("client_id")).find(Boolean);
  return id ? [mark(nameOf(id)), " "] : [];
}

// What became of the last action.

function say(text, isFailure = false) {
  find("#said").textContent = isFailure ? "" : text;
  find("#alert").textContent = isFailure ? text : "";
}

/** A button that copies the text that a function gives. */
function copyButton(what, text) {
  const button = make("button", { type: "button", className: "small" }, "Copy", make("span", { className: "unseen" }, ` ${what}`));
  button.addEventListener("click", () => copy(text));
  return button;
}

async function copy(text) {
  say("");
  try {
    await navigator.clipboard.writeText(await text());
    say("Copied.");
  } catch (error) {
    say(`Not copied: ${error.message}`, true);
  }
}

/** A token as text. */
async function token(parameters) {
  const answer = await fetch(address("token", parameters), { cache: "no-store", headers: { Accept: "text/plain" } });
  const text = (await answer.text()).trim();
  if (!answer.ok) throw new Error(text);
  return text;
}

/** Opens the section of the address, such as that of a link of the contents. */
function openSection() {
  const section = location.hash && document.getElementById(location.hash.slice(1))?.querySelector("details");
  if (section) section.open = true;
}

addEventListener("hashchange", openSection);
openSection();

// What does not change while the page is open.

function showRegistration(registration, badTokens) {
  const { version, tenant, tenants, clients, resources, policies, clientSettings } = registration;
  for (const { id, name } of clients) names.set(id.toLowerCase(), name);
  find("#program").textContent = `mock-authority ${version}`;
  find("#name").textContent = find("#tenant-name").textContent = tenant.name;
  find("#tenant-id").textContent = tenant.id;
  find("#tenants").replaceChildren(...tenants.map(tenantLink));
  find("#run").hidden = !selection.get("run");
  find("#run code").textContent = selection.get("run");
  find("#all-requests").href = address("requests");
  if (tenant.metadata) Object.assign(find("#metadata"), { href: tenant.metadata, hidden: false });
  find("#applications").append(...clients.map(({ id, secret, redirectURIs }) =>
    folded(
      [make("b", {}, nameOf(id)), " ", mark(secret ? "confidential" : "public")],
      make("p", {}, "Client id ", code(id), ...(secret ? [", secret ", code(secret)] : []), ". Redirect URIs:"),
      make("ul", {}, ...redirectURIs.map((uri) => make("li", {}, code(uri)))))));
  find("#resources").append(...resources.map(({ identifier, audience, scopes }) =>
    make("li", {}, code(identifier), ", aud ", code(audience), ", scopes ", code(scopes.join(" ")))));
  find("#scopes").append(...resources.flatMap(({ identifier, scopes }) =>
    scopes.map((scope) => make("option", { value: `${identifier}/${scope}` }))));
  // The app is most likely a page with a port, on the host of this page.
  const likely = (uri) => 2 * (new URL(uri).port !== "") + (new URL(uri).hostname === location.hostname);
  const [app] = clients.flatMap(({ redirectURIs }) => redirectURIs).filter((uri) => /^https?:/.test(uri) && URL.canParse(uri))
    .sort((one, other) => likely(other) - likely(one));
  find("#app").hidden = !app;
  if (app) find("#app a").href = new URL("/", app);
  find("#policies").hidden = policies.length === 0;
  find("#policies ul").append(...policies.map(({ name, kind, metadata }) =>
    make("li", {}, code(name), " ", mark(kind), " ",
      make("a", { href: metadata }, "metadata", make("span", { className: "unseen" }, ` of ${name}`)))));
  find("#clients ul").append(...clientSettings.map(({ kind, text }) =>
    folded([kind], make("p", {}, copyButton(kind, () => text)), make("pre", {}, text))));
  find("#token [name=policy]").closest("label").hidden = policies.length === 0;
  find("#token [name=policy]").append(...policies.map(({ name }) => make("option", {}, name)));
  // A form that is sent with GET puts its fields in place of the query of its address.
  find("#token form").append(...[...selection].map(([name, value]) => make("input", { type: "hidden", name, value })));
  find("#bad ul").append(...badTokens.map(({ name, status, code, words }) =>
    make("li", {}, make("a", { href: address("token", { user: firstUser, bad: name }) }, name), " ",
      copyButton(name, () => token({ user: firstUser, bad: name })), " ", mark(`${status} ${code ?? ""}`), ` ${words}`)));
}

function tenantLink({ title, name, profile, id, isShown }) {
  const query = new URLSearchParams(profile === "b2c" ? {} : { profile, tenant: id });
  if (selection.get("run")) query.append("run", selection.get("run"));
  const link = make("a", { href: `/_mock${query.size ? "?" : ""}${query}` }, title, make("span", {}, ` ${name}`));
  if (isShown) link.setAttribute("aria-current", "page");
  return make("li", {}, link);
}

// What actions change.

let firstUser = "alice";

async function refresh() {
  const [{ users, skew_s }, { keys }] = await Promise.all([control("GET", "state"), control("GET", "keys")]);
  firstUser = users[0]?.email ?? "alice";
  find("#command").textContent = `curl -s '${location.origin}${address("token", { user: firstUser })}'`;
  const chosen = find("#token [name=user]");
  const choice = chosen.value;
  chosen.replaceChildren(...users.map(({ name, email }) => make("option", { value: email }, `${name}, ${email}`)));
  if (users.some(({ email }) => email === choice)) chosen.value = choice;
  find("#users > details > ul").replaceChildren(...users.map(userRow));
  find("#keys > details > ul").replaceChildren(...keys.map(({ kid, state }) =>
    make("li", {}, code(kid), " ", mark(state === "active" ? "signs" : state))));
  find("#skew").textContent = find("#clock input").value = skew_s;
}

function userRow(user) {
  const row = find("#user").content.cloneNode(true).firstElementChild;
  row.querySelector("b").textContent = user.name;
  row.querySelector("span").textContent = user.email;
  if (user.disabled) row.querySelector("summary").append(" ", mark("disabled"));
  row.querySelector("code").textContent = user.objectID;
  if (user.identityProvider) row.querySelector("p").append(", came from ", code(user.identityProvider));
  const labels = { changeUser: "Change", revoke: "Revoke the grants of", removeUser: "Remove" };
  for (const form of row.querySelectorAll("form")) {
    form.dataset.user = user.objectID;
    form.setAttribute("aria-label", `${labels[form.dataset.action]} ${user.email}`);
  }
  const fields = row.querySelector("form").elements;
  for (const name of ["email", "password", "name", "givenName", "familyName"]) fields[name].value = user[name] ?? "";
  fields.claims.value = JSON.stringify(user.claims, null, 2);
  fields.disabled.checked = user.disabled;
  return row;
}

/** The fields of a form that are not empty; those that are numbers become numbers, and what is none stays a text. */
function filled(fields, numbers = []) {
  return Object.fromEntries([...fields].filter(([, value]) => value !== "").map(([name, value]) =>
    [name, numbers.includes(name) && /^-?\d+$/.test(value) ? Number(value) : value]));
}

function claims(fields) {
  try {
    return JSON.parse(fields.get("claims") || "{}");
  } catch {
    throw new Error("The claims are not JSON.");
  }
}

/** What each form does, and what is said when it is done. */
const actions = {
  async addUser(fields) {
    const email = fields.get("email");
    if (!email) throw new Error("Say the address of the user.");
    const known = await control("GET", "users");
    if (known.some((user) => user.email.toLowerCase() === email.toLowerCase())) {
      throw new Error(`There is a user '${email}' already.`);
    }
    await control("PUT", `users/${encodeURIComponent(email)}`, { body: { ...filled(fields), claims: claims(fields) } });
    return "The user was added.";
  },
  async changeUser(fields, user) {
    const body = { ...Object.fromEntries(fields), claims: claims(fields), disabled: fields.has("disabled") };
    if (!body.password) delete body.password;
    await control("PUT", `users/${user}`, { body });
    return "The user was changed.";
  },
  async removeUser(_, user) {
    await control("DELETE", `users/${user}`);
    return "The user was removed.";
  },
  async revoke(_, user) {
    await control("POST", "revoke", { body: { user } });
    return "All grants of the user are void.";
  },
  async keys(fields) {
    await control("POST", "keys", { body: filled(fields) });
    return "The keys were changed.";
  },
  async clock(fields) {
    await control("POST", "clock", { body: filled(fields, ["skew_s"]) });
    return "The clock was set.";
  },
  async fault(fields) {
    const body = filled(fields, ["times", "status", "delay_ms", "retry_after"]);
    await control("POST", "faults", { body: { ...body, cut: fields.has("cut") } });
    return "The fault was added.";
  },
  async reset() {
    await control("POST", "reset");
    return "Everything is as at the start.";
  },
};

document.addEventListener("submit", async (event) => {
  const { action, user } = event.target.dataset;
  if (!action) return;
  event.preventDefault();
  say("");
  try {
    const outcome = await actions[action](new FormData(event.target, event.submitter), user);
    if (action === "addUser") event.target.reset();
    await refresh();
    await look();
    say(outcome);
  } catch (error) {
    say(error.message, true);
  }
});

find("#copy-token").addEventListener("click", () => copy(() => token(filled(new FormData(find("#token form"))))));

// What comes while the page is open.

// The identifier of the run changes with a reset; then the rows before it go.
const seen = { of: "", requests: 0, tokens: 0 };
let shownFaults = "";

async function look() {
  const news = await control("GET", "live", { parameters: seen });
  if (news.of !== seen.of) {
    Object.assign(seen, { of: news.of, requests: 0, tokens: 0 });
    find("#request-rows").replaceChildren();
    find("#token-rows").replaceChildren();
  }
  put("requests", find("#request-rows"), news.requests, requestRow);
  put("tokens", find("#token-rows"), news.tokens, tokenRow);
  const faults = JSON.stringify(news.faults);
  if (faults === shownFaults) return;
  shownFaults = faults;
  find("#no-faults").hidden = news.faults.length > 0;
  find("#faults > details > ul").replaceChildren(...news.faults.map(faultRow));
}

/** Adds rows before those that are there, which stay open if they were opened. */
function put(kind, list, entries, row) {
  for (const entry of entries) {
    // An answer that was under way twice brings a row twice.
    if (entry.number <= seen[kind]) continue;
    seen[kind] = entry.number;
    list.prepend(row(entry));
  }
  while (list.children.length > mostRows) list.lastElementChild.remove();
}

function requestRow({ at, method, target, headers, body, status }) {
  return folded(
    [time(at), " ", make("b", {}, method), " ", mark(status, status >= 400), " ", ...clientMark(target, body),
      make("span", { className: "target" }, target.split("?")[0])],
    ...(target.includes("?") ? [make("p", { className: "target" }, target)] : []),
    make("dl", {}, ...headers.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])),
    ...(body ? [make("pre", {}, body)] : []));
}

/** A part of a token as JSON; undefined if the part is none. */
function decoded(part = "") {
  try {
    const binary = atob(part.replaceAll("-", "+").replaceAll("_", "/"));
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0))));
  } catch {
    return undefined;
  }
}

function tokenRow({ number, at, token, defect }) {
  const [header, payload] = token.split(".").slice(0, 2).map(decoded);
  const claims = payload ?? {};
  const subject = claims.name ?? claims.preferred_username ?? claims.oid ?? claims.sub ?? "no subject";
  const client = claims.azp ?? claims.appid ?? claims.aud;
  const kind = [claims.scp && `scopes ${claims.scp}`, claims.tfp ?? claims.acr].filter(Boolean).join(", ");
  return folded(
    [time(at), " ", make("b", {}, String(subject)), " ", ...(client ? [mark(nameOf(client)), " "] : []), kind, ...(defect ? [" ", mark(defect, true)] : [])],
    make("p", {}, copyButton(`token ${number}`, () => token), ...(claims.exp ? [" Valid until ", time(claims.exp), "."] : [" Without exp."])),
    make("pre", {}, header ? JSON.stringify(header, null, 2) : "The header is not JSON."),
    make("pre", {}, payload ? JSON.stringify(payload, null, 2) : "The payload is not JSON."));
}

function faultRow({ at, times, delay_ms, cut, status }) {
  const effects = [
    delay_ms > 0 && `${delay_ms} ms later`, status && `answers ${status}`, cut && "closes the connection",
    times === 1 ? "1 time" : `${times} times`,
  ];
  return make("li", {}, make("b", {}, at), ` ${effects.filter(Boolean).join(", ")}`);
}

let isAway = false;

async function watch() {
  if (find("#watch").checked && !document.hidden) {
    try {
      await look();
      if (isAway) say("");
      isAway = false;
    } catch {
      if (!isAway) say("The mock does not answer.", true);
      isAway = true;
    }
  }
  setTimeout(watch, 1000);
}

async function start() {
  try {
    await refresh();
    showRegistration(await control("GET", "registration"), await control("GET", "token/bad"));
    await look();
    find("main").removeAttribute("aria-busy");
  } catch (error) {
    say(error.message, true);
  }
  watch();
}

start();
