// Brings the waiting changes to the server, many in a request or a few requests at once, and the server's list back.
// Nothing doubles: an addition carries its key as Idempotency-Key, If-Match binds a new text, due date, rule or notes to the
// state that the person saw, and other changes can be repeated. Nothing is lost: a change is queued until the server has
// answered. One tab sends at a time (Web Locks), so a list is never older than a change that was confirmed before it.

import { call, Problem, Unreachable } from "./api.js";
import { bodyOf, guardedField, isAsShown, taskOf, tasksOf, valueOf } from "./model.js";
import { read, write } from "./storage.js";
import { streamOf } from "./stream.js";

const LONGEST_WAIT = 30; // seconds
const PATIENCE = 2000; // milliseconds
const LOOK_EVERY = 30000; // milliseconds until a page without a stream looks for what another device has changed
const MOST = 500; // changes in a list: the server takes 1000, in a body of 64 KiB
const AT_ONCE = 4; // requests; browsers open six connections to a server: one has the stream, and one is left for reading
const LONGEST_DELAY = 86400; // seconds that the server may ask for; browsers do not wait longer than 24 days
const PAUSES = [250, 1000, 4000]; // milliseconds before a change is compared and tried again
const REFUSAL = "tasks.refusal"; // in local storage: {until, title, detail, code} of a server that wants no request until then
const CHANGING = {
  title: "Not saved", code: "task.changed",
  detail: "The server says each time that the task has just changed. Perhaps a proxy in between alters its answers.",
};

/** `report` is told {kind: "idle" | "busy" | "offline" | "trouble" | "ended", ...} whenever the state changes, "changed" for each answered
 * change, and "sent" when the other tabs should read the list again, or take the `event` of the stream. */
export class Sync {
  hasBegun = false; // a page reads the list first
  #model;
  #access;
  #report;
  #running = false;
  #again = false;
  #wantsList = false;
  #timer;
  #failures = 0;
  #ended = false;
  #isPaged = false; // a list of several pages has no tag, so each look would read all of it
  #alone = new Set(); // keys of changes that could not be made together with others
  #hasNews = false; // whether the server has answered a change, so that other tabs should look
  #isFutile = false; // whether comparing has led nowhere since the last pass began
  #heard = []; // events of the stream that are not in the list yet

