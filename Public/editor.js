// The form that stands in place of a row's text while its task is open, and the due date of a new task.

import { dayNamed, nameOfDay } from "./days.js";
import { announce, find, make } from "./dom.js";
import { beginning, wordsOf } from "./repeat.js";
import { labelFor } from "./row.js";

const SPOKEN_AFTER = 600; // milliseconds after the last key
const PATIENCE = 1000; // milliseconds
let dayIn; // of typed-days.js, as soon as that is there
let loading;

/** Loads what reads days, when somebody begins to write; if that takes long, a text is only a text. */
export function readDays() {
  loading ??= import("./typed-days.js").then((code) => (dayIn = code.dayIn), () => (dayIn = () => null));
  return dayIn ? undefined : Promise.race([loading, new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
}

/** The fields of a task that a person writes; an empty field has no value. */
const FIELDS = ["text", "due", "repeat", "notes"];

/** Returns a text as a form gives it back unchanged. */
const written = (value) => value.replace(/\r\n?/g, "\n").trim();

/** Returns the fields whose values differ, as pairs of a field and its new value. */
export const alterations = (seen, values) =>
  FIELDS.filter((field) => written(values[field]) !== written(seen[field])).map((field) => [field, written(values[field])]);

/** Returns a message if the browser does not understand a date: it gives no value for a date that is not complete. */
export const dateFault = (field) => (field.validity.valid ? undefined : "This due date is no complete date.");

export class Editor {
  seen; // the values with which the person started; notes that have saved themselves are new ones
  first; // the values as they were before any of that
  #typed;
  form = find("editor-template").content.firstElementChild.cloneNode(true);

  /** `values` are those of an editor that was open before, and `seen` the values with which the person started then. */
  constructor(task, values, seen) {
    this.seen = { ...Object.fromEntries(FIELDS.map((field) => [field, task[field] ?? ""])), ...seen };
    this.first = { ...this.seen };
    const shown = { ...this.seen, ...values };
    for (const name of FIELDS.filter((name) => name !== "repeat")) this.field(name).value = shown[name];
    this.#offerRules(shown.repeat);
    for (const field of this.form.querySelectorAll("textarea")) {
      const lines = field.value.split("\n").length + Math.floor(field.value.length / 60);
      field.rows = Math.min(12, lines);
    }
    labelFor(this.form, task.text);
    this.form.addEventListener("input", () => this.complain());
    this.#typed = typedDay(this.field("text"), this.field("due"), this.form.querySelector(".offered"), { old: this.seen.text });
    this.#typed.show();
    this.form.querySelector(".days").addEventListener("click", ({ target }) => {
      if (target.matches("[value]")) setDay(this.field("due"), dayNamed(target.value));
    });
  }

  /** Shows a rule: as one of the choices, with its number and unit, or else in words. A choice needs a due date. */
  #offerRules(rule) {
    const [choice, box] = [this.field("repeat"), this.form.querySelector(".custom")];
    const custom = choice.querySelector("option:last-child");
    const [number, unit] = box.children;
    const [, name, count = 2] = /^FREQ=(\w+)(?:;INTERVAL=(\d+))?$/.exec(rule) ?? [];
    [unit.value, number.value] = [name ?? "WEEKLY", count];
    const show = () => {
      custom.value = `FREQ=${unit.value};INTERVAL=${Math.max(2, Math.min(999, Math.trunc(number.value)))}`;
      box.hidden = choice.selectedOptions[0] !== custom;
    };
    show();
    if (![...choice.options].some(({ value }) => value === rule)) custom.before(make("option", { value: rule, textContent: wordsOf(rule) }));
    choice.value = rule;
    this.form.addEventListener("change", ({ target }) => {
      show();
      if (target === choice && choice.value && !this.wanted.due) setDay(this.field("due"), beginning(choice.value));
    });
    show();
  }

  field(name) {
    return this.form.elements.namedItem(name);
  }

  get values() {
    return Object.fromEntries(FIELDS.map((field) => [field, this.field(field).value]));
  }

  /** The values to save: a day that the text names has become the due date. */
  get wanted() {
    const { text, due, repeat = this.values.repeat } = this.#typed.read();
    return { ...this.values, text, due, repeat: due && repeat };
  }

  /** Puts the cursor into a field, at its end, so that the person goes on writing there. */
  focus(name) {
    const field = this.field(name);
    field.focus();
    if (field.matches("textarea")) field.setSelectionRange(field.value.length, field.value.length);
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

function setDay(field, day) {
  field.value = day;
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
}

export const setNewDay = (day) => setDay(find("new-day"), day);

/** Returns the task that a text describes, {text, due, repeat}, with `isTyped` if the text names the day. */
export function taskIn(text) {
  const found = dayIn?.(text);
  return found ? { text: found.rest, due: found.day, repeat: found.repeat, isTyped: true } : { text, due: "" };
}

/** Reads the day that a person writes in the text of a task, while `field` has none, and shows it on a chip until somebody does not
 * want it; `others` give way to the chip. `old` is the text as it was before. Returns {read, show}; `read` gives what is written,
 * {text, due, repeat}, and `isTyped` if the text names the day. */
function typedDay(text, field, chip, { others = [], old = "" } = {}) {
  let refused; // the day that the person does not want, although the text names it
  let timer;
  const read = () => {
    const [written, due] = [text.value.trim(), field.value];
    if (due) return { text: written, due };
    const found = taskIn(written);
    if (!found.isTyped) refused = undefined;
    return found.due === refused ? { text: written, due: "" } : found;
  };
  const show = () => {
    if (text.value && !dayIn) return readDays().then(show);
    if (old && dayIn) [refused, old] = [dayIn(old)?.day, ""];
    const { due, repeat, isTyped } = read();
    for (const other of others) other.hidden = Boolean(isTyped); // there is one due date
    const name = isTyped ? nameOfDay(due) + (repeat ? `, ${wordsOf(repeat)}` : "") : "";
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
