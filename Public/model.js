// What the person sees: the list as the server last gave it, with the changes applied that the server has not
// confirmed yet. Every change is a small record in local storage, under a key of its own, so that it survives reload,
// crash and sign-out, and two tabs never overwrite each other's. It is removed when the server has answered.

import { inOrder } from "/order.js";
import { read, write } from "/storage.js";

const PREFIX = "tasks.change.";
export const UNDO_TIME = 7000;
const STORE_AFTER = 500; // milliseconds: many changes in a row write a long list once

/**
 * One person's tasks. A change is {key, kind, ...}:
 *   add    {text, completed, due?, notes?, position?}  `key` is its Idempotency-Key
 *   change {target, completed} or {target, position}   the last one wins
 *   change {target, text | due | notes, base, of}      `base` is the value that the person saw when changing it, `of`
 *                                                      the task then; null is no due date and no notes
 *   remove {target, notBefore}                         waits for the time of undo
 * A target is a task's id, or the key of an addition that has no id yet. `problem` stops a change until the person
 * decides: {title, detail} for a refusal, {field, theirs} for another value, {gone} for a task that is no more.
 */
export class Model {
  #owner;
  #isLasting;
  #isForgotten = false; // an answer that comes after sign-out is not kept any more
  #saved;
  #aliases; // key of an addition -> id of the task it became
  #changes = new Map(); // name of a record in local storage -> change, oldest first
  #storing; // timer
  #rows = new Map(); // id -> key: a row keeps its name, so keeps its focus