  constructor(model, access, report) {
    this.#model = model;
    this.#access = access;
    this.#report = report;
    const tell = (event) => {
      this.hear(event);
      this.#tell({ kind: "sent", event });
    };
    this.stream = streamOf(model, access, { tell, rest: () => this.#rest });
    setInterval(async () => {
      if (document.visibilityState !== "visible" || !navigator.onLine || this.#failures) return;
      if (await this.stream.isLive()) this.#tell({ kind: "changed" }); // another day may have begun
      else if (!this.#isPaged) this.run({ list: true }); // changes that are being sent go first
    }, LOOK_EVERY);
  }

  /** Sends the waiting changes; with `list`, also reads what others have changed. */
  async run({ list = false } = {}) {
    this.#wantsList ||= list;
    this.hasBegun = this.#again = true;
    if (this.#running || this.#ended || this.#isRefused()) return;
    this.#running = true;
    clearTimeout(this.#timer);
    try {
      while (this.#again && !this.#ended && !this.#isRefused()) {
        this.#again = false;
        await navigator.locks.request(this.#model.lock, () => this.#pass());
      }
    } finally {
      this.#running = false;
    }
    if (this.#heard.length && !this.#failures) this.run();
  }

  /** Takes an event of the stream, which this tab or another one has; without one, the list is read again. */
  hear(event) {
    if (!event) return this.run({ list: true });
    // While something waits, the event may tell of an addition whose answer is still on its way.
    if (!this.#running && this.#model.isKnown && !this.#model.queue.all().length) return this.#model.merge(event) && this.#tell({ kind: "changed" });
    this.#heard.push(event);
    if (!this.#running && !this.#failures) this.run({ list: !this.#model.isKnown }); // what has failed is not tried sooner
  }

  /** The milliseconds for which the server wants no request, in all tabs, and after a reload. */
  get #rest() {
    const rest = (read(localStorage, REFUSAL)?.until ?? 0) - Date.now();
    return rest > 0 && rest <= 1000 * LONGEST_DELAY ? rest : 0;
  }

  /** Whether the server wants no request yet; if so, tells until when, and runs then. */
  #isRefused() {
    const rest = this.#rest;
    if (!rest) return false;
    this.#later(rest);
    this.#tell({ kind: "trouble", ...read(localStorage, REFUSAL) });
    return true;
  }

  /** Ends the session: nothing is sent any more. */
  end() {
    this.#ended = true;
    this.stream.end();
    clearTimeout(this.#timer);
    this.#tell({ kind: "ended" });
  }

  /** Tells the news, except that an answer under way at the end of the session does not change that state. */
  #tell(news) {
    if (!this.#ended || news.kind === "ended") this.#report(news);
  }

  /** Sends the deletions that wait for the time of undo, from a page that is being closed. */
  leave() {
    for (const change of this.#model.hurry()) {
      // A deletion that must be compared with `of` needs an answer first, and is sent at the next start.
      if (typeof change.target !== "number" || change.of || this.#ended || this.#rest) continue;
      call(this.#access, "DELETE", `/api/tasks/${change.target}`, { keepalive: true }).catch(() => {});
    }
  }

  async #pass() {
    await this.#model.reload();
    this.#isFutile = false;
    try {
      // An addition that waits since a failure, or since an earlier start, is searched for before it is repeated.
      if (this.#wantsList && this.#model.queue.all().some(({ kind }) => kind === "add")) await this.#list();
      const rest = await this.#sendAll();
      if (this.#wantsList) await this.#list();
      for (const event of this.#heard.splice(0)) this.#model.merge(event);
      this.#failures = 0;
      this.#tell({ kind: "idle" });
      if (rest !== null) this.#later(rest);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Sends until there is nothing to send now; returns the milliseconds until there will be something. */
  async #sendAll() {
    const sending = new Map(); // change -> promise of its request
    let hasSent = false;
    try {
      for (;;) {
        const requests = new Set(sending.values());
        const { ready, wait } = this.#model.next([...sending.keys()]);
        if (!ready.length && !requests.size) return wait;
        if (!hasSent) this.#tell({ kind: "busy" });
        hasSent = true;
        for (const list of this.#grouped(ready).slice(0, AT_ONCE - requests.size)) {
          const request = this.#sendList(list).then(() => {
            this.#hasNews = true;
            this.#tell({ kind: "changed" });
          }).finally(() => list.forEach((change) => sending.delete(change)));
          for (const change of list) sending.set(change, request);
        }
        await Promise.race(sending.values());
      }
    } finally {
      await Promise.allSettled(sending.values()); // after a failure, the others are still under way
      if (this.#hasNews) this.#tell({ kind: "sent" }); // after a failure, two tabs would ask each other to try again for ever
      this.#hasNews = false;
    }
  }

  /** Returns the changes that can be sent now, in lists of those that share a request. */
  #grouped(changes) {
    const isListed = (change) => change.kind === "change" && typeof change.target === "number" && !change.next
      && !guardedField(change) && !this.#alone.has(change.key);
    const lists = changes.filter((change) => !isListed(change)).map((change) => [change]);
    const listed = changes.filter(isListed);
    while (listed.length) lists.unshift(listed.splice(0, MOST));
    return lists;
  }

  /** Sends changes that need no condition together: the server makes all or none. */
  async #sendList(changes) {
    if (changes.length === 1) return this.#send(changes[0]);
    const sendAlone = () => changes.forEach(({ key }) => this.#alone.add(key)); // so that a refusal ends at the right row
    try {
      const body = changes.map((change) => ({ id: change.target, ...bodyOf(change) }));
      const answer = await this.#call("PATCH", "/api/tasks", { body });
      const tasks = new Map(tasksOf(answer.body ?? []).map((task) => [task.id, task]));
      // Tasks that are together too long for one answer are missing in it.
      const isWhole = changes.every((change) => tasks.has(change.target));
      if (isWhole) this.#model.confirm(...changes.map((change) => [change, tasks.get(change.target)]));
      else sendAlone();
      this.#failures = 0;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const gone = changes.filter((change) => error.status === 404 && error.ids.includes(change.target));
      this.#model.confirm(...gone.map((change) => [change, null])); // deleted elsewhere: nothing is left to tick or to move
      if (!gone.length) sendAlone();
    }
  }

  async #send(change) {
    try {
      if (change.kind === "add") await this.#add(change);
      else if (change.kind === "remove") await this.#compared(change, () => this.#remove(change));
      else if (guardedField(change)) await this.#compared(change, () => this.#edit(change, guardedField(change)));
      else this.#model.confirm([change, ...((await this.#patch(change).catch(nothingIf(404))) ?? [null])]); // null if deleted elsewhere
      this.#failures = 0;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#model.revise(change.key, {
        problem: { title: error.title, detail: error.message, code: error.code },
      });
    }
  }

  /** Tries a change that is compared with the task first, again if the task has changed in between, but not for ever. */
  async #compared(change, attempt) {
    for (const pause of [...PAUSES, null]) {
      const isDone = !this.#isFutile && (await attempt().then(() => true, nothingIf(404, 412)));
      if (isDone || this.#ended) return;
      this.#isFutile ||= pause === null;
      if (this.#isFutile) return this.#model.revise(change.key, { problem: CHANGING });
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  async #add(change) {
    if (this.#model.isDoubtful(change)) return this.#model.revise(change.key, { problem: { added: true } });
    const { body } = await this.#call("POST", "/api/tasks", {
      headers: { "Idempotency-Key": change.key },
      body: bodyOf(change),
    });
    this.#model.confirm([change, taskOf(body)]);
  }

  /** Deletes a task that was cleared with others only if it is as it was shown; else it stays, and is shown as it is now. */
  async #remove(change) {
    const { target, of } = change;
    if (typeof target === "string") return this.#model.confirm([change, null]); // its addition was refused
    const found = of && (await this.#find(target));
    if (of && !(found && isAsShown(found.task, of))) return this.#model.confirm([change, found?.task ?? null]);
    await this.#call("DELETE", `/api/tasks/${target}`, { headers: found ? { "If-Match": found.tag } : {} });
    this.#model.confirm([change, null]);
  }

  /** Only if the field still has the value that the person saw; otherwise the person decides. */
  async #edit(change, field) {
    const found = await this.#find(change.target);
    if (!found) {
      this.#wantsList = true; // it is not the only thing that has changed, perhaps
      return this.#model.revise(change.key, { problem: { gone: true } });
    }
    const theirs = valueOf(found.task, field);
    if (theirs === change[field]) return this.#model.confirm([change, found.task]);
    if (theirs !== change.base) return this.#model.revise(change.key, { problem: { field, theirs } });
    this.#model.confirm([change, ...(await this.#patch(change, { "If-Match": found.tag }))]);
  }

  async #find(id) {
    const answer = await this.#call("GET", `/api/tasks/${id}`).catch(nothingIf(404));
    return answer && { task: taskOf(answer.body), tag: answer.tag };
  }

  /** Returns the task as it is now, and the next one if the server has made one. */
  async #patch(change, headers = {}) {
    const { body, next } = await this.#call("PATCH", `/api/tasks/${change.target}`, { headers, body: bodyOf(change) });
    return [taskOf(body), next && (await this.#find(next))?.task];
  }

  /** Reads all pages of the list, unless it is still the list that the model has. */
  async #list() {
    const headers = this.#model.tag ? { "If-None-Match": this.#model.tag } : {};
    this.#wantsList = false; // whoever wants it from now on may want a newer one
    const first = await this.#call("GET", "/api/tasks", { headers });
    if (first.status === 304) return;
    const tasks = tasksOf(first.body);
    for (let { next } = first; next; ) {
      const more = await this.#call("GET", `/api/tasks${next}`);
      const page = tasksOf(more.body);
      // A cache in between that does not look at the query would lead in a circle.
      if (more.next && !(page.at(-1)?.id > tasks.at(-1)?.id)) throw new Unreachable("The list has no end.");
      tasks.push(...page);
      next = more.next;
    }
    const tag = first.next ? null : first.tag;
    this.#isPaged = !tag;
    this.#model.replace(tasks, tag);
  }

  /** Reports after 2 s without an answer that there is none. */
  async #call(method, path, options) {
    let isLate = false;
    const late = setTimeout(() => this.#tell({ kind: "offline", isSilent: (isLate = true) }), PATIENCE);
    const heard = () => {
      clearTimeout(late);
      if (isLate) this.#tell({ kind: "busy" });
    };
    try {
      return await call(this.#access, method, path, { ...options, heard });
    } finally {
      clearTimeout(late);
    }
  }

  #failed(error) {
    if (error instanceof Problem && error.status === 401) return this.end();
    this.#wantsList = true;
    if (!(error instanceof Problem || error instanceof Unreachable)) {
      this.#later(1000 * LONGEST_WAIT);
      this.#tell({ kind: "trouble", title: "Something went wrong", detail: "The page tries again. Reloading it may help." });
      throw error;
    }
    const trouble = { kind: "trouble", title: error.title, detail: error.message, code: error.code };
    const asked = Math.min(error.retryAfter ?? 0, LONGEST_DELAY);
    const pause = Math.min(LONGEST_WAIT, 2 ** this.#failures++);
    if (asked > 0) {
      trouble.until = Date.now() + 1000 * Math.max(asked, pause);
      write(localStorage, REFUSAL, trouble);
    }
    this.#later(1000 * Math.max(asked, pause));
    this.#tell(error instanceof Unreachable ? { kind: "offline" } : trouble);
  }

  #later(milliseconds) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.run(), milliseconds);
  }
}

/** Whether the server has refused for good; else the same may succeed later, or after another sign-in. */
const isRefusal = (error) => error instanceof Problem && !error.isPassing && error.status !== 401;

const nothingIf = (...statuses) => (error) => {
  if (error instanceof Problem && statuses.includes(error.status)) return null;
  throw error;
};
