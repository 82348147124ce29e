// The form that stands in place of a row's text while its task is open.

import { brief, make } from "/dom.js";
import { iconButton } from "/row.js";

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
  form;
  #error = make("p", { className: "field-error", hidden: true, attributes: { role: "alert" } });

  /** `values` are those of an editor that was open before, and `seen` the values with which the person started then. */
  constructor(task, values, seen) {
    this.seen = { ...valuesOf(task), ...seen };
    const shown = { ...this.seen, ...values };
    const text = area("text", shown.text, `New text for ${brief(task.text)}`, 1);
    const notes = area("notes", shown.notes, `Notes on ${brief(task.text)}`, 1);
    notes.placeholder = "Notes";
    const id = `editor-due-${task.row}`;
    this.form = make(
      "form",
      { className: "editor", autocomplete: "off", noValidate: true },
      text,
      notes,
      make(
        "div", { className: "editor-tools" },
        make("label", { htmlFor: id, textContent: "Due" }),
        make("input", { type: "date", id, name: "due", value: shown.due, min: "0001-01-01", max: "9999-12-31" }),
      ),
      make(
        "div", { className: "editor-moves" },
        ...["up", "down"].filter(() => !task.completed).map((name) => iconButton(name, `Move ${brief(task.text)} ${name}`)),
        iconButton("remove", `Delete ${brief(task.text)}`),
      ),
      make(
        "div", { className: "editor-actions" },
        make("button", { type: "submit", className: "primary", textContent: "Save" }),
        make("button", { type: "button", className: "secondary cancel", textContent: "Cancel" }),
      ),
      this.#error,
    );
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
    this.#error.hidden = !message;
    this.#error.textContent = message ?? "";
  }
}

function area(name, value, label, least) {
  const field = make("textarea", { name, value, dir: "auto" });
  const lines = value.split("\n").length + Math.floor(value.length / 60);
  field.rows = Math.min(12, Math.max(least, lines));
  field.setAttribute("aria-label", label);
  return field;
}
