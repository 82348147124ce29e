// Finding and making elements, and announcements for screen readers.

export const find = (id) => document.getElementById(id);

/** An element with properties, attributes (in `attributes`) and children. */
export function make(name, { attributes = {}, ...properties } = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

export function announce(message) {
  find("announcer").textContent = "";
  requestAnimationFrame(() => (find("announcer").textContent = message));
}
