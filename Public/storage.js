// Values as JSON in the storage of the browser or of the tab.

/** The value under this name; null if there is none, or one that is not JSON. */
export function read(storage, name) {
  try {
    return JSON.parse(storage.getItem(name));
  } catch {
    return null;
  }
}

/** Keeps a value. It needs its room more than a list of tasks, which the server has. */
export function write(storage, name, value) {
  const text = JSON.stringify(value);
  try {
    storage.setItem(name, text);
  } catch {
    for (const list of Object.keys(storage)) if (list.startsWith("tasks.list.")) storage.removeItem(list);
    storage.setItem(name, text);
  }
}

/** Does the work alone among the tabs of this browser that use the same name, where the browser can do that. */
export const locked = (name, work) => (navigator.locks ? navigator.locks.request(name, work) : work());
