// The list that the person sees: the last list of the server, with the changes that the server has not confirmed yet.
// Every change is a record in the queue, under a key of its own, so that it survives reload, crash and sign-out, and
// two tabs never overwrite each other's. It is removed when the server has answered.

import { Unreachable } from "./api.js";
import { today } from "./days.js";
import { inOrder } from "./order.js";
import { Queue } from "./queue.js";
import { following } from "./repeat.js";
import { read, write } from "./storage.js";

export const UNDO_TIME = 7000;
// The server remembers the key of an addition for 24 hours, and the newest thousand of a person.
const KEY_LIFE = 23 * 3600000;
const KEYS = 1000;
const HURRIED = "tasks.hurried"; // in session storage: a page that is being closed may not reach the database any more
const LONGEST_WAIT = 60000; // a deletion that seems to wait for longer was made before the clock was put back
const STORE_AFTER = 500; // milliseconds: many changes in a row write a long list once

/** One person's tasks. A change is {key, kind, ...}:
 *   add    {text, completed, due?, notes?, position?, at, after}: `key` is its Idempotency-Key, `at` when it was written, and
 *          `after` the newest id that was known then.
 *   change {target, completed} or {target, position}: the last one wins. The tick of a task that repeats has `completedOn`, the
 *          person's day, and `next`, the task that comes then, with `key` as its id.
 *   change {target, text | due | notes | repeat, base, of}: `base` is the value that the person saw when changing it, `of` the task
 *          then; null is no value.
 *   remove {target, notBefore, of?}: waits for the time of undo; `of` is the task as it was shown, if a changed one is to stay.
 * A target is a task's id, or the key of the change that makes the task, as long as that has no id. `problem` stops a change until
 * the person decides: {title, detail} for a refusal, {field, theirs} for another value, {gone} for a task that is no more, {added}
 * for an addition that may have been made already. */
export class Model {
  #isLasting;
  #isForgotten = false; // an answer that comes after sign-out is not kept any more
  #saved;
  #storing; // timer
  #listName;
  #draftName;
  #clearedName;
  #drafts;
  #answered = new Map(); // the id of a task -> its `modified` in the last answer to a change; undefined if it was deleted
  #shown = new WeakMap(); // a task of the list -> the task as `view` gives it
  #news = new Set(); // the ids of the tasks that others have changed, until somebody asks

