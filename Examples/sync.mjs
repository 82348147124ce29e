// A to-do list in a file that works offline, follows a task-server, and sends what was changed meanwhile. It needs Node 18 and no package.
// usage: ACCESS_TOKEN=... node sync.mjs URL FILE [add TEXT | rename ID TEXT | done ID | remove ID | pull | follow]
// docs/sync.md says why it does what it does.
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";

export class SyncedList {
  #url;
  #file;
  #token;
  #state = { since: null, tasks: {}, waiting: [] };

  // `token` is a function that returns an access token, because a token lives for an hour only.
  constructor(url, file, token) {
    [this.#url, this.#file, this.#token] = [url, file, token];
    if (existsSync(file)) this.#state = JSON.parse(readFileSync(file, "utf8"));
  }

  get tasks() {
    return Object.values(this.#state.tasks).sort((a, b) => a.Id - b.Id);
  }

  // Notes a change; it is sent by the next push(), with the same key however often that must be repeated.
  add(text) {
    this.#note({ kind: "add", key: randomUUID(), text });
  }

  rename(id, text) {
    this.#note({ kind: "change", id, values: { task: text } });
  }

  finish(id) {
    this.#note({ kind: "change", id, values: { completed: true } });
  }

  remove(id) {
    this.#note({ kind: "remove", id });
  }

  #note(change) {
    const task = this.#state.tasks[change.id] ?? {};
    this.#state.waiting.push({ ...change, seen: task.revision });
    Object.assign(task, change.values);
    this.#save();
  }

  // Tasks, point and waiting changes are written together, so a crash never leaves a point whose tasks are missing.
  #save() {
    writeFileSync(`${this.#file}.new`, JSON.stringify(this.#state));
    renameSync(`${this.#file}.new`, this.#file);
  }

  async #request(path, { headers = {}, ...options } = {}) {
    while (true) {
      headers = { Accept: "application/json; names=one", ...headers, Authorization: `Bearer ${await this.#token()}` };
      const answer = await fetch(this.#url + path, { ...options, headers });
      if (answer.status !== 429 && answer.status !== 503) return answer;
      await answer.body?.cancel();
      await new Promise((done) => setTimeout(done, 1000 * (Number(answer.headers.get("Retry-After")) || 1)));
    }
  }

  // Sends what waits, in its order. What the server refuses is left out and returned, so that the person can be told.
  async push() {
    const refused = [];
    while (this.#state.waiting.length) {
      const change = this.#state.waiting[0];
      const answer = await this.#send(change);
      if (answer.status === 401 || answer.status >= 500) throw new Error(`not sent: ${answer.status}`);
      this.#state.waiting.shift();
      if (!answer.ok) refused.push({ change, status: answer.status });
      const { revision } = answer.ok && answer.status !== 204 ? await answer.json() : {};
      // What the person did to the task later, they did to what this change has made of it.
      for (const later of this.#state.waiting) if (revision && later.id === change.id) later.seen = revision;
      this.#save();
    }
    return refused;
  }

  async #send(change) {
    const path = `/api/tasks/${change.id}`;
    const headers = { "Content-Type": "application/json" };
    // The server refuses to change or remove what another device has changed since the person saw it.
    if (change.seen) headers["If-Match"] = `"${change.id}.${change.seen}"`;
    if (change.kind === "remove") return this.#request(path, { method: "DELETE", headers });
    if (change.kind === "add") headers["Idempotency-Key"] = change.key;
    if (change.kind === "add") return this.#request("/api/tasks", { method: "POST", headers, body: JSON.stringify({ task: change.text }) });
    const answer = await this.#request(path, { method: "PATCH", headers, body: JSON.stringify(change.values) });
    if (answer.status !== 412) return answer;
    // Perhaps the change was made before, and its answer got lost.
    const found = await this.#request(path);
    const now = found.ok ? await found.clone().json() : {};
    return Object.entries(change.values).every(([name, value]) => now[name] === value) ? found : answer;
  }

  // Fetches what was changed since the last time.
  async pull() {
    for (let more = true; more; ) {
      const since = this.#state.since ? `?since=${this.#state.since}` : "";
      const answer = await this.#request(`/api/tasks/changes${since}`);
      if (answer.ok) more = this.#apply(await answer.json());
      else if (answer.status !== 410) throw new Error(`not read: ${answer.status} ${await answer.text()}`);
      else [this.#state.since, this.#state.tasks] = [null, {}]; // The point is too old: the whole list is read again.
    }
  }

  #apply({ changed, removed, next, more }) {
    for (const id of removed) delete this.#state.tasks[id];
    for (const task of changed) this.#state.tasks[task.Id] = task;
    this.#state.since = next;
    this.#save();
    return more;
  }

  // Calls `onChange` at each change from the last pull() on. Returns the reason for which the server has ended the stream.
  async follow(onChange) {
    const headers = { Accept: "text/event-stream; names=one", "Last-Event-ID": this.#state.since };
    const answer = await this.#request("/api/tasks/changes", { headers });
    if (!answer.ok) throw new Error(`not followed: ${answer.status}`);
    let text = "";
    for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
      const events = (text + piece).split("\n\n");
      text = events.pop();
      for (const event of events.filter((event) => /^event: /m.test(event))) {
        const data = JSON.parse(event.match(/^data: (.*)$/m)[1]);
        if (/^event: end$/m.test(event)) return data.reason;
        this.#apply(data);
        onChange(this.tasks);
      }
    }
  }
}

const [url, file, command = "pull", ...words] = process.argv.slice(2);
const show = (tasks) => console.log(JSON.stringify(tasks.map(({ Id, task, completed }) => ({ Id, task, completed }))));
const list = new SyncedList(url, file, () => process.env.ACCESS_TOKEN);
if (command === "add") list.add(words.join(" "));
if (command === "rename") list.rename(Number(words.shift()), words.join(" "));
if (command === "done") list.finish(Number(words[0]));
if (command === "remove") list.remove(Number(words[0]));
for (const { change, status } of await list.push()) console.log(`refused with ${status}: ${JSON.stringify(change)}`);
await list.pull();
show(list.tasks);
while (command === "follow") {
  const reason = await list.follow(show).catch((error) => error.message);
  console.error(`the stream has ended: ${reason}`);
  if (/^(token|account)\.|^not followed/.test(reason)) process.exit(1); // It helps to sign in again, and nothing else.
  await new Promise((done) => setTimeout(done, 1000));
  await list.pull().catch(() => {}); // While the server is away, the next round says so.
}