  /** `isLasting`: whether a new tab, too, is to find the list: it is kept in the local storage until the person signs out. */
  constructor(owner, { isLasting = false } = {}) {
    this.#owner = owner;
    this.#isLasting = isLasting;
    const kept = (isLasting && read(localStorage, this.#listName)) || read(sessionStorage, this.#listName);
    this.#saved = kept ?? { tasks: [], tag: null, known: false };
    this.#aliases = read(localStorage, `tasks.names.${owner}`) ?? {};
    for (const [key, id] of Object.entries(this.#aliases)) this.#rows.set(id, key);
    this.reload();
  }

  get prefix() {
    return `${PREFIX}${this.#owner}.`;
  }

  /** Whether the server has ever given the list in this tab. */
  get isKnown() {
    return this.#saved.known;
  }

  get tag() {
    return this.#saved.tag;
  }

  /** All waiting changes, oldest first. */
  changes() {
    return Array.from(this.#changes.values(), (change) => this.#named(change));
  }

  /** Reads all waiting changes again, those of the other tabs included. */
  reload() {
    const names = Object.keys(localStorage).filter((name) => name.startsWith(this.prefix)).sort();
    const records = names.map((name) => [name, read(localStorage, name)]);
    this.#changes = new Map(records.filter(([, change]) => change));
  }

  /** Another tab has written or removed a record (an event of the storage). */
  heard({ key, newValue }) {
    if (newValue === null) this.#changes.delete(key);
    else this.#changes.set(key, JSON.parse(newValue));
  }

  /** The tasks to show, in the person's order. */
  view() {
    const rows = new Map(this.#saved.tasks.map((task) => [task.id, { ...task, state: "saved" }]));
    for (const change of this.changes()) apply(change, rows);
    return [...rows.values()].map((row) => ({ ...row, row: this.#rows.get(row.id) ?? String(row.id) })).sort(inOrder);
  }

  /** `optional` are its due date, notes and position, if it has any. Returns the key of the addition, which names its row. */
  add(text, completed = false, optional = {}) {
    return this.#put({ kind: "add", text, completed, ...membersOf(optional) });
  }

  /** Changes the text, the due date or the notes; `base` is the value that the person saw. */
  edit(task, field, value, base) {
    const { text, completed } = task;
    const of = { text, completed, ...membersOf(task), [field]: base };
    this.#put({ kind: "change", target: task.id, [field]: value, base, of });
  }

  place(task, position) {
    this.#put({ kind: "change", target: task.id, position });
  }

  complete(task, completed) {
    this.#put({ kind: "change", target: task.id, completed });
  }

  /** Removes after the time of undo; the keys are for `drop`. */
  remove(tasks) {
    const notBefore = Date.now() + UNDO_TIME; // one moment for all: they are sent together
    return tasks.map((task) => this.#put({ kind: "remove", target: task.id, notBefore }));
  }

  drop(key) {
    const place = this.#place(key);
    localStorage.removeItem(place);
    this.#changes.delete(place);
  }

  /** The person decided about a problem: the change waits again, altered. */
  revise(key, alteration) {
    const place = this.#place(key);
    const change = read(localStorage, place);
    if (change) this.#record(place, { ...change, problem: undefined, ...alteration });
  }

  /** The person gives a change up for the value that the server has. */
  adopt(key, id, { field = "text", theirs }) {
    const tasks = this.#saved.tasks.map((task) => (task.id === id ? { ...task, [field]: theirs } : task));
    this.#save({ ...this.#saved, tasks, tag: null });
    this.drop(key);
  }

  /** Drops all changes of a task that is no more. */
  abandon(id) {
    for (const change of this.changes()) if (change.target === id) this.drop(change.key);
  }

  /** Undo is over, for instance because the page is being closed. */
  hurry() {
    const waiting = this.changes().filter((change) => change.notBefore > Date.now());
    for (const change of waiting) this.revise(change.key, { notBefore: 0 });
    return waiting;
  }

  /**
   * What to send while other changes are being sent: {ready, wait}, the changes that can be sent now, oldest first, and the
   * milliseconds until there is another, or null.
   * A task's changes keep their order, and so do additions: their order is that of the list.
   */
  next(sending) {
    const blocked = new Set(sending.map(subjectOf));
    let isAdding = sending.some((change) => change.kind === "add");
    const ready = [];
    let wait = null;
    for (const change of this.changes()) {
      const subject = subjectOf(change);
      const rest = (change.notBefore ?? 0) - Date.now();
      if (!change.problem && !blocked.has(subject) && !(isAdding && change.kind === "add")) {
        if (rest > 0) wait = Math.min(wait ?? rest, rest);
        else if (this.#isKept(change)) {
          ready.push(change);
          isAdding ||= change.kind === "add";
        }
      }
      blocked.add(subject);
    }
    return { ready, wait };
  }

  /** The server has done a change: `task` is what it answered, null if there is none now. */
  confirm(change, task) {
    if (change.kind === "add") this.#name(change.key, task.id);
    this.confirmAll([[change, task]]);
  }

  /** The same of many changes, none of which adds a task: pairs of a change and its task. */
  confirmAll(answers) {
    const ids = new Set(answers.map(([change, task]) => task?.id ?? change.target));
    const others = this.#saved.tasks.filter((other) => !ids.has(other.id));
    const tasks = [...others, ...answers.map(([, task]) => task).filter(Boolean)].sort((a, b) => a.id - b.id);
    this.#save({ tasks, tag: null, known: this.#saved.known });
    for (const [change] of answers) this.drop(change.key);
  }

  /** The server's own list. */
  replace(tasks, tag) {
    this.#save({ tasks, tag, known: true });
  }

  /** Removes everything of this person except changes that are not saved yet. */
  forget() {
    this.#isForgotten = true;
    clearTimeout(this.#storing);
    this.#storing = undefined;
    for (const storage of [sessionStorage, localStorage]) storage.removeItem(this.#listName);
    sessionStorage.removeItem(this.#draftName);
    // What waits may be for a task that it knows by the key of its addition.
    if (!this.#changes.size) localStorage.removeItem(`tasks.names.${this.#owner}`);
  }

  /** What the person is writing and has not saved, kept over a reload of this tab: {draft, editing}. */
  get draft() {
    return read(sessionStorage, this.#draftName) ?? {};
  }

  set draft(draft) {
    if (draft.draft || draft.editing) write(sessionStorage, this.#draftName, draft);
    else sessionStorage.removeItem(this.#draftName);
  }

  get #draftName() {
    return `tasks.draft.${this.#owner}`;
  }

  get #listName() {
    return `tasks.list.${this.#owner}`;
  }

  /** Writes the list for the next start of this tab, and of a new one; a list that is too large is left out. */
  store() {
    if (!this.#storing) return;
    clearTimeout(this.#storing);
    this.#storing = undefined;
    for (const storage of this.#isLasting ? [sessionStorage, localStorage] : [sessionStorage]) {
      try {
        write(storage, this.#listName, this.#saved);
      } catch {
        storage.removeItem(this.#listName);
      }
    }
  }

  #put(change) {
    const key = crypto.randomUUID();
    this.#record(`${this.prefix}${Model.#order()}.${key}`, this.#named({ ...change, key }));
    return key;
  }

  /** A change that is not saved needs its room more than the list, which the server has. */
  #record(place, change) {
    try {
      write(localStorage, place, change);
    } catch {
      localStorage.removeItem(this.#listName);
      write(localStorage, place, change);
    }
    this.#changes.set(place, change);
  }

  /** Whether a change is still to be sent: another tab may have done that a moment ago. */
  #isKept(change) {
    const place = this.#place(change.key);
    const isKept = localStorage.getItem(place) !== null;
    if (!isKept) this.#changes.delete(place);
    return isKept;
  }

  /** The name of a change's record. Sorted by name means sorted by time, within a tab strictly. */
  #place(key) {
    for (const [place, change] of this.#changes) if (change.key === key) return place;
    return "";
  }

  static #last = 0;
  static #order() {
    Model.#last = Math.max(Model.#last + 1, Date.now() * 1000);
    return String(Model.#last).padStart(17, "0");
  }

  #named(change) {
    return { ...change, target: this.#aliases[change.target] ?? change.target };
  }

  /** Remembers the newest hundred: a change made in another tab may still use the old name. */
  #name(key, id) {
    this.#aliases = Object.fromEntries([...Object.entries(this.#aliases), [key, id]].slice(-100));
    this.#rows.set(id, key);
    write(localStorage, `tasks.names.${this.#owner}`, this.#aliases);
  }

  #save(saved) {
    this.#saved = saved;
    if (!this.#isForgotten) this.#storing ??= setTimeout(() => this.store(), STORE_AFTER);
  }
}

const subjectOf = (change) => change.target ?? change.key;

function apply(change, rows) {
  const id = change.target ?? change.key;
  const row = rows.get(id);
  const state = { state: change.problem ? "stuck" : "waiting", problem: change.problem, change: change.key };
  if (change.kind === "add") {
    rows.set(id, { id, text: change.text, completed: change.completed, ...membersOf(change), ...state });
  } else if (change.kind === "remove") {
    if (change.problem) rows.set(id, { ...row, ...state });
    else rows.delete(id);
  } else if (row || change.problem?.gone) {
    const kept = row?.problem ? { state: row.state, problem: row.problem, change: row.change } : state;
    const altered = CHANGEABLE.filter((field) => field in change).map((field) => [field, change[field]]);
    rows.set(id, { id, completed: false, ...change.of, ...row, ...kept, ...Object.fromEntries(altered) });
  }
}

/** A task as the server writes it, in the form used here. */
export const taskOf = (json) => ({
  id: json.Id, text: json.task, completed: json.completed, added: json.date, modified: json.DateModified,
  ...membersOf(json),
});

const OPTIONAL = ["due", "notes", "position"];
const CHANGEABLE = ["text", "completed", ...OPTIONAL];

/** The optional members that are set. */
const membersOf = (task) =>
  Object.fromEntries(OPTIONAL.filter((name) => (task[name] ?? null) !== null).map((name) => [name, task[name]]));

/** The field of a change that must not replace another value than the person saw, or undefined. */
export const guardedField = (change) => ["text", "due", "notes"].find((field) => field in change);

/** The value of a field; null is none. */
export const valueOf = (task, field) => task[field] ?? null;

/** The members of the API's JSON for an addition (`POST`) or a change (a merge patch, RFC 7396). */
export function bodyOf(change) {
  const fields = CHANGEABLE.filter((field) => change[field] !== undefined);
  return Object.fromEntries(fields.map((field) => [field === "text" ? "task" : field, change[field]]));
}
