// The form that stands in place of a row's text while its task is open, and the due date of a new task.

import { dayAfter } from "./days.js";
import { announce, find } from "./dom.js";
import { labelFor } from "./row.js";

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
  /** The values with which the person started. */
  seen;
  form = find("editor-template").content.firstElementChild.cloneNode(true);

  /** `values` are those of an editor that was open before, and `seen` the values with which the person started then. */
  constructor(task, values, seen) {
    this.seen = { ...Object.fromEntries(FIELDS.map((field) => [field, task[field] ?? ""])), ...seen };
    const shown = { ...this.seen, ...values };
    for (const name of FIELDS) this.field(name).value = shown[name];
    for (const field of this.form.querySelectorAll("textarea")) {
      const lines = field.value.split("\n").length + Math.floor(field.value.length / 60);
      field.rows = Math.min(12, lines);
    }
    labelFor(this.form, task.text);
  }

  field(name) {
    return this.form.elements.namedItem(name);
  }

  get values() {
    return Object.fromEntries(FIELDS.map((field) => [field, this.field(field).value]));
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

/** Lets buttons set the due date of the new task; one is offered if the text names its day. */
export function offerDays() {
  const [field, text] = [find("new-day"), find("new")];
  const buttons = [...find("new-due").querySelectorAll("button")]; // the value of each is its distance from today
  const dayOf = (button) => dayAfter(Number(button.value));
  const show = () => {
    for (const button of buttons) {
      const isOffered = !field.value && new RegExp(`\\b${button.textContent}\\b`, "i").test(text.value);
      if (isOffered && !button.classList.contains("offered")) announce(`The button ${button.textContent} sets the due date.`);
      button.classList.toggle("offered", isOffered);
      button.setAttribute("aria-pressed", String(field.value === dayOf(button)));
    }
  };
  for (const button of buttons) {
    button.addEventListener("mousedown", (event) => event.preventDefault()); // the text keeps the focus
    button.addEventListener("click", () => setNewDay(field.value === dayOf(button) ? "" : dayOf(button)));
  }
  for (const input of [field, text]) input.addEventListener("input", show);
}
