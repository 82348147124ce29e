// The steps that the person can take back, and make again. A toast offers the last one for some seconds, and Control Z
// at any time; Control Shift Z and Control Y make again what was taken back.

import { announce, brief, find, isMac } from "./dom.js";
import { focusNew } from "./editor.js";
import { UNDO_TIME } from "./model.js";
import { keyOf, onKey } from "./shortcuts.js";

const SHOWN = UNDO_TIME - 500;
const HELD = 600; // milliseconds after a click in which the button takes no other

export class Undo {
  #steps = []; // {word, tasks, back, again}, oldest first
  #undone = []; // those that were taken back since the last new step
  #isHinted = false;
  #timer;

  constructor() {
    find("undo").addEventListener("click", ({ currentTarget: { classList } }) => {
      if (classList.contains("held")) return; // the second click of a double click
      classList.add("held");
      setTimeout(() => classList.remove("held"), HELD);
      this.#take(this.#steps, this.#undone);
    });
    find("show").addEventListener("click", () => this.#steps.at(-1).show());
    onKey(window, (event) => this.#key(event));
  }

  /** Offers a step: `word` says what was done to the tasks, such as "deleted", `back` takes it back, and `again` makes it
   * again. `spoken` is what a screen reader says in place of that, and `show` shows what is not in sight. */
  offer(word, tasks, back, { again, spoken, show } = {}) {
    this.#undone = [];
    this.#steps.push({ word, tasks, back, again, show });
    find("undo").classList.remove("held"); // a click is for this step
    this.#show();
    const hint = this.#isHinted || spoken ? "" : `. ${isMac ? "Command" : "Control"} Z takes it back.`; // said once
    this.#isHinted ||= hint !== "";
    announce(spoken ?? `${find("toast-text").textContent}${hint}`);
  }

  #show() {
    find("toast").hidden = !this.#steps.length;
    clearInterval(this.#timer);
    if (!this.#steps.length) return;
    const { word, tasks, show } = this.#steps.at(-1);
    find("show").hidden = !show;
    find("toast-text").textContent = sentence(word, tasks);
    // The offer stays as long as the pointer or the focus is on it.
    this.#timer = setInterval(() => (find("toast").hidden ||= !find("toast").matches(":focus-within, :hover")), SHOWN);
  }

  /** Takes back the last step, or makes the step again that was taken back last. */
  #take(from, to, isAgain) {
    const step = from.pop();
    const hadFocus = find("toast").contains(document.activeElement);
    step[isAgain ? "again" : "back"]();
    if (step.again) to.push(step);
    this.#show();
    if (hadFocus && find("toast").hidden) focusNew();
    announce(`${isAgain ? "Again" : "Undone"}. ${sentence(step.word, step.tasks)}`);
  }

  #key(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || document.querySelector("dialog[open]")) return;
    const letter = keyOf(event);
    const isRedo = letter === "y" || (letter === "z" && event.shiftKey);
    if (!isRedo && letter !== "z") return;
    if (event.target.matches("input[type=text], input[type=search], textarea") && event.target.value) return; // the field's own undo
    const [from, to] = isRedo ? [this.#undone, this.#steps] : [this.#steps, this.#undone];
    if (!from.length) return;
    event.preventDefault();
    this.#take(from, to, isRedo);
  }
}

/** Returns "Deleted: Buy milk", or "2 deleted". */
function sentence(word, tasks) {
  const [{ text }, ...others] = tasks;
  return others.length ? `${tasks.length} ${word}` : `${word[0].toUpperCase()}${word.slice(1)}: ${brief(text)}`;
}
