// Brings the waiting changes to the server, a few at once, and the server's list back.
//
// Nothing doubles: an addition carries its key as Idempotency-Key, a new text is bound by If-Match to the text that the
// person saw, the other changes can be repeated. Nothing is lost: a change stays in local storage until the server has
// answered. One tab sends at a time (Web Locks), so a list is never older than a change that was confirmed before it.

import { call, Problem, Unreachable } from "/api.js";
import { taskOf } from "/model.js";

const LONGEST_WAIT = 30; // seconds
const AT_ONCE = 5; // requests; browsers open six connections to a server, and one is left for reading

/**
 * `report` is told {kind: "idle" | "busy" | "offline" | "trouble" | "ended", ...} whenever that changes, "changed" for
 * each change that the server has answered, and "sent" when the other tabs should look at the list again.
 */
export class Sync {
  #model;
  #access;
  #report;
  #running = false;
  #again = false;
  #wantsList = false;
  #timer;
  #failures = 0;
  #ended = false;

  constructor(model, access, report) {
    this.#model = model;
    this.#access = access;
    this.#report = report;
  }

  /** Sends what waits; with `list`, looks for what others have changed as well. */
  async run({ list = false } = {}) {
    this.#wantsList ||= list;
    this.#again = true;
    if (this.#running || this.#ended) return;
    this.#running = true;
    clearTimeout(this.#timer);
    try {
      while (this.#again && !this.#ended) {
        this.#again = false;
        await locked(this.#model.prefix, () => this.#pass());
      }
    } finally {
      this.#running = false;
    }
  }

  /** The session is over: nothing is sent any more. */
  end(reason) {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#tell({ kind: "ended", reason });
  }

  /** An answer that was under way when the session ended changes nothing about that. */
  #tell(news) {
    if (!this.#ended || news.kind === "ended") this.#report(news);
  }

  /** Sends the deletions that wait for the time of undo, from a page that is being closed. */
  leave() {
    for (const change of this.#model.hurry()) {
      if (typeof change.target !== "number" || this.#ended) continue;
      call(this.#access, "DELETE", `/api/tasks/${change.target}`, { keepalive: true }).catch(() => {});
    }
  }

  async #pass() {
    this.#model.reload();
    try {
      const rest = await this.#sendAll();
      if (this.#wantsList) await this.#list();
      this.#failures = 0;
      this.#tell({ kind: "idle" });
      if (rest !== null) this.#later(rest);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Until there is nothing to send now; the milliseconds until there will be. */
  async #sendAll() {
    const sending = new Map(); // change -> promise
    let hasSent = false;
    try {
      for (;;) {
        const change = sending.size < AT_ONCE ? this.#model.next([...sending.keys()]) : null;
        if (change?.key) {
          if (!hasSent) this.#tell({ kind: "busy" });
          hasSent = true;
          sending.set(change, this.#send(change).finally(() => sending.delete(change)));
        } else if (sending.size) {
          await Promise.race(sending.values());
        } else {
          return change;
        }
      }
    } finally {
      await Promise.allSettled(sending.values()); // after a failure, the others are still under way
      if (hasSent) this.#tell({ kind: "sent" });
    }
  }

  async #send(change) {
    try {
      if (change.kind === "add") await this.#add(change);
      else if (change.kind === "remove") await this.#remove(change);
      else if (change.text === undefined) await this.#complete(change);
      else await this.#rename(change);
      this.#failures = 0;
    } catch (error) {
      if (!(error instanceof Problem) || error.isPassing || error.status === 401) throw error;
      this.#model.revise(change.key, {
        problem: { title: error.title, detail: error.message, code: error.code },
      });
    }
    this.#tell({ kind: "changed" });
  }

  async #add(change) {
    const { body } = await this.#call("POST", "/api/tasks", {
      headers: { "Idempotency-Key": change.key },
      body: { task: change.text, completed: change.completed },
    });
    this.#model.confirm(change, taskOf(body));
  }

  async #remove(change) {
    await this.#call("DELETE", `/api/tasks/${change.target}`);
    this.#model.confirm(change, null);
  }

  async #complete(change) {
    const answer = await this.#change(change.target, { completed: change.completed });
    this.#model.confirm(change, answer); // none: deleted elsewhere, so there is nothing left to tick
  }

  /** Only if the text is still the one that the person saw; otherwise the person decides. */
  async #rename(change) {
    for (;;) {
      const found = await this.#find(change.target);
      if (!found) return this.#gone(change);
      if (found.task.text === change.text) return this.#model.confirm(change, found.task);
      if (found.task.text !== change.base) {
        return this.#model.revise(change.key, { problem: { theirs: found.task.text } });
      }
      const answer = await this.#change(change.target, { task: change.text }, found.tag);
      if (answer) return this.#model.confirm(change, answer);
    }
  }

  #gone(change) {
    this.#wantsList = true; // it is not the only thing that has changed, perhaps
    this.#model.revise(change.key, { problem: { gone: true } });
  }

  async #find(id) {
    const answer = await this.#call("GET", `/api/tasks/${id}`).catch(nothingIf(404));
    return answer && { task: taskOf(answer.body), tag: answer.tag };
  }

  /** The changed task; null if there is none in the expected state. */
  async #change(id, body, tag) {
    const headers = tag ? { "If-Match": tag } : {};
    const answer = await this.#call("PATCH", `/api/tasks/${id}`, { headers, body }).catch(nothingIf(404, 412));
    return answer && taskOf(answer.body);
  }

  async #list() {
    const headers = this.#model.tag ? { "If-None-Match": this.#model.tag } : {};
    const first = await this.#call("GET", "/api/tasks", { headers });
    this.#wantsList = false;
    if (first.status === 304) return;
    const tasks = first.body;
    for (let next = first.next; next; ) {
      const more = await this.#call("GET", next);
      tasks.push(...more.body);
      next = more.next;
    }
    this.#model.replace(tasks.map(taskOf), first.next ? null : first.tag);
  }

  #call(method, path, options) {
    return call(this.#access, method, path, options);
  }

  #failed(error) {
    if (error instanceof Problem && error.status === 401) return this.end(error.code);
    if (!(error instanceof Problem || error instanceof Unreachable)) throw error;
    if (error instanceof Problem && !error.isPassing) {
      return this.#tell({ kind: "trouble", title: error.title, detail: error.message, code: error.code });
    }
    const seconds = Math.max(error.retryAfter ?? 0, Math.min(LONGEST_WAIT, 2 ** this.#failures++));
    this.#wantsList = true;
    this.#later(1000 * seconds);
    if (error instanceof Unreachable) this.#tell({ kind: "offline" });
    else this.#tell({ kind: "trouble", title: error.title, detail: error.message, code: error.code, seconds });
  }

  #later(milliseconds) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.run(), milliseconds);
  }
}

const nothingIf = (...statuses) => (error) => {
  if (error instanceof Problem && statuses.includes(error.status)) return null;
  throw error;
};

/** Alone among the tabs of this person, where the browser can do that. */
const locked = (name, work) => (navigator.locks ? navigator.locks.request(name, work) : work());
