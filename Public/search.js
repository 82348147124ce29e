// The field to search with, which is out of the way until somebody wants it.

import { announce, counted, find } from "./dom.js";
import { onKey } from "./shortcuts.js";

const SPOKEN_AFTER = 600; // milliseconds after the last key

/** Returns a text without what people do not write when they search: capitals and accents. */
export const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** `#word` after a space or a bracket; it has at least one letter. */
export const TAG = /(?<=^|[\s(])#[\p{L}\p{N}_-]*\p{L}[\p{L}\p{N}_-]*/gu;

/** Returns a text to search in: a space is behind each tag, so that "#work " finds no "#workshop". */
export const searchable = (text) => folded(text).replace(TAG, "$& ");

/** Marks all places of these folded words in elements, if the browser can; those that were marked before are not any more. */
export function markWords(elements, words) {
  if (!globalThis.CSS?.highlights) return;
  CSS.highlights.delete("found");
  if (words.length) CSS.highlights.set("found", new Highlight(...elements.flatMap((element) => placesIn(element, words))));
}

function placesIn(element, words) {
  const found = [];
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const letters = node.data.split("").map(folded);
    const text = letters.join("");
    const origins = letters.flatMap((letter, index) => Array(letter.length).fill(index));
    for (const word of words.map((word) => word.trim())) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = new Range();
        range.setStart(node, origins[at]);
        range.setEnd(node, origins[at + word.length - 1] + 1);
        found.push(range);
      }
    }
  }
  return found;
}

/** Lets the person search. `change` is told the text, and returns how many tasks are shown. Returns {open, close}. */
export function offerSearch(change) {
  const [box, field, button] = ["search", "query", "search-open"].map(find);
  let timer;
  const search = () => {
    const count = change(field.value);
    clearTimeout(timer);
    if (field.value.trim()) timer = setTimeout(() => announce(`${counted(count || "No", "task")} found`), SPOKEN_AFTER);
  };
  const show = (isOpen) => {
    box.hidden = !isOpen;
    button.setAttribute("aria-expanded", String(isOpen));
  };
  const open = (text) => {
    show(true);
    if (text) {
      field.value = text;
      search();
    }
    field.select();
    field.focus();
  };
  const close = () => {
    const hadFocus = box.contains(document.activeElement);
    field.value = "";
    show(false);
    search();
    if (hadFocus) button.focus();
  };
  button.addEventListener("click", () => (box.hidden ? open() : close()));
  field.addEventListener("input", search);
  box.addEventListener("submit", (event) => event.preventDefault());
  onKey(box, (event) => event.key === "Escape" && close());
  return { open, close };
}
