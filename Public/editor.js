// The form that stands in place of a row's text while its task is open.

import { find } from "/dom.js";
import { labelFor } from "/row.js";

/** The fields of a task that a person writes; an empty field has no value. */
const FIELDS = ["text", "due", "notes"];

export const valuesOf = (task) => Object.fromEntries(FIELDS.map((field) => [field, task[field] ?? ""]));

/** Returns a text as a form gives it back unchanged. */
const written = (value) => value.replace(/\r\n?/g, "\n").trim();

/** Returns the fields whose values differ, as pairs of a field and its new value. */
export const alterations = (seen, values) =>
  FIELDS.filter((field) => written(values[field]) !== written(seen[field])).map((field) => [field, written(values[field])]);

export class Editor {
  /** The values with which the person started. */
  seen;
  form = find("editor-template").content.firstElementChild.cloneNode(true);

  /** `values` are those of an editor that was open before, and `seen` the values with which the person started then. */
  constructor(task, values, seen) {
    this.seen = { ...valuesOf(task), ...seen };
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

  /** Returns a message if the browser does not understand a date: it gives no value for a date that is not complete. */
  get fault() {
    return this.field("due").validity.valid ? undefined : "This due date is no complete date.";
  }

  /** Puts the cursor into a field, at its end, so that the person goes on writing there. */
  focus(name) {
    const field = this.field(name);
    field.focus();
    if (name !== "due") field.setSelectionRange(field.value.length, field.value.length);
  }

  complain(message) {
    const error = this.form.querySelector(".field-error");
    error.hidden = !message;
    error.textContent = message ?? "";
  }
}
