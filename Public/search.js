// The field to search with, which is out of the way until somebody wants it.

import { announce, counted, find } from "./dom.js";
import { onKey } from "./shortcuts.js";

const SPOKEN_AFTER = 600; // milliseconds after the last key

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
  const open = () => {
    show(true);
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
