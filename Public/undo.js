// The steps that the person can take back. A toast offers the last one for some seconds, and Control Z at any time.

import { announce, brief, find } from "./dom.js";
import { focusNew } from "./editor.js";
import { UNDO_TIME } from "./model.js";
import { onKey } from "./shortcuts.js";

const SHOWN = UNDO_TIME - 500;

export class Undo {
  #steps = []; // {word, tasks, back}, oldest first
  #alike = 0; // the number of the last steps that the toast counts together
  #timer;

  constructor() {
    find("undo").addEventListener("click", () => this.#take());
    onKey(window, (event) => this.#key(event));
  }

  /** Offers a step: `word` says what was done to the tasks, such as "deleted", and `back` takes it back. */
  offer(word, tasks, back, spoken) {
    const isAlike = !find("toast").hidden && this.#steps.at(-1)?.word === word;
    this.#alike = isAlike ? this.#alike + 1 : 1;
    this.#steps.push({ word, tasks, back });
    this.#show();
    const hint = this.#steps.length === 1 ? ". Control Z takes it back." : ""; // said once
    announce(spoken ?? `${find("toast-text").textContent}${hint}`);
  }

  #show() {
    find("toast").hidden = !this.#steps.length;
    clearInterval(this.#timer);
    if (!this.#steps.length) return;
    const steps = this.#steps.slice(-this.#alike);
    find("toast-text").textContent = sentence(steps[0].word, steps.flatMap(({ tasks }) => tasks));
    // The offer stays as long as the pointer or the focus is on it.
    this.#timer = setInterval(() => (find("toast").hidden ||= !find("toast").matches(":focus-within, :hover")), SHOWN);
  }

  #take() {
    const { word, tasks, back } = this.#steps.pop();
    this.#alike = Math.max(this.#alike - 1, 1);
    back();
    const hadFocus = find("toast").contains(document.activeElement);
    this.#show();
    if (hadFocus && find("toast").hidden) focusNew();
    announce(`Undone. ${sentence(word, tasks)}`);
  }

  #key(event) {
    const isUndo = event.key === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey;
    if (!isUndo || !this.#steps.length || document.querySelector("dialog[open]")) return;
    if (event.target.matches("input[type=text], input[type=search], textarea") && event.target.value) return; // the field's own undo
    event.preventDefault();
    this.#take();
  }
}

/** Returns "Deleted: Buy milk", or "2 deleted". */
function sentence(word, tasks) {
  const count = new Set(tasks.map((task) => task.row)).size;
  return count === 1 ? `${word[0].toUpperCase()}${word.slice(1)}: ${brief(tasks[0].text)}` : `${count} ${word}`;
}
