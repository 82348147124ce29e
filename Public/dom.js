// Functions that find and make elements, and announcements for screen readers.

export const find = (id) => document.getElementById(id);

/** Makes an element with properties, attributes (in `attributes`) and children. */
export function make(name, { attributes = {}, ...properties } = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Returns a text that is short enough to be spoken or to stand in a line. */
export const brief = (text) => (text.length > 100 ? `${[...text.slice(0, 99)].slice(0, -1).join("")}…` : text);

export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** The person's variant of the page's language, in which dates are written, so that words and dates are in one language. */
export function locale() {
  const { lang } = document.documentElement;
  return navigator.languages.find((name) => name.split("-")[0] === lang) ?? lang;
}

export function announce(message) {
  find("announcer").textContent = "";
  requestAnimationFrame(() => (find("announcer").textContent = message));
}

/** Whether keyboards here have a Command key in place of Control, and only one key that deletes, Backspace. */
export const isMac = /^(Mac|iP)/.test(navigator.platform);