  /** `isLasting`: whether a new tab, too, is to find the list: it is kept in the local storage until the person signs out.
   * `changed` is called as by the queue of the changes, but not told of new drafts. */
  constructor(owner, { isLasting = false, changed = () => {} } = {}) {
    this.#isLasting = isLasting;
    this.#listName = `tasks.list.${owner}`;
    this.#draftName = `tasks.draft.${owner}`;
    this.#clearedName = `tasks.cleared.${owner}`;
    const kept = (isLasting && read(localStorage, this.#listName)) || read(sessionStorage, this.#listName);
    this.#saved = kept ?? { tasks: [], tag: null, known: false };
    this.queue = new Queue(owner, changed);
    // {key, target, base, values} of tasks that are half changed. The name keeps them from being sent, also by older pages.
    this.#drafts = new Queue(`drafts of ${owner}`, (hasOthers) => changed(hasOthers));
    this.lock = `tasks.change.${owner}.`; // the name of the lock for the tab that sends
  }

  get isKnown() {
    return this.#saved.known;
  }

  get tag() {
    return this.#saved.tag;
  }

  /** Reads all waiting changes again, also those of the other tabs. */
  async reload() {
    await Promise.all([this.queue.load(), this.#drafts.load()]);
    for (const key of read(sessionStorage, HURRIED) ?? []) this.revise(key, { notBefore: 0 });
    sessionStorage.removeItem(HURRIED);
  }

  /** The tasks to show, in the person's order. A task that is as it was is the same object again. */
  view() {
    const rows = new Map(this.#saved.tasks.map((task) => [task.id, task]));
    for (const change of this.queue.all()) apply(change, rows);
    const names = new Map([...this.queue.ids].map(([key, id]) => [id, key])); // a row keeps its name, and so its focus
    for (const { target, base, values } of this.#drafts.all()) {
      const row = rows.get(this.queue.ids.get(target) ?? target);
      if (row) rows.set(row.id, { ...row, draft: { seen: base, values } });
    }
    const shown = (task) => {
      const row = names.get(task.id) ?? String(task.id);
      if (this.#shown.get(task)?.row !== row) this.#shown.set(task, { ...task, row });
      return this.#shown.get(task);
    };
    return [...rows.values()].map(shown).sort(inOrder);
  }

  /** Adds a task. `optional` are its due date, notes and position. Returns the key of the addition, which names its row. */
  add(text, completed = false, optional = {}) {
    return this.#put({ kind: "add", text, completed, at: Date.now(), after: this.#newest, ...membersOf(optional) });
  }

  /** Changes the text, the due date, the notes or the rule; `base` is the value that the person saw. A rule goes with the due date. */
  edit(task, field, value, base, repeat = field === "due" && !value && task.repeat ? null : undefined) {
    this.#put({ kind: "change", target: task.id, repeat, [field]: value, base, of: { ...shownOf(task), [field]: base } });
  }

  place(task, position) {
    this.#put({ kind: "change", target: task.id, position });
  }

  /** Finishes a task, or opens it again; returns {key, next}, the key of the change and the task that comes next, if there is one. */
  complete(task, completed) {
    const coming = completed && task.repeat ? following(task, today()) : null;
    const next = coming && { ...shownOf(task), ...coming };
    const completedOn = task.repeat && completed ? today() : undefined; // a clock that is wrong is no fault of other ticks
    return { key: this.#put({ kind: "change", target: task.id, completed, completedOn, next }), next };
  }

  /** Opens a task that `complete` has finished, to repeat as before, and removes the next one, if that is still as it came. */
  reopen(task, { key, next }, repeat) {
    this.#put({ kind: "change", target: task.id, completed: false, repeat });
    const target = this.queue.get(key) ? key : this.queue.ids.get(key);
    if (next && target) this.#put({ kind: "remove", target, of: next });
  }

  /** Removes a task after the time of undo, perhaps only if it is still as shown. Returns the keys of the changes. */
  remove(tasks, asShown = false) {
    const notBefore = Date.now() + UNDO_TIME; // one moment for all: they are sent together
    return tasks.map((task) => this.#put({ kind: "remove", target: task.id, notBefore, of: asShown ? shownOf(task) : undefined }));
  }

  /** Keeps what is half written in a task, for the next tab, too; without `values`, it is half written no more. */
  keepDraft(task, base, values) {
    const [old] = this.#drafts.all().filter(({ target }) => (this.queue.ids.get(target) ?? target) === task.id);
    if (values) this.#drafts.put({ ...old, key: old?.key ?? crypto.randomUUID(), target: task.id, base, values });
    else if (old) this.#drafts.drop(old.key);
  }

  /** Alters a change by the person's decision about a problem, and lets it wait again. */
  revise(key, alteration) {
    const change = this.queue.get(key);
    if (change) this.queue.put({ ...change, problem: undefined, ...alteration });
  }

  /** Gives a change up for the value that the server has. */
  adopt(key, id, { field = "text", theirs }) {
    const tasks = this.#saved.tasks.map((task) => (task.id === id ? { ...task, [field]: theirs } : task));
    this.#save({ ...this.#saved, tasks, tag: null });
    this.queue.drop(key);
  }

  /** Drops all changes of a task that is no more, or is not to be added. */
  abandon(id) {
    for (const change of this.queue.all()) if (subjectOf(change) === id) this.queue.drop(change.key);
  }

  /** Whether this addition may have been made already, and its answer lost, so long ago that the server has forgotten
   * its key: a task with the same text came into the list after the addition was written. */
  isDoubtful({ text, at, after = 0 }) {
    const isForgotten = Math.abs(Date.now() - at) > KEY_LIFE || this.#newest - after >= KEYS;
    return isForgotten && this.#saved.tasks.some((task) => task.id > after && task.text === text);
  }

  /** The newest id of the list, which is ordered by ids. */
  get #newest() {
    return this.#saved.tasks.at(-1)?.id ?? 0;
  }

  /** Ends undo, for instance because the page is being closed. */
  hurry() {
    const waiting = this.queue.all().filter((change) => change.notBefore > Date.now());
    for (const change of waiting) this.revise(change.key, { notBefore: 0 });
    write(sessionStorage, HURRIED, waiting.map(({ key }) => key)); // else they wait some seconds at the next start
    return waiting;
  }

  /** What to send while other changes are being sent: {ready, wait}, the changes that can be sent now, oldest first, and the milliseconds
   * until there is another, or null. A task's changes keep their order, and so do additions. What is for a task without an id waits for
   * that, and holds up nothing. A deletion does not wait for the person to decide about other changes. */
  next(sending) {
    const blocked = new Set(sending.map(subjectOf));
    const stuck = new Set();
    let isAdding = sending.some((change) => change.kind === "add");
    const ready = [];
    let wait = null;
    for (const change of this.queue.all()) {
      const subject = subjectOf(change);
      const isHeldUp = stuck.has(subject) && change.kind !== "remove";
      if (change.problem || isHeldUp) stuck.add(subject);
      if (change.problem || isHeldUp || (typeof change.target === "string" && !stuck.has(subject))) continue;
      const rest = (change.notBefore ?? 0) - Date.now();
      if (!blocked.has(subject) && !(isAdding && change.kind === "add")) {
        if (rest > 0 && rest < LONGEST_WAIT) wait = Math.min(wait ?? rest, rest);
        else {
          ready.push(change);
          isAdding ||= change.kind === "add";
        }
      }
      blocked.add(subject);
    }
    return { ready, wait };
  }

  /** Takes the server's answers to changes, as lists of a change, its task, which is null if there is none now, and the task that the
   * change has made, if any. */
  confirm(...answers) {
    const made = answers.map(([, , next]) => next).filter(Boolean);
    const answered = new Map(answers.map(([change, task]) => [task?.id ?? change.target, task?.modified]));
    for (const { id, modified } of made) answered.set(id, modified);
    for (const [id, modified] of answered) this.#answered.set(id, modified);
    const others = this.#saved.tasks.filter((other) => !answered.has(other.id));
    const tasks = [...others, ...made, ...answers.map(([, task]) => task).filter(Boolean)].sort((a, b) => a.id - b.id);
    this.#save({ ...this.#saved, tasks, tag: null });
    for (const [change, task, next] of answers) {
      if (change.kind === "remove" && !task) this.#dropUntil(change);
      else this.queue.drop(change.key, change.kind === "add" ? task.id : next?.id);
    }
  }

  /** Drops the removal of a task, and what waited before it for the person to decide. */
  #dropUntil(removal) {
    const keys = this.queue.all().filter((change) => subjectOf(change) === removal.target).map(({ key }) => key);
    for (const key of keys.slice(0, keys.indexOf(removal.key) + 1)) this.queue.drop(key);
  }

  /** Takes the server's own list. What differs from the list before was changed by others. */
  replace(tasks, tag) {
    const before = new Map(this.#saved.tasks.map((task) => [task.id, task]));
    const isNews = (task) => !before.has(task.id) || !isAsShown(task, before.get(task.id));
    if (this.isKnown) this.#news = new Set([...this.#news, ...tasks.filter(isNews).map(({ id }) => id)]);
    this.#save({ ...this.#saved, tasks, tag, known: true });
  }

  /** The point up to which the list has the changes of the server (docs/sync.md), or null. */
  get point() {
    return this.#saved.point;
  }

  set point(point) {
    this.#save({ ...this.#saved, point });
  }

  /** Takes what an event of the stream tells. Returns false if the list had all of that, as of what was done here. */
  merge({ changed, removed, next }) {
    const tasks = new Map(this.#saved.tasks.map((task) => [task.id, task]));
    let isNews = false;
    for (const id of removed) {
      isNews = tasks.delete(id) || isNews;
      this.#answered.delete(id);
    }
    for (const task of tasksOf(changed).filter((task) => this.#isUpToDate(task))) {
      isNews ||= JSON.stringify(task) !== JSON.stringify(tasks.get(task.id));
      tasks.set(task.id, task);
    }
    if (isNews) this.replace([...tasks.values()].sort((a, b) => a.id - b.id), null);
    this.point = next;
    return isNews;
  }

  /** Whether what an event tells of a task is as new as the answer that this tab had; if not, another event has the answer. */
  #isUpToDate({ id, modified }) {
    if (this.#answered.has(id) && !(modified >= this.#answered.get(id))) return false;
    this.#answered.delete(id);
    return true;
  }

  /** Returns the ids of the tasks that others have changed since the last call. */
  takeNews() {
    const news = this.#news;
    this.#news = new Set();
    return news;
  }

  /** Removes everything of this person except changes that are not saved yet. */
  forget() {
    this.#isForgotten = true;
    clearTimeout(this.#storing);
    this.#storing = undefined;
    for (const storage of [sessionStorage, localStorage]) storage.removeItem(this.#listName);
    sessionStorage.removeItem(this.#draftName);
    localStorage.removeItem(this.#clearedName);
    for (const { key } of this.#drafts.all()) this.#drafts.drop(key);
  }

  /** How many finished tasks were cleared today in this browser; they were done all the same. */
  get cleared() {
    const { day, count } = read(localStorage, this.#clearedName) ?? {};
    return day === today() ? count : 0;
  }

  set cleared(count) {
    write(localStorage, this.#clearedName, { day: today(), count: Math.max(0, count) });
  }

  /** The text that the person is writing and has not saved, which outlives a reload of this tab: {draft, editing}. */
  get draft() {
    return read(sessionStorage, this.#draftName) ?? {};
  }

  set draft(draft) {
    if (draft.draft || draft.editing) write(sessionStorage, this.#draftName, draft);
    else sessionStorage.removeItem(this.#draftName);
  }

  /** Writes the list for the next start of this tab, and of a new one; a list that is too large is left out. */
  store() {
    if (!this.#storing) return;
    clearTimeout(this.#storing);
    this.#storing = undefined;
    for (const storage of this.#isLasting ? [sessionStorage, localStorage] : [sessionStorage]) {
      write(storage, this.#listName, this.#saved);
    }
  }

  #put(change) {
    const key = crypto.randomUUID();
    this.queue.put({ ...change, key });
    return key;
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
    if (change.problem && row) rows.set(id, { ...row, ...state });
    else rows.delete(id);
  } else if (row || change.problem?.gone) {
    const kept = row?.problem ? { state: row.state, problem: row.problem, change: row.change } : state;
    const altered = CHANGEABLE.filter((field) => change[field] !== undefined).map((field) => [field, change[field]]);
    if (change.next && !change.problem && row && !row.completed) rows.set(change.key, { ...change.next, id: change.key, ...state });
    const rule = change.completed ? { repeat: undefined } : {};
    rows.set(id, { id, completed: false, ...change.of, ...row, ...kept, ...Object.fromEntries(altered), ...rule });
  }
}

/** Returns a task of the server in the form that is used here, or nothing if the server cannot have written it. */
export function taskOf(json) {
  if (!Number.isInteger(json?.Id) || typeof json.task !== "string") throw new Unreachable("The answer is no task.");
  return {
    id: json.Id, text: json.task, completed: json.completed, added: json.date, modified: json.DateModified,
    ...membersOf(json),
  };
}

export function tasksOf(json) {
  if (!Array.isArray(json)) throw new Unreachable("The answer is no list of tasks.");
  return json.map(taskOf);
}

const OPTIONAL = ["due", "notes", "position", "repeat"];
const CHANGEABLE = ["text", "completed", ...OPTIONAL];

const membersOf = (task) => Object.fromEntries(OPTIONAL.filter((name) => (task[name] ?? null) !== null).map((name) => [name, task[name]]));

const shownOf = (task) => ({ text: task.text, completed: task.completed, ...membersOf(task) });

/** Whether a task is as it was shown, perhaps at another place. */
export const isAsShown = (task, shown) =>
  ["text", "completed", "due", "notes", "repeat"].every((field) => valueOf(task, field) === valueOf(shown, field));

/** Returns the field of a change that must not replace another value than the person saw, or undefined. */
export const guardedField = (change) => ["text", "due", "notes", "repeat"].find((field) => "base" in change && change[field] !== undefined);

export const valueOf = (task, field) => task[field] ?? null;

/** Returns the members of the API's JSON for an addition (`POST`) or a change (a merge patch, RFC 7396). */
export function bodyOf(change) {
  const fields = CHANGEABLE.filter((field) => change[field] !== undefined);
  const body = Object.fromEntries(fields.map((field) => [field === "text" ? "task" : field, change[field]]));
  const yesterday = new Date(Date.now() - 24 * 3600000).toISOString().slice(0, 10); // the server takes no day that is earlier in UTC
  return change.completedOn ? { ...body, completedOn: change.completedOn > yesterday ? change.completedOn : yesterday } : body;
}
