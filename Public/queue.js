// The changes that the server has not answered yet, in IndexedDB. A change is kept when its transaction is complete,
// and then outlives a crash of the browser. Local storage would not: Chromium writes it to the disk many seconds later.

const PATIENCE = 3000; // milliseconds for reading: a database that does not answer must not hold up sending

/** The changes of one person, in the order in which the database got them, whatever the clock says. A tab shows and
 * sends a change at once, also while it is being written and if it cannot be written. */
export class Queue {
  #owner;
  #changed;
  #database; // promise of the database
  #changes = new Map(); // key -> change, as this tab knows it; without `order` until it is in the database
  #unwritten = new Map(); // key -> {change, id?, isUnderWay, hasFailed}: missing in the database; without change, a removal
  ids = new Map(); // key of an addition -> the id that it got while this tab was open
  #channel = new BroadcastChannel("tasks.queue");
  #hearing; // timer

  /** `changed` is called when it is known whether a change is kept. It is told true if there may be other changes, and a second
   * true if this tab did not know one of them. */
  constructor(owner, changed) {
    this.#owner = owner;
    this.#changed = changed;
    this.#channel.addEventListener("message", ({ data }) => data.owner === owner && this.#hear(data.ids));
  }

  /** Returns all changes, oldest first. A change for an addition that nobody knows any more waits for the person. */
  all() {
    const changes = [...this.#changes.values()].sort((a, b) => (a.order ?? Infinity) - (b.order ?? Infinity) || 0);
    const additions = new Set(changes.filter(({ kind }) => kind === "add").map(({ key }) => key));
    const isLost = ({ target }) => typeof target === "string" && !additions.has(target);
    for (const change of changes) if (change.next && !isLost(change)) additions.add(change.key);
    return changes.filter((change) => !isLost(change) || "base" in change) // others have nothing to show
      .map((change) => (isLost(change) ? { ...change, problem: { gone: true } } : change));
  }

  get(key) {
    return this.#changes.get(key);
  }

  /** Returns "kept", "keeping" while the change is being written, or "failed": then only this tab has the change. */
  stateOf({ key }) {
    const entry = this.#unwritten.get(key);
    return entry ? (entry.hasFailed ? "failed" : "keeping") : "kept";
  }

  put(change) {
    this.#changes.set(change.key, change);
    this.#write(change.key, { change });
  }

  /** Removes a change. If it has made a task that got an id, other changes for its task are for that id from now on; if there is no such
   * task, those that have nothing to show are removed, too. */
  drop(key, id) {
    if (id !== undefined) this.#learn([[key, id]]);
    else for (const other of this.#changes.values()) if (other.target === key && !("base" in other)) this.drop(other.key);
    this.#changes.delete(key);
    this.#unwritten.delete(key); // it comes last: its transaction finds the new targets of the other changes
    this.#write(key, { id });
  }

  /** Reads the database again, and tries again to write what it lacks. */
  async load() {
    await Promise.race([this.#load(), new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
  }

  async #load() {
    await this.#commit();
    let found;
    try {
      const store = (await this.#open()).transaction("changes").objectStore("changes");
      found = await resultOf(store.index("owner").getAll(this.#owner));
    } catch {
      return; // what this tab knows is sent all the same
    }
    const isNew = found.some(({ key }) => !this.#changes.has(key) && !this.#unwritten.has(key));
    this.#changes = new Map(found.map((change) => [change.key, change]));
    for (const [key, { change }] of this.#unwritten) {
      if (change) this.#changes.set(key, change);
      else this.#changes.delete(key);
    }
    this.#learn([]); // another tab may not have known an id yet
    this.#changed(true, isNew);
  }

  #hear(ids) {
    this.#learn(ids);
    this.#hearing ??= setTimeout(() => {
      this.#hearing = undefined;
      this.#load();
    }, 50);
  }

  /** Gives the id of a task to the changes that wait for its addition. */
  #learn(ids) {
    for (const [key, id] of ids) this.ids.set(key, id);
    for (const change of this.#changes.values()) {
      const id = this.ids.get(change.target);
      if (id !== undefined) this.put({ ...change, target: id });
    }
  }

  /** Writes all changes of one turn of the page in one transaction, with those that could not be written before. */
  #write(key, entry) {
    this.#unwritten.set(key, entry);
    queueMicrotask(() => this.#commit());
  }

  async #commit() {
    const entries = [...this.#unwritten].filter(([, { isUnderWay }]) => !isUnderWay);
    if (!entries.length) return;
    for (const [, entry] of entries) entry.isUnderWay = true;
    try {
      const orders = await this.#store(entries);
      for (const [index, [key, entry]] of entries.entries()) {
        if (this.#unwritten.get(key) === entry) this.#unwritten.delete(key);
        const change = this.#changes.get(key);
        if (change) change.order ??= orders[index];
      }
      const ids = entries.filter(([, { id }]) => id !== undefined).map(([key, { id }]) => [key, id]);
      this.#channel.postMessage({ owner: this.#owner, ids });
    } catch {
      for (const [, entry] of entries) Object.assign(entry, { isUnderWay: false, hasFailed: true });
    }
    this.#changed(false);
  }

  /** Writes all of the entries or none; returns the order of each in the database. */
  async #store(entries) {
    const transaction = (await this.#open()).transaction("changes", "readwrite", { durability: "strict" });
    const store = transaction.objectStore("changes");
    try {
      const writes = Promise.all(entries.map(([key, entry]) => this.#storeOne(store, key, entry)));
      return (await Promise.all([writes, endOf(transaction)]))[0];
    } catch (error) {
      if (!transaction.error) transaction.abort();
      throw error;
    }
  }

  async #storeOne(store, key, { change, id }) {
    const order = await resultOf(store.index("key").getKey(key));
    if (change && order === undefined && change.order === undefined) return resultOf(store.add({ ...change, owner: this.#owner }));
    if (change && order !== undefined) store.put({ ...change, owner: this.#owner, order });
    else if (order !== undefined) store.delete(order);
    if (id !== undefined) {
      for (const other of await resultOf(store.index("target").getAll(key))) store.put({ ...other, target: id });
    }
    return order;
  }

  #open() {
    this.#database ??= open().then((database) => {
      database.onclose = database.onversionchange = () => {
        database.close();
        this.#database = undefined;
      };
      return database;
    });
    this.#database.catch(() => (this.#database = undefined));
    return this.#database;
  }
}

async function open() {
  const request = indexedDB.open("tasks", 1);
  request.onupgradeneeded = () => {
    const store = request.result.createObjectStore("changes", { keyPath: "order", autoIncrement: true });
    store.createIndex("key", "key", { unique: true });
    for (const name of ["owner", "target"]) store.createIndex(name, name);
  };
  return resultOf(request);
}

const resultOf = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

const endOf = (transaction) =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
