// What the person sees: the list as the server last gave it, with the changes applied that the server has not
// confirmed yet. Every change is a small record in local storage, under a key of its own, so that it survives reload,
// crash and sign-out, and two tabs never overwrite each other's. It is removed when the server has answered.

const PREFIX = "tasks.change.";
export const UNDO_TIME = 7000;

/**
 * One person's tasks. A change is {key, kind, ...}:
 *   add    {text, completed}                 `key` is its Idempotency-Key
 *   change {target, text?, completed?, base} `base` is the text that the person saw when changing it
 *   remove {target, notBefore}               waits for the time of undo
 * A target is a task's id, or the key of an addition that has no id yet. `problem` stops a change until the person
 * decides: {title, detail} for a refusal, {theirs} for another text, {gone} for a task that is no more.
 */
export class Model {
  #owner;
  #saved;
  #aliases; // key of an addition -> id of the task it became
  #rows = new Map(); // id -> key: a row keeps its name, so keeps its focus

  constructor(owner) {
    this.#owner = owner;
    this.#saved = read(sessionStorage, `tasks.list.${owner}`) ?? { tasks: [], tag: null, known: false };
    this.#aliases = read(localStorage, `tasks.names.${owner}`) ?? {};
    for (const [key, id] of Object.entries(this.#aliases)) this.#rows.set(id, key);
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
    const names = Object.keys(localStorage).filter((name) => name.startsWith(this.prefix)).sort();
    return names.map((name) => read(localStorage, name)).filter(Boolean).map((change) => this.#named(change));
  }

  /** The tasks to show. */
  view() {
    const rows = new Map(this.#saved.tasks.map((task) => [task.id, { ...task, state: "saved" }]));
    for (const change of this.changes()) apply(change, rows);
    return [...rows.values()].map((row) => ({ ...row, row: this.#rows.get(row.id) ?? String(row.id) }));
  }

  add(text, completed = false) {
    this.#put({ kind: "add", text, completed });
  }

  rename(task, text) {
    this.#put({ kind: "change", target: task.id, text, base: task.text });
  }

  complete(task, completed) {
    this.#put({ kind: "change", target: task.id, completed });
  }

  /** Removes after the time of undo; the keys are for `drop`. */
  remove(tasks) {
    return tasks.map((task) => this.#put({ kind: "remove", target: task.id, notBefore: Date.now() + UNDO_TIME }));
  }

  drop(key) {
    localStorage.removeItem(this.#place(key));
  }

  /** The person decided about a problem: the change waits again, altered. */
  revise(key, alteration) {
    const change = read(localStorage, this.#place(key));
    if (change) write(localStorage, this.#place(key), { ...change, problem: undefined, ...alteration });
  }

  /** Undo is over, for instance because the page is being closed. */
  hurry() {
    const waiting = this.changes().filter((change) => change.notBefore > Date.now());
    for (const change of waiting) this.revise(change.key, { notBefore: 0 });
    return waiting;
  }

  /** The next change to send, or the milliseconds to wait for one, or null. A task's changes keep their order. */
  next() {
    const blocked = new Set();
    let wait = null;
    for (const change of this.changes()) {
      const subject = change.target ?? change.key;
      const rest = (change.notBefore ?? 0) - Date.now();
      if (!change.problem && !blocked.has(subject)) {
        if (rest <= 0) return change;
        wait = Math.min(wait ?? rest, rest);
      }
      blocked.add(subject);
    }
    return wait;
  }

  /** The server has done a change: `task` is what it answered, null if there is none now. */
  confirm(change, task) {
    if (change.kind === "add") this.#name(change.key, task.id);
    const others = this.#saved.tasks.filter((other) => other.id !== (task?.id ?? change.target));
    const tasks = task ? [...others, task].sort((a, b) => a.id - b.id) : others;
    this.#save({ tasks, tag: null, known: this.#saved.known });
    this.drop(change.key);
  }

  /** The server's own list. */
  replace(tasks, tag) {
    this.#save({ tasks, tag, known: true });
  }

  /** Removes everything of this person except changes that are not saved yet. */
  forget() {
    sessionStorage.removeItem(`tasks.list.${this.#owner}`);
    localStorage.removeItem(`tasks.names.${this.#owner}`);
  }

  #put(change) {
    const key = crypto.randomUUID();
    write(localStorage, this.#place(key), this.#named({ key, ...change }));
    return key;
  }

  /** The name of a change's record. Sorted by name means sorted by time, within a tab strictly. */
  #place(key) {
    const found = Object.keys(localStorage).find((name) => name.startsWith(this.prefix) && name.endsWith(key));
    return found ?? `${this.prefix}${Model.#order()}.${key}`;
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
    write(sessionStorage, `tasks.list.${this.#owner}`, saved);
  }
}

function apply(change, rows) {
  const id = change.target ?? change.key;
  const row = rows.get(id);
  const state = { state: change.problem ? "stuck" : "waiting", problem: change.problem, change: change.key };
  if (change.kind === "add") {
    rows.set(id, { id, text: change.text, completed: change.completed, ...state });
  } else if (change.kind === "remove") {
    if (change.problem) rows.set(id, { ...row, ...state });
    else rows.delete(id);
  } else if (row || change.problem?.gone) {
    const kept = row?.problem ? { state: row.state, problem: row.problem, change: row.change } : state;
    rows.set(id, {
      id, ...row, ...kept, text: change.text ?? row?.text, completed: change.completed ?? row?.completed ?? false,
    });
  }
}

/** A task as the server writes it, in the form used here. */
export const taskOf = (json) => ({
  id: json.Id, text: json.task, completed: json.completed, added: json.date, modified: json.DateModified,
});

function read(storage, name) {
  try {
    return JSON.parse(storage.getItem(name));
  } catch {
    return null;
  }
}

const write = (storage, name, value) => storage.setItem(name, JSON.stringify(value));
