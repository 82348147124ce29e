// The list as a file: text to read, CSV for a spreadsheet, JSON for programs.

import { today } from "./days.js";
import { make } from "./dom.js";

const FORMS = {
  text: ["text/plain", "txt", (tasks) => tasks.map(lineOf).join("\n")],
  csv: ["text/csv", "csv", (tasks) => `\ufeff${[COLUMNS, ...tasks.map(cellsOf)].map((cells) => cells.map(quoted).join(",")).join("\r\n")}`],
  json: ["application/json", "json", (tasks) =>
    JSON.stringify(tasks.map(({ text, completed, due, notes }) => ({ task: text, completed, due, notes })), null, 2)],
};
const COLUMNS = ["task", "completed", "due", "notes"];

/** Saves the tasks as "text", "csv" or "json". */
export function saveList(tasks, form) {
  const [type, ending, write] = FORMS[form];
  const href = URL.createObjectURL(new Blob([write(tasks), "\n"], { type }));
  make("a", { href, download: `tasks-${today()}.${ending}` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60000);
}

function lineOf({ text, completed, due, notes }) {
  const indented = (value) => value.replace(/\n/g, "\n    ");
  return `[${completed ? "x" : " "}] ${indented(text)}${due ? ` (due ${due})` : ""}${notes ? `\n    ${indented(notes)}` : ""}`;
}

const cellsOf = ({ text, completed, due, notes }) => [text, completed, due ?? "", notes ?? ""];

/** A spreadsheet takes a cell that begins with one of these signs for a formula, so an apostrophe comes before it. */
const quoted = (cell) => `"${String(cell).replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;
