// The task list after sign-in: what its controls do, and what the page says about saving.

import { call, Problem } from "/api.js";
import { leave, returnPolicy } from "/sign-in.js";
import { announce, find, make } from "/dom.js";
import { Model } from "/model.js";
import { showPerson } from "/person.js";
import * as session from "/session.js";
import { Sync } from "/sync.js";
import { Undo } from "/undo.js";
import { ListView } from "/view.js";

const LONGEST_TEXT = 4096; // bytes

export class TaskPage {
  others = new BroadcastChannel("tasks"); // the other tabs of this browser
  #state = { kind: "idle" };
  #view = new ListView({
    complete: (task, completed) => this.#complete(task, completed),
    rename: (task, text) => this.#rename(task, text),
    remove: (task) => this.#remove([task], `Deleted “${task.text}”`),
    decide: (task, decision) => this.#decide(task, decision),
  });

  /** Opens the list of this session; returns the message why it could not, or null. */
  static async open(config, me, place, { show, complaint }) {
    if (!me.owner) {
      const refusal = await identify(me);
      if (refusal) return refusal;
    }
    const page = new TaskPage(config, me);
    show("tasks");
    page.#goTo(place);
    page.#trouble(complaint ?? "");
    await page.sync.run({ list: true });
    return null;
  }

  constructor(config, me) {
    this.config = config;
    this.me = me;
    this.model = new Model(me.owner);
    this.sync = new Sync(this.model, me.token, (news) => this.#report(news));
    this.undo = new Undo(this.model, () => this.#render());
    this.signInOptions = { place: () => this.#place(), complain: (message) => this.#trouble(message) };
    showPerson(this);
    this.#listen();
  }

  /** What to restore after the next sign-in. */
  #place() {
    const editor = this.#view.editing;
    const editing = editor && { row: editor.closest("li").dataset.row, text: editor.elements[0].value };
    return { filter: this.#view.filter, draft: find("new").value, editing };
  }

  #goTo(place) {
    const today = { weekday: "long", day: "numeric", month: "long" };
    find("day").textContent = new Date().toLocaleDateString(undefined, today);
    this.#filter(place.filter ?? location.hash.slice(1));
    find("new").value = place.draft ?? "";
    if (place.editing) this.#view.edit(place.editing.row, place.editing.text);
    // A field that takes the focus opens the keyboard of a phone, which was not asked for.
    else find(matchMedia("(pointer: fine)").matches ? "new" : "headline").focus({ preventScroll: true });
  }

  #listen() {
    find("add").addEventListener("submit", (event) => this.#add(event));
    find("clear").addEventListener("click", () => this.#clearCompleted());
    find("filters").addEventListener("change", (event) => this.#filter(event.target.value));
    find("again").addEventListener("click", (event) =>
      leave(this.config, returnPolicy(this.config, this.me.policy), event.currentTarget, this.signInOptions));
    // The server decides about expiry; this only saves the person a change that would be refused.
    setTimeout(() => this.sync.end(), Math.max(0, Math.min(this.me.expires - Date.now(), 2 ** 31 - 1)));
    const look = () => this.sync.run({ list: true });
    for (const event of ["focus", "online", "offline"]) addEventListener(event, look);
    addEventListener("visibilitychange", () => document.visibilityState === "visible" && look());
    addEventListener("pagehide", () => this.sync.leave());
    addEventListener("pageshow", (event) => event.persisted && location.reload());
    addEventListener("storage", (event) => event.key?.startsWith(this.model.prefix) && this.#render());
    this.others.addEventListener("message", (event) => this.#heard(event.data));
  }

  /** Another tab has changed something, or has signed out: then this one has, too. */
  #heard({ changed, left }) {
    if (changed === this.me.owner) this.sync.run({ list: true });
    if (left !== this.me.owner) return;
    this.model.forget();
    session.forget();
    location.assign("/");
  }

  #filter(name) {
    this.#view.filter = name;
    history.replaceState(null, "", this.#view.filter === "all" ? "/" : `/#${this.#view.filter}`);
    this.#render();
  }

  /* What the page says */

  #render() {
    const tasks = this.model.view();
    this.#view.render(tasks, this.model.isKnown || tasks.length > 0);
    const now = Date.now();
    this.#showStatus(this.model.changes().filter((change) => !change.problem && !(change.notBefore > now)).length);
  }

  #report(news) {
    if (news.kind === "changed") this.others.postMessage({ changed: this.me.owner });
    else this.#state = news;
    find("ended").hidden = this.#state.kind !== "ended";
    if (news.kind === "trouble") this.#trouble(`${news.title}. ${news.detail}`, news.code);
    else if (news.kind !== "changed") this.#trouble("");
    this.#render();
  }

  #showStatus(waiting) {
    const box = find("status");
    const kept = waiting ? ` · ${waiting} change${waiting === 1 ? "" : "s"} kept` : "";
    const text = {
      idle: waiting ? "Saving …" : "Saved",
      busy: "Saving …",
      offline: `Offline${kept}`,
      trouble: `${waiting ? "Not saved" : "Out of touch"}${kept}`,
      ended: `Session ended${kept}`,
    }[this.#state.kind];
    box.className = `status ${this.#state.kind === "idle" && !waiting ? "calm" : this.#state.kind}`;
    if (box.textContent !== text) box.textContent = text;
  }

  #trouble(message, code) {
    const box = find("trouble");
    box.hidden = !message;
    if (box.dataset.message === message) return; // said once is enough for a screen reader
    box.dataset.message = message;
    box.replaceChildren(message, " ");
    if (code) box.append(make("a", { href: `/problems.html#${code}`, textContent: "What can I do?" }));
  }

  /* What the controls do */

  #change(action) {
    try {
      action();
    } catch {
      return this.#trouble("This browser has no room left to keep the change. Free some space, then try again.");
    }
    this.#render();
    this.sync.run();
  }

  #add(event) {
    event.preventDefault();
    const field = find("new");
    const text = field.value.trim();
    const fault = faultOf(text);
    find("new-error").textContent = fault ?? "";
    find("new-error").hidden = !fault;
    field.setAttribute("aria-invalid", String(Boolean(fault)));
    if (fault) return field.focus();
    field.value = "";
    if (this.#view.filter === "done") this.#filter("all");
    this.#change(() => this.model.add(text));
    announce(`Added ${text}`);
  }

  #complete(task, completed) {
    this.#change(() => this.model.complete(task, completed));
    announce(`${completed ? "Done" : "Open again"}: ${task.text}`);
  }

  /** Returns what is wrong with the text, or null. */
  #rename(task, text) {
    const fault = faultOf(text);
    if (!fault && text !== task.text) this.#change(() => this.model.rename(task, text));
    return fault;
  }

  #remove(tasks, message) {
    let keys = [];
    this.#change(() => (keys = this.model.remove(tasks)));
    this.undo.offer(keys, message);
  }

  #clearCompleted() {
    const done = this.model.view().filter((task) => task.completed);
    this.#remove(done, done.length === 1 ? "Deleted one completed task" : `Deleted ${done.length} completed tasks`);
    find("new").focus();
  }

  /** The person's answer to a change that could not be made. */
  #decide(task, decision) {
    this.#change(() => {
      if (decision === "mine") return this.model.revise(task.change, { base: task.problem.theirs });
      if (decision === "retry") return this.model.revise(task.change, {});
      this.model.drop(task.change);
      if (decision === "again") this.model.add(task.text, task.completed);
    });
    find("new").focus();
    if (decision === "discard" && !task.problem.gone && !find("new").value) find("new").value = task.text;
  }
}

/** The message about what is wrong with a text, or null. */
function faultOf(text) {
  if (!text) return "Write a few words first.";
  const bytes = new TextEncoder().encode(text).length;
  return bytes > LONGEST_TEXT ? `This is too long: ${bytes} bytes, and ${LONGEST_TEXT} can be kept.` : null;
}

/** Asks whose session this is: waiting changes are kept under that name, so nothing can start without it. */
async function identify(me) {
  try {
    me.claims = (await call(me.token, "GET", "/api/me")).body;
    me.owner = me.claims.owner;
    session.keep(me);
    return null;
  } catch (error) {
    const isRefused = error instanceof Problem && !error.isPassing;
    if (isRefused) session.forget();
    return isRefused
      ? `The server does not take this sign-in: ${error.message}`
      : "You are signed in, but the server cannot be reached. Reload the page to try again.";
  }
}
