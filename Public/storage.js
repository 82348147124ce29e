// Values as JSON in the storage of the browser or of the tab.

/** The value under this name; null if there is none, or one that is not JSON. */
export function read(storage, name) {
  try {
    return JSON.parse(storage.getItem(name));
  } catch {
    return null;
  }
}

export const write = (storage, name, value) => storage.setItem(name, JSON.stringify(value));
