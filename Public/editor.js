// The form that stands in place of a row's text while its task is open, and the due date of a new task.

import { dayNamed, nameOfDay } from "./days.js";
import { announce, find } from "./dom.js";
import { labelFor } from "./row.js";
import { dayIn } from "./typed-days.js";

const SPOKEN_AFTER = 600; // milliseconds after the last key

/** The fields of a task that a person writes; an empty field has no value. */
const FIELDS = ["text", "due", "notes"];

/** Returns a text as a form gives it back unchanged. */
const written = (value) => value.replace(/\r\n?/g, "\n").trim();

/** Returns the fields whose values differ, as pairs of a field and its new value. */
export const alterations = (seen, values) =>
  FIELDS.filter((field) => written(values[field]) !== written(seen[field])).map((field) => [field, written(values[field])]);

/** Returns a message if the browser does not understand a date: it gives no value for a date that is not complete. */
export const dateFault = (field) => (field.validity.valid ? undefined : "This due date is no complete date.");

export class Editor {
  /** The values with which the person started; notes that have saved themselves are new ones. */
  seen;
  /** The values as they were before any of that. */
  first;
  #typed;
  form = find("editor-template").content.firstElementChild.cloneNode(true);

  /** `values` are those of an editor that was open before, and `seen` the values with which the person started then. */
  constructor(task, values, seen) {
    this.seen = { ...Object.fromEntries(FIELDS.map((field) => [field, task[field] ?? ""])), ...seen };
    this.first = { ...this.seen };
    const shown = { ...this.seen, ...values };
    for (const name of FIELDS) this.field(name).value = shown[name];
    for (const field of this.form.querySelectorAll("textarea")) {
      const lines = field.value.split("\n").length + Math.floor(field.value.length / 60);
      field.rows = Math.min(12, lines);
    }
    labelFor(this.form, task.text);
    this.form.addEventListener("input", () => this.complain());
    this.#typed = typedDay(this.field("text"), this.field("due"), this.form.querySelector(".offered"), { old: this.seen.text });
    this.#typed.show();
    this.form.querySelector(".days").addEventListener("click", ({ target }) => {
      if (!target.matches("[value]")) return;
      this.field("due").value = dayNamed(target.value);
      this.field("due").dispatchEvent(new InputEvent("input", { bubbles: true }));
    });
  }

  field(name) {
    return this.form.elements.namedItem(name);
  }

  get values() {
    return Object.fromEntries(FIELDS.map((field) => [field, this.field(field).value]));
  }

  /** The values to save: a day that the text names has become the due date. */
  get wanted() {
    const { text, due } = this.#typed.read();
    return { ...this.values, text, due };
  }

  /** Puts the cursor into a field, at its end, so that the person goes on writing there. */
  focus(name) {
    const field = this.field(name);
    field.focus();
    if (name !== "due") field.setSelectionRange(field.value.length, field.value.length);
  }

  complain(message) {
    this.form.querySelector(".field-error").textContent = message ?? "";
  }
}

/** Focuses the field for new tasks, but on a phone the headline: a field would open the keyboard, which nobody asked for. */
export function focusNew(preventScroll) {
  const isPhone = !matchMedia("(pointer: fine)").matches;
  find(isPhone ? "headline" : "new").focus({ preventScroll: preventScroll ?? isPhone });
}

/** Sets the due date of the new task; "" is none. */
export function setNewDay(day) {
  find("new-day").value = day;
  find("new-day").dispatchEvent(new InputEvent("input", { bubbles: true }));
}

/** Returns the task that a text describes, {text, due}, with `isTyped` if the text names the day. */
export function taskIn(text) {
  const found = dayIn(text);
  return found ? { text: found.rest, due: found.day, isTyped: true } : { text, due: "" };
}

/** Reads the day that a person writes in the text of a task, while `field` has none, and shows it on a chip until somebody does not
 * want it; `others` give way to the chip. `old` is the text as it was before. Returns {read, show}; `read` gives what is written,
 * {text, due}, and `isTyped` if the text names the day. */
function typedDay(text, field, chip, { others = [], old = "" } = {}) {
  let refused = dayIn(old)?.day; // the day that the person does not want, although the text names it
  let timer;
  const read = () => {
    const [written, due] = [text.value.trim(), field.value];
    if (due) return { text: written, due };
    const found = taskIn(written);
    if (!found.isTyped) refused = undefined;
    return found.due === refused ? { text: written, due: "" } : found;
  };
  const show = () => {
    const { due, isTyped } = read();
    for (const other of others) other.hidden = Boolean(isTyped); // there is one due date
    const name = isTyped ? nameOfDay(due) : "";
    if (chip.dataset.name === name) return;
    clearTimeout(timer);
    chip.dataset.name = name;
    chip.hidden = !isTyped;
    chip.textContent = `${name} ×`;
    chip.setAttribute("aria-label", `Due ${name}. Remove the date`);
    if (isTyped) timer = setTimeout(() => announce(`Enter sets the due date ${name}`), SPOKEN_AFTER);
  };
  chip.addEventListener("mousedown", (event) => event.preventDefault()); // the text keeps the focus
  chip.addEventListener("click", () => {
    refused = read().due;
    show();
    text.focus();
  });
  for (const input of [field, text]) input.addEventListener("input", show);
  return { read, show };
}

let typed; // the day within the text of the new task

/** Returns what is written of a new task: its text and its due date. */
export const newTask = () => typed.read();

/** Lets buttons set the due date of the new task, and its text as well. */
export function offerDays() {
  const field = find("new-day");
  const buttons = [...find("new-due").querySelectorAll("[value]")];
  const show = () => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(field.value === dayNamed(button.value)));
    find("new-due").classList.toggle("set", field.value !== "");
  };
  for (const button of buttons) {
    button.addEventListener("mousedown", (event) => event.preventDefault()); // the text keeps the focus
    button.addEventListener("click", () => setNewDay(field.value === dayNamed(button.value) ? "" : dayNamed(button.value)));
  }
  field.addEventListener("input", show);
  typed = typedDay(find("new"), field, find("new-chip"), { others: [...buttons, field] });
}
