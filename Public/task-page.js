// The task list after sign-in: its controls, and the page's words about saving.

import { call, Problem, Unreachable } from "./api.js";
import { isOverdue, today } from "./days.js";
import { announce, brief, counted, find, locale, make } from "./dom.js";
import { alterations, dateFault, focusNew, newTask, offerDays, readDays, setNewDay, taskIn } from "./editor.js";
import { Model } from "./model.js";
import { beforeAll, moving } from "./order.js";
import { Access } from "./renewal.js";
import { offerSearch } from "./search.js";
import { leave, returnPolicy } from "./session.js";
import * as session from "./session-store.js";
import { offerShortcuts } from "./shortcuts.js";
import { Sync } from "./sync.js";
import { Undo } from "./undo.js";
import { FILTER_NAMES, ListView } from "./view.js";

const LONGEST = { text: 4096, notes: 10000 }; // bytes
const NOT_KEPT = "This browser could not keep your latest changes on this device. Leave this page open until it says "
  + "“Saved”, and free some space.";
const KEEP_AFTER = 200; // milliseconds: a text that is being typed is not written to the disk at each key
const RENDER_AFTER = 100; // milliseconds: answers that come at nearly the same time are shown together

export class TaskPage {
  others = new BroadcastChannel("tasks"); // the other tabs of this browser
  #state = { kind: "idle" };
  #complaint = { message: "" }; // what is wrong beside that, with the problem's code
  #rendering; // timer
  #drafting; // timer
  #interrupted; // the editor that was open when the page was left, until its task is known
  #heirs = new Map(); // the row of a deleted task -> that of the task that was added again in its place
  #view = new ListView({
    complete: (task, completed) => this.#complete([task], completed),
    together: (action, tasks) => {
      if (action === "delete") this.#remove(tasks);
      else this.#complete(tasks.filter(({ completed }) => !completed), true);
      focusNew();
    },
    plan: (tasks, day) => this.#plan("planned", tasks.filter(({ due }) => (due ?? null) !== day), day),
    save: (task, seen, values, first) => this.#save(task, seen, values, first),
    note: (task, from, to) => this.#note(task, from, to),
    discard: (task, written) => {
      this.model.keepDraft(task);
      this.#render();
      this.undo.offer("not saved", [task], () => this.#goToTask(task, written));
    },
    move: (task, place) => this.#move(task, place),
    search: (tag) => this.#search.open(`${tag} `),
    remove: (task) => this.#remove([task]),
    decide: (task, decision) => this.#decide(task, decision),
    changed: () => {
      this.#keepDraft();
      this.#render();
    },
  });
  #search = offerSearch((text) => {
    this.#view.search = text;
    this.#render();
    return this.#view.count;
  });

  /** Opens the list of this session; returns a message if it could not be opened, or null. */
  static async open(config, me, place, { show, complaint }) {
    let page;
    const access = new Access(config, me, () => (page ? page.leave() : location.reload()));
    if (!me.owner) {
      const refusal = await identify(me, access);
      if (refusal) return refusal;
    }
    session.forgetOthers(me.owner);
    page = new TaskPage(config, me, access);
    await page.model.reload();
    show("tasks", page.model.isKnown);
    page.#goTo(place);
    page.#trouble(complaint ?? "");
    await page.sync.run({ list: true });
    page.sync.stream.begin();
    return null;
  }

  constructor(config, me, access) {
    this.config = config;
    this.me = me;
    this.access = access;
    const changed = (hasOthers, isNew) => {
      if (isNew && this.sync.hasBegun) this.sync.run(); // the tab that made it may be closed
      return hasOthers ? this.#renderSoon() : this.#renderState();
    };
    this.model = new Model(me.owner, { isLasting: access.canRenew, changed });
    this.sync = new Sync(this.model, access, (news) => this.#report(news));
    this.undo = new Undo();
    this.signInOptions = { place: () => this.#place(), complain: (message) => this.#trouble(message) };
    offerShortcuts(this.#view, this.#search);
    this.#listen();
    const name = this.me.claims.name || this.me.mail || "Signed in";
    const initials = name.split(/\s+/).filter(Boolean).map((word) => [...word][0]).slice(0, 2).join("").toUpperCase();
    for (const box of document.querySelectorAll(".initials")) box.textContent = initials;
    for (const box of [find("account").querySelector(".name"), find("person-title")]) box.textContent = name;
    find("account").addEventListener("click", async () => (await import("./person.js")).openPerson(this));
  }

  /** The state to restore after the next sign-in. */
  #place() {
    const editing = this.#view.editing ?? this.#interrupted;
    return { filter: this.#view.filter, draft: find("new").value, due: find("new-day").value, editing };
  }

  #keepDraft() {
    this.model.draft = this.#place();
    this.#drafting ??= setTimeout(() => this.#keepEditing(), KEEP_AFTER);
  }

  #keepEditing() {
    clearTimeout(this.#drafting);
    this.#drafting = undefined;
    const { editing } = this.#view;
    if (editing) this.model.keepDraft(editing, editing.seen, alterations(editing.seen, editing.values).length && editing.values);
  }

  #goTo(place) {
    const { draft, due, editing } = { ...this.model.draft, ...place };
    this.#interrupted = editing;
    find("new").value = draft ?? "";
    setNewDay(due ?? "");
    const name = place.filter ?? location.hash.slice(1);
    this.#filter(name, "replaceState");
    if (name === "add") find("new").focus(); // by the shortcut of the installed app
    else if (!editing) focusNew(true);
  }

  #listen() {
    offerDays();
    find("add").addEventListener("submit", (event) => this.#add(event));
    find("add").addEventListener("input", () => find("new-error").textContent && this.#complain({ isWriting: true }));
    find("new").addEventListener("paste", (event) => this.#paste(event));
    find("clear").addEventListener("click", () => {
      const tasks = this.#view.finished;
      this.#remove(tasks, true, (sign) => (this.model.cleared += sign * tasks.length));
      focusNew();
    });
    find("toast").before(find("selection"));
    // A click beside a dialog closes it; within, each click is on a part of its form.
    addEventListener("click", ({ target }) => target.matches?.("dialog") && target.close());
    find("to-today").addEventListener("click", () => {
      this.#plan("moved to today", this.model.view().filter(isOverdue), today());
      focusNew();
    });
    find("retry").addEventListener("click", () => {
      const refused = this.#refused;
      this.#change(() => refused.forEach(({ key }) => this.model.revise(key, {})));
      announce(`Trying ${counted(refused.length, "change")} again`);
      focusNew();
    });
    find("filters").addEventListener("change", (event) => this.#filter(event.target.value, "pushState"));
    find("tasks").addEventListener("input", () => this.#keepDraft());
    find("again").addEventListener("click", (event) =>
      leave(this.config, returnPolicy(this.config, this.me.policy), event.currentTarget, this.signInOptions));
    // The server decides about expiry; this only saves the person a change that would be refused.
    const rest = Math.max(0, Math.min(this.me.expires - Date.now(), 2 ** 31 - 1));
    if (!this.access.canRenew) setTimeout(() => this.sync.end(), rest);
    const look = () => {
      this.#render(); // another day may have begun
      this.sync.run({ list: true });
    };
    for (const event of ["focus", "online", "offline"]) addEventListener(event, look);
    addEventListener("visibilitychange", () => document.visibilityState === "visible" && look());
    addEventListener("popstate", () => {
      const name = location.hash.slice(1) || "all"; // other fragments, such as that of the skip link, change nothing
      if (FILTER_NAMES.includes(name)) this.#filter(name);
    });
    addEventListener("pagehide", () => {
      this.#keepEditing();
      this.sync.leave();
      this.model.store();
    });
    addEventListener("pageshow", (event) => event.persisted && location.reload());
    addEventListener("beforeunload", (event) => this.#unkept("failed") && event.preventDefault());
    this.others.addEventListener("message", ({ data: { changed, event, left } }) => {
      if (changed === this.me.owner) this.sync.hear(event);
      if (left === this.me.owner) this.leave(); // a tab that signs out does so for all
    });
  }

  /** Ends this session for this tab, which goes on with the browser's session, if there is one. */
  leave() {
    navigator.clearAppBadge?.().catch(() => {});
    this.model.forget();
    session.forget();
    location.assign(".");
  }

  /** Shows all, open or done tasks; `remember` is the method of the history for this, if the address is to change. */
  #filter(name, remember) {
    this.#view.filter = name;
    if (remember) history[remember](null, "", this.#view.filter === "all" ? "." : `./#${this.#view.filter}`);
    this.#render();
  }

  #renderSoon() {
    this.#rendering ??= setTimeout(() => {
      this.#render();
      if (this.#view.editing) this.#keepDraft(); // its task may have got an id
    }, RENDER_AFTER);
  }

  #render() {
    clearTimeout(this.#rendering);
    this.#rendering = undefined;
    find("day").textContent = new Date().toLocaleDateString(locale(), { weekday: "long", day: "numeric", month: "long" });
    const tasks = this.model.view();
    const isKnown = this.model.isKnown || tasks.length > 0;
    this.#view.cleared = this.model.cleared;
    this.#view.render(tasks, isKnown, this.model.takeNews());
    this.#resumeEditing(tasks, isKnown);
    this.#renderState();
  }

  #renderState() {
    const now = Date.now();
    const changes = this.model.queue.all().filter((change) => !(change.notBefore > now));
    const waiting = changes.filter((change) => !change.problem);
    const stuck = changes.length - waiting.length;
    const [keeping, failed] = ["keeping", "failed"].map((state) => this.#unkept(state, waiting));
    const counts = { kept: waiting.length - keeping - failed, "being kept": keeping, "not kept": failed };
    const kept = Object.entries(counts).map(([word, count]) => (count ? `, ${counted(count, "change")} ${word}` : "")).join("");
    const saved = stuck ? `${counted(stuck, "change")} not saved` : "Saved";
    const text = {
      idle: waiting.length ? "Saving …" : saved,
      busy: "Saving …",
      offline: `${this.#state.isSilent ? "No answer" : "Offline"}${kept}`,
      trouble: `${waiting.length ? "Not saved" : "Out of touch"}${kept}`,
      ended: `Session ended${kept}`,
    }[this.#state.kind];
    const isAtRest = this.#state.kind === "idle" && !waiting.length;
    const box = find("status");
    box.className = `status ${isAtRest ? (stuck ? "stuck" : "calm") : this.#state.kind}`;
    if (box.textContent !== text) box.textContent = text;
    const refused = this.#refused.length;
    find("refused").hidden = refused < 2; // one is tried again in its row
    find("refused-text").textContent = `The server refused ${refused} changes.`;
    this.#showTrouble();
  }

  /** The changes that the server has refused; others that wait for the person are questions. */
  get #refused() {
    return this.model.queue.all().filter(({ problem }) => problem?.title);
  }

  /** Returns how many changes are not on this device: they are being written ("keeping"), or could not be ("failed"). */
  #unkept(state, changes = this.model.queue.all()) {
    return changes.filter((change) => this.model.queue.stateOf(change) === state).length;
  }

  #resumeEditing(tasks, isKnown) {
    if (!this.#interrupted || !isKnown) return;
    const { id, row, ...written } = this.#interrupted;
    this.#interrupted = undefined;
    const task = tasks.find((task) => task.id === id || task.row === row);
    if (task) this.#view.edit(task.row, written);
  }

  #report(news) {
    if (news.kind === "changed") return this.#renderSoon();
    if (news.kind === "sent") return this.others.postMessage({ changed: this.me.owner, event: news.event });
    this.#state = news;
    find("ended").hidden = news.kind !== "ended";
    const timeStyle = news.until - Date.now() < 120000 ? "medium" : "short";
    const again = news.until ? ` The page tries again at ${new Date(news.until).toLocaleTimeString(locale(), { timeStyle })}.` : "";
    this.#trouble(news.kind === "trouble" ? `${news.title}. ${news.detail}${again}` : "", news.code);
    if (news.kind === "idle") this.#render(); // a list may have been read
    else this.#renderState();
  }

  #trouble(message, code) {
    this.#complaint = { message, code };
    this.#showTrouble();
  }

  #showTrouble() {
    const { message, code } = this.#complaint;
    const said = [message, this.#unkept("failed") ? NOT_KEPT : ""].filter(Boolean).join(" ");
    const box = find("trouble");
    find("tasks").classList.toggle("told", Boolean(said) || !find("ended").hidden || !find("refused").hidden);
    if (box.dataset.message === said) return; // said once is enough for a screen reader
    box.dataset.message = said;
    box.textContent = said;
    if (code) box.append(" ", make("a", { href: `problems.html#${code}`, textContent: "What can I do?" }));
  }

  #change(action) {
    action();
    this.#render();
    this.sync.run();
  }

  #add(event) {
    event.preventDefault();
    const field = find("new");
    const task = newTask();
    if (this.#complain()) return field.focus();
    this.#addAll([task]);
  }

  /** Says what is wrong with the new task; returns whether anything is. An empty text is wrong only when it is sent. */
  #complain({ isWriting } = {}) {
    const { text } = newTask();
    const fault = (isWriting && !text ? null : faultOf(text)) ?? dateFault(find("new-day"));
    find("new-error").textContent = fault ?? "";
    find("new").setAttribute("aria-invalid", String(Boolean(fault)));
    return Boolean(fault);
  }

  /** Adds tasks before all others, and empties the field. */
  #addAll(wanted) {
    const usual = this.#view.filter === "today" ? today() : undefined;
    find("new").value = "";
    setNewDay("");
    const view = this.model.view();
    const first = beforeAll(view) - wanted.length + 1;
    let tasks;
    this.#change(() => (tasks = wanted.map(({ text, due, repeat }, index) => {
      const position = view.length ? first + index : undefined; // the first task of a list needs none
      return { row: this.model.add(text, false, { due: due || usual, position, repeat }), text };
    })));
    this.#keepDraft();
    const [task] = tasks;
    const { make, back } = this.#removal(tasks);
    const show = this.#view.isInSight(task.row) ? undefined : () => this.#goToTask(task);
    const spoken = wanted.length === 1 ? `Added ${brief(task.text)}` : undefined;
    this.undo.offer("added", tasks, make, { again: back, spoken, show });
    find("new").focus({ preventScroll: true });
  }

  /** Adds a task for each of several lines that are pasted, with one step to take all of them back. */
  async #paste(event) {
    const { value, selectionStart, selectionEnd } = event.target;
    const pasted = event.clipboardData.getData("text/plain");
    const texts = linesOf(value.slice(0, selectionStart) + pasted + value.slice(selectionEnd));
    if (linesOf(pasted).length < 2 || texts.some(faultOf)) return; // the browser pastes it as one line
    event.preventDefault();
    await readDays();
    const due = find("new-day").value;
    this.#addAll(texts.map((text) => (due ? { text, due } : taskIn(text))));
  }

  /** Goes to a task, and opens it if something was `written` in it; a search or a view that hides the task gives way. */
  #goToTask(task, written) {
    const now = this.#finder()(task);
    if (!now) return;
    if (!this.#view.has(now.row) && this.#view.isSearching) this.#search.close();
    if (!this.#view.has(now.row)) this.#filter("all", "pushState");
    if (written) this.#view.edit(now.row, written);
    else this.#view.reveal(now.row, true);
  }

  #complete(tasks, completed) {
    const word = completed ? "done" : "open again";
    const ticks = new Map(); // row -> the last tick
    const back = (now, { row, repeat }) => (completed ? this.model.reopen(now, ticks.get(row), repeat) : this.model.complete(now, true));
    this.#undoable(word, tasks, (now, { row }) => ticks.set(row, this.model.complete(now, completed)), back);
  }

  /** Makes a change of tasks that the person can take back, and make again: `action` and `back` are given a task, and later
   * the task as it is then, if there is one, and the task as it was. */
  #undoable(word, tasks, action, back, spoken) {
    if (!tasks.length) return;
    this.#change(() => tasks.forEach((task) => action(task, task)));
    const each = (act) => () => this.#change(() => {
      const find = this.#finder();
      for (const task of tasks) if (find(task)) act(find(task), task);
    });
    this.undo.offer(word, tasks, each(back), { again: each(action), spoken: spoken?.() });
  }

  /** Returns a function that finds a task as it is now, also if it was deleted and added again. */
  #finder() {
    const tasks = new Map(this.model.view().map((task) => [task.row, task]));
    return ({ row }) => {
      while (this.#heirs.has(row)) row = this.#heirs.get(row);
      return tasks.get(row);
    };
  }

  #plan(word, tasks, day) {
    const back = (now, { due, repeat }) => this.model.edit(now, "due", due ?? null, day, day ? undefined : repeat);
    this.#undoable(word, tasks, (now, { due }) => this.model.edit(now, "due", day, due ?? null), back);
  }

  /** Saves notes of an open task; returns whether they can be saved. What takes them back comes with the rest of the task. */
  #note(task, from, to) {
    const [base, notes] = [from, to].map((text) => text.trim() || null);
    const isGood = !lengthFault("notes", notes ?? "");
    if (isGood && notes !== base) this.#change(() => this.model.edit(task, "notes", notes, base));
    return isGood;
  }

  /** Keeps the person's changes to the values they saw, which were others at `first` if notes have saved themselves. Returns what is
   * wrong with the values, or null. */
  #save(task, seen, values, first) {
    const altered = alterations(first, values);
    const fault = faultOf(values.text.trim()) ?? lengthFault("notes", values.notes.trim());
    if (fault) return fault;
    this.model.keepDraft(task);
    if (!altered.length) return null;
    const edit = (now, from, to) => {
      for (const [field] of altered) if (from[field] !== to[field]) this.model.edit(now, field, to[field] || null, from[field] || null);
    };
    const written = Object.fromEntries(altered);
    let before = seen;
    const make = (now) => {
      edit(now, before, written);
      before = first;
    };
    this.#undoable("changed", [task], make, (now) => edit(now, written, first));
    return null;
  }

  /** Moves a task directly after or before another one: {after} or {before}. */
  #move(task, place) {
    const tasks = this.model.view();
    const before = tasks.slice(0, tasks.findIndex(({ row }) => row === task.row));
    const move = (now, to) => {
      for (const [moved, position] of moving(this.model.view(), now, to)) this.model.place(moved, position);
    };
    const [[side, neighbour]] = Object.entries(place);
    const there = (now) => {
      const other = this.#finder()(neighbour);
      if (other) move(now, { [side]: other });
    };
    this.#undoable("moved", [task], there, (now) => {
      const after = before.map(this.#finder()).findLast(Boolean);
      move(now, after ? { after } : { before: this.model.view().find(({ row }) => row !== now.row) });
    }, () => `Moved ${brief(task.text)}: ${this.#view.placeOf(task.row)}`);
  }

  #remove(tasks, asShown, count) {
    const { make, back } = this.#removal(tasks, asShown, count);
    make(tasks);
    this.undo.offer("deleted", tasks, back, { again: make });
  }

  /** Returns {make, back}: `make` deletes the tasks as they are given, or as they are then, and `back` brings them back, or
   * adds them again if the server has deleted them already. `count` is told 1 and -1. */
  #removal(tasks, asShown, count) {
    let removed, keys;
    const make = (given) => this.#change(() => {
      count?.(1);
      removed = given ?? tasks.map(this.#finder()).filter(Boolean);
      keys = this.model.remove(removed, asShown);
    });
    const back = () => this.#change(() => {
      count?.(-1);
      const changes = new Map(this.model.queue.all().map((change) => [change.key, change]));
      const find = this.#finder();
      for (const [index, task] of removed.entries()) {
        const removal = changes.get(keys[index]);
        if (removal?.problem || removal?.notBefore > Date.now()) this.model.queue.drop(removal.key);
        else if (!find(task)) this.#heirs.set(task.row, this.model.add(task.text, task.completed, placed(task)));
      }
    });
    return { make, back };
  }

  /** Takes the person's answer to a change that could not be made. */
  #decide(task, decision) {
    const change = this.model.queue.all().find((change) => change.key === task.change);
    const isText = change?.kind === "add" || change?.text !== undefined;
    this.#change(() => {
      if (decision === "mine") return this.model.revise(task.change, { base: task.problem.theirs });
      if (decision === "retry") return this.model.revise(task.change, {});
      if (decision === "theirs") return this.model.adopt(task.change, task.id, task.problem);
      if (task.problem.gone || change?.kind === "add") this.model.abandon(task.id);
      else this.model.queue.drop(task.change);
      if (decision === "again") this.model.add(task.text, task.completed, task);
    });
    focusNew();
    if (decision === "discard" && !task.problem.gone && !task.problem.added && isText && !find("new").value) find("new").value = task.text;
    this.#keepDraft();
  }
}

