// Values as JSON in the storage of the browser or of the tab.

/** Returns the value under this name, or null if there is none, or one that is not JSON. */
export function read(storage, name) {
  try {
    return JSON.parse(storage.getItem(name));
  } catch {
    return null;
  }
}

/** Keeps a value; false if there is no room. Lists of tasks make room for it, since the server has them. */
export function write(storage, name, value) {
  const lists = Object.keys(storage).filter((other) => other.startsWith("tasks.list."));
  for (;;) {
    try {
      storage.setItem(name, JSON.stringify(value));
      return true;
    } catch {
      if (!lists.length) return false;
      storage.removeItem(lists.pop());
    }
  }
}
