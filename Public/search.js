// The field to search with, which is out of the way until somebody wants it.

import { announce, counted, find } from "/dom.js";

const SPOKEN_AFTER = 600; // milliseconds after the last key

export class Search {
  #change;
  #timer;

  /** `change` is told the text that is searched for, and returns how many tasks are shown. */
  constructor(change) {
    this.#change = change;
    find("search-open").addEventListener("click", () => (find("search").hidden ? this.open() : this.close()));
    find("query").addEventListener("input", () => this.#search());
    find("search").addEventListener("submit", (event) => event.preventDefault());
    find("search").addEventListener("keydown", (event) => event.key === "Escape" && this.close());
  }

  open() {
    this.#show(true);
    find("query").select();
    find("query").focus();
  }

  close() {
    const hadFocus = find("search").contains(document.activeElement);
    find("query").value = "";
    this.#show(false);
    clearTimeout(this.#timer);
    this.#change("");
    if (hadFocus) find("search-open").focus();
  }

  #show(isOpen) {
    find("search").hidden = !isOpen;
    find("search-open").setAttribute("aria-expanded", String(isOpen));
  }

  #search() {
    const text = find("query").value;
    const count = this.#change(text);
    clearTimeout(this.#timer);
    if (!text.trim()) return;
    this.#timer = setTimeout(() => announce(`${counted(count || "No", "task")} found`), SPOKEN_AFTER);
  }
}