/** Returns a task with a position, so that it stands where it stood if it gets another id. */
const placed = (task) => ({ ...task, position: task.position ?? (typeof task.id === "number" ? task.id : null) });

/** Returns the lines that say something, without the marks of a list before them: "-", "- [ ]", and numbers that count on. */
function linesOf(text) {
  const lines = text.split(/[\r\n]+/).map((line) => line.replace(/^\s*[-*•]\s+(\[.?\]\s+)?/, "").trim()).filter(Boolean);
  const numbers = lines.map((line) => Number(/^(\d+)[.)]\s/.exec(line)?.[1]));
  const isCounted = (number, index) => numbers[index - 1] === number - 1 || numbers[index + 1] === number + 1;
  return lines.map((line, index) => (isCounted(numbers[index], index) ? line.replace(/^\d+[.)]\s+(\[.?\]\s+)?/, "") : line)).filter(Boolean);
}

const faultOf = (text) => (text ? lengthFault("text", text) : "Write a few words first.");

function lengthFault(field, text) {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(LONGEST[field])); // in UTF-16, without half a character
  const subject = field === "text" ? "This is" : "These notes are";
  const tooMany = [...text.slice(read)].length;
  return tooMany ? `${subject} ${counted(tooMany, "character")} too long.` : null;
}

/** Asks whose session this is: waiting changes are kept under that name, so nothing can start without it. */
async function identify(me, access) {
  try {
    me.claims = (await call(access, "GET", "/api/me")).body;
    if (typeof me.claims?.owner !== "string") throw new Unreachable("The answer names no owner.");
    me.owner = me.claims.owner;
    session.keep(me);
    return null;
  } catch (error) {
    if (!(error instanceof Problem) || error.isPassing) {
      return "You are signed in, but the server cannot be reached. Reload the page to try again.";
    }
    session.unshare(me);
    session.forget();
    return `The server does not take this sign-in: ${error.message}`;
  }
}
