// The seconds in which a deletion can be taken back: it waits in the model, and this offer shows that it does.

import { announce, find } from "/dom.js";
import { UNDO_TIME } from "/model.js";

const SHOWN = UNDO_TIME - 500;

export class Undo {
  #model;
  #render;
  #keys = [];
  #timer;

  constructor(model, render) {
    this.#model = model;
    this.#render = render;
    find("undo").addEventListener("click", () => this.#take());
    addEventListener("keydown", (event) => this.#key(event));
  }

  /** Offers to take back the deletions with these keys. */
  offer(keys, message) {
    this.#keys = keys;
    find("toast-text").textContent = message;
    find("toast").hidden = false;
    announce(`${message}. Control Z brings it back.`);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(), SHOWN);
  }

  /** Keeps the offer and the deletion waiting as long as the pointer or the focus is on the offer. */
  #end() {
    if (find("toast").matches(":focus-within, :hover")) {
      for (const key of this.#keys) this.#model.revise(key, { notBefore: Date.now() + UNDO_TIME });
      this.#timer = setTimeout(() => this.#end(), SHOWN);
    } else {
      find("toast").hidden = true;
      this.#keys = [];
    }
  }

  #take() {
    for (const key of this.#keys) this.#model.drop(key);
    this.#keys = [];
    clearTimeout(this.#timer);
    const hadFocus = find("toast").contains(document.activeElement);
    find("toast").hidden = true;
    this.#render();
    announce("Deletion undone");
    if (hadFocus) find("new").focus();
  }

  #key(event) {
    const isUndo = event.key === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey;
    if (!isUndo || !this.#keys.length) return;
    if (event.target.matches("input[type=text], input[type=search], textarea") && event.target.value) return; // the field's own undo
    event.preventDefault();
    this.#take();
  }
}
