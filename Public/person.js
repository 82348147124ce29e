// The dialog about the person who is signed in, until when, and the way out; task-page.js loads it when somebody opens it.

import { call, Problem, Unreachable } from "./api.js";
import { today } from "./days.js";
import { counted, find, locale, make } from "./dom.js";
import { wordsOf } from "./repeat.js";
import { policies, policyButton, returnPolicy, signOut } from "./session.js";
import { shared } from "./session-store.js";

let isFilled = false;

/** Opens the dialog; `page` gives {config, me, access, model, sync, others, signInOptions}. */
export function openPerson(page) {
  if (!isFilled) fill(page);
  isFilled = true;
  const all = shared(); // another tab may have renewed the session
  const time = all ? all.ends : page.me.claims.expires;
  const date = time && new Date(time).toLocaleString(locale(), { dateStyle: "medium", timeStyle: "short" });
  find("person-ends").textContent = date ? `Signed in until ${date}.` : "Signed in until you sign out.";
  find("leaving").textContent = find("data-note").textContent = find("deletion-name").value = "";
  find("deletion").hidden = true;
  find("delete-list").setAttribute("aria-expanded", "false");
  find("person").showModal();
}

function fill(page) {
  const { claims, mail } = page.me;
  find("person-mail").textContent = mail ?? "";
  find("person-id").textContent = claims.owner;
  find("person-policy").textContent = claims.policy || "not in the token";
  find("person-scopes").textContent = claims.scopes.join(" ") || "none";
  const edits = policies(page.config).filter((policy) => policy.kind === "edit");
  find("profile-actions").replaceChildren(...edits.map((policy) => policyButton(page.config, policy, "secondary", page.signInOptions)));
  find("sign-out").addEventListener("click", () => leave(page));
  find("files").addEventListener("click", ({ target }) => target.value && saveList(page.model.view(), target.value));
  offerDeletion(page, find("person-title").textContent);
}

function offerDeletion(page, name) {
  const field = find("deletion-name");
  find("deletion").querySelector("b").textContent = name;
  find("delete-list").addEventListener("click", ({ currentTarget }) => {
    currentTarget.setAttribute("aria-expanded", "true");
    find("deletion").hidden = false;
    field.focus();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // the form would close the dialog
    find("delete-all").click();
  });
  find("delete-all").addEventListener("click", async () => {
    const say = (text) => (find("data-note").textContent = text);
    if (field.value.trim() !== name) return say(`Nothing was deleted. Type ${name} as it stands here.`);
    say("");
    try {
      await deleteList(page);
    } catch (error) {
      if (error instanceof Problem) return say(error.message);
      if (!(error instanceof Unreachable)) throw error;
      say("The server cannot be reached. Check your connection, then try again.");
    }
  });
}

/** Deletes the list here and on the server, with the changes that wait for tasks of it, and signs out. */
async function deleteList({ config, me, access, model, sync, others }) {
  await call(access, "DELETE", "/api/me", { headers: { "Confirm-Delete": "yes" } });
  sync.end();
  for (const { key } of model.queue.all()) model.queue.drop(key);
  await model.queue.load();
  model.forget();
  others.postMessage({ left: me.owner });
  await signOut(config, returnPolicy(config, me.policy));
}

/** Tries once more to save; changes that remain unsaved stay in this browser, and the person is told. */
async function leave({ config, me, model, sync, others }) {
  const isTold = find("leaving").textContent !== "";
  sync.leave();
  if (!isTold && model.queue.all().length) {
    await Promise.race([sync.run(), new Promise((resolve) => setTimeout(resolve, 3000))]);
    const left = model.queue.all();
    if (left.length) return tell(left.length, left.filter((change) => model.queue.stateOf(change) !== "kept").length);
  }
  sync.stream.end();
  model.forget();
  others.postMessage({ left: me.owner });
  await signOut(config, returnPolicy(config, me.policy));
}

function tell(left, unkept) {
  const [are, they] = left === 1 ? ["is", "It stays in this browser and is"] : ["are", "They stay in this browser and are"];
  find("leaving").textContent = `${counted(left, "change")} ${are} not saved yet. `
    + (unkept ? `This browser could not keep ${unkept} of them, which would be lost. `
      : `${they} saved when you sign in here again. `)
    + "Press “Sign out” once more to leave now.";
}

// The list as a file: text to read, CSV for a spreadsheet, JSON for programs.

const FORMS = {
  text: ["text/plain", "txt", (tasks) => tasks.map(lineOf).join("\n")],
  csv: ["text/csv", "csv", (tasks) => `\ufeff${[COLUMNS, ...tasks.map(cellsOf)].map((cells) => cells.map(quoted).join(",")).join("\r\n")}`],
  json: ["application/json", "json", (tasks) =>
    JSON.stringify(tasks.map(({ text, completed, due, repeat, notes }) => ({ task: text, completed, due, repeat, notes })), null, 2)],
};
const COLUMNS = ["task", "completed", "due", "notes", "repeat"];

function saveList(tasks, form) {
  const [type, ending, write] = FORMS[form];
  const href = URL.createObjectURL(new Blob([write(tasks), "\n"], { type }));
  make("a", { href, download: `tasks-${today()}.${ending}` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60000);
}

function lineOf({ text, completed, due, notes, repeat }) {
  const indented = (value) => value.replace(/\n/g, "\n    ");
  const when = due ? ` (due ${due}${repeat ? `, ${wordsOf(repeat)}` : ""})` : "";
  return `[${completed ? "x" : " "}] ${indented(text)}${when}${notes ? `\n    ${indented(notes)}` : ""}`;
}

const cellsOf = ({ text, completed, due, notes, repeat }) => [text, completed, due ?? "", notes ?? "", repeat ?? ""];

/** A spreadsheet takes a cell that begins with one of these signs for a formula, so an apostrophe comes before it. */
const quoted = (cell) => `"${String(cell).replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;
