// Shows the contract: every operation with its input and its answers, and a form that tries it.

import { find, make } from "./dom.js";
import { showToken, trial } from "./trial.js";

const METHODS = ["get", "post", "put", "patch", "delete"];
const RESPONSES = "#/components/responses/";
const COMMON = 5; // an error of at least this many operations is shown once
let contract;
let common; // the errors that are shown once: their names with their statuses

try {
  contract = await (await fetch("openapi.json", { cache: "no-cache" })).json();
  show();
  await showToken();
} catch (error) {
  find("trouble").textContent = `The contract could not be shown. ${error.message}`;
  find("trouble").hidden = false;
}

function show() {
  find("about").append(...contract.info.description.trim().split("\n\n").map((text) => make("p", {}, ...rich(text))));
  common = commonErrors();
  find("errors").append(facts("", [...common].map(([name, status]) => answerFact([status, { $ref: `${RESPONSES}${name}` }]))));
  find("errors").querySelectorAll("dl > div").forEach((row, index) => (row.id = `error-${[...common.keys()][index]}`));
  find("errors").hidden = false;
  for (const tag of contract.tags) {
    const operations = operationsOf(tag.name);
    find("contents").append(
      make("h2", { textContent: tag.name }),
      make("ul", {}, ...operations.map(({ operation, method, path }) => make("li", {},
        make("a", { href: `#${operation.operationId}` }, methodBadge(method), " ", make("code", { textContent: path })),
        make("span", { textContent: operation.summary })))),
    );
    find("operations").append(make("h2", { className: "part", textContent: tag.name }), ...operations.map(card));
  }
  // The browser looked for the anchor before it was there. No anchor has a name that needs an escape.
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

function nameOf(response) { return response.$ref?.slice(RESPONSES.length); }

/** Returns the errors that at least COMMON operations share, by status. */
function commonErrors() {
  const errors = contract.tags.flatMap((tag) => operationsOf(tag.name))
    .flatMap(({ operation }) => Object.entries(operation.responses))
    .filter(([status, response]) => response.$ref && !(Number(status) < 400))
    .map(([status, response]) => [nameOf(response), status]);
  return new Map(errors.filter(([name]) => errors.filter(([other]) => other === name).length >= COMMON)
    .sort(([, a], [, b]) => a.localeCompare(b)));
}

function operationsOf(tag) {
  return Object.entries(contract.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]?.tags.includes(tag))
      .map((method) => ({ path, method, operation: item[method] })));
}

function methodBadge(method) { return make("span", { className: `method ${method}`, textContent: method.toUpperCase() }); }

function card({ path, method, operation }) {
  const parameters = (operation.parameters ?? []).map(resolve);
  return make("section",
    { className: "entry", id: operation.operationId, attributes: { "aria-labelledby": `${operation.operationId}-title` } },
    make("h3", { id: `${operation.operationId}-title` }, methodBadge(method), make("code", { textContent: path })),
    make("p", { className: "entry-title", textContent: `${operation.summary}${operation.security ? " · no token needed" : ""}` }),
    ...(operation.description ? [make("p", {}, ...rich(operation.description))] : []),
    ...(parameters.length ? [facts("Parameters", parameters.map(parameterFact))] : []),
    ...(operation.requestBody ? [bodyFacts(resolve(operation.requestBody))] : []),
    facts("Answers", Object.entries(operation.responses).filter(([, response]) => !common.has(nameOf(response))).map(answerFact)),
    ...sharedErrors(operation),
    trial({ path, method, operation, parameters, body: operation.requestBody && resolve(operation.requestBody) }),
  );
}

/** Returns the numbers of the errors that are shown once, as links to them. */
function sharedErrors(operation) {
  const shared = Object.entries(operation.responses).filter(([, response]) => common.has(nameOf(response)));
  if (!shared.length) return [];
  const links = shared.flatMap(([status, response]) =>
    [" ", make("a", { href: `#error-${nameOf(response)}`, textContent: status === "default" ? "others" : status })]);
  return [make("p", { className: "shared-errors" }, "Errors that most requests share:", ...links)];
}

function facts(title, rows) {
  return make("div", { className: "facts" },
    ...(title ? [make("h4", { textContent: title })] : []),
    make("dl", {}, ...rows.map(([term, ...texts]) => make("div", {}, make("dt", {}, term), make("dd", {}, ...texts)))));
}

function parameterFact(parameter) {
  const kind = make("span", { className: "kind", textContent: `${parameter.in}, ${kindOf(parameter.schema)}. ` });
  return [make("code", { textContent: parameter.name }), kind, ...rich(parameter.description ?? "")];
}

function bodyFacts(body) {
  const rows = Object.entries(body.content).map(([type, { schema }]) => [make("code", { textContent: type }), kindOf(schema)]);
  const box = facts("Body", rows);
  box.firstChild.after(make("p", { textContent: body.description }));
  const example = Object.values(body.content).find((content) => content.example)?.example;
  if (example) box.append(make("pre", { tabIndex: 0, textContent: JSON.stringify(example) }));
  return box;
}

function answerFact([status, reference]) {
  const response = resolve(reference);
  const parts = rich(response.description);
  const headers = Object.keys(response.headers ?? {});
  if (headers.length) parts.push(" ", make("span", { className: "kind", textContent: `With ${headers.join(", ")}.` }));
  const example = exampleOf(Object.values(response.content ?? {})[0]?.schema);
  if (example && Number(status) < 300) {
    parts.push(make("details", {}, make("summary", { textContent: "Example" }),
      make("pre", { tabIndex: 0, textContent: JSON.stringify(example, null, 1) })));
  }
  const badge = make("span", { className: `badge s${status[0]}`, textContent: status === "default" ? "other" : status });
  return [badge, ...parts];
}

function exampleOf(schema) {
  if (!schema) return null;
  const known = resolve(schema);
  if (known.type === "array") return exampleOf(known.items) && [exampleOf(known.items)];
  return known.type === "object" ? known.example : null;
}

function kindOf(schema) {
  const known = resolve(schema);
  if (known.enum) return `one of ${[...new Set(known.enum.map(String))].join(", ")}`;
  if (!known.properties) return [known.type ?? "anything"].flat().filter((type) => type !== "null").join(" or ");
  const required = known.required ?? [];
  return Object.keys(known.properties).map((name) => name + (required.includes(name) ? "" : "?")).join(", ");
}

function resolve(value) { return value.$ref?.slice(2).split("/").reduce((place, name) => place[name], contract) ?? value; }

/** Returns text with `code`, **strong** and [links](/here), as elements. */
function rich(text) {
  return text.trim().split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/).filter(Boolean).map((piece) => {
    if (piece.startsWith("`")) return make("code", { textContent: piece.slice(1, -1) });
    if (piece.startsWith("**")) return make("strong", { textContent: piece.slice(2, -2) });
    const link = /^\[(.+)\]\((.+)\)$/.exec(piece);
    return link ? make("a", { textContent: link[1], href: link[2] }) : piece;
  });
}
