// Keys that replace the mouse, and the list of them. None acts while somebody writes, or in a dialog.

import { find, make } from "/dom.js";
import { read, write } from "/storage.js";

const OFF = "tasks.shortcuts"; // in local storage, true if single keys are to do nothing (WCAG 2.2, 2.1.4)

const SHORTCUTS = [
  [["n"], "Write a new task"],
  [["/"], "Search"],
  [["j"], "Go to the next task"],
  [["k"], "Go to the task before"],
  [["Space"], "Tick the task off"],
  [["e"], "Change the task (or F2)"],
  [["d"], "Set its due date"],
  [["Delete"], "Delete it"],
  [["Alt", "↑"], "Move it up"],
  [["Alt", "↓"], "Move it down"],
  [["Ctrl", "Z"], "Take the last step back"],
  [["Esc"], "Close the editor or the search"],
  [["?"], "Show this list"],
];

export class Shortcuts {
  #view;
  #search;
  #dialog;

  constructor(view, search) {
    this.#view = view;
    this.#search = search;
    addEventListener("keydown", (event) => this.#key(event));
    const button = find("shortcuts-open");
    button.hidden = false;
    button.addEventListener("click", () => this.#show());
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
    if (isWriting(event.target) || document.querySelector("dialog[open]") || read(localStorage, OFF)) return;
    const action = this.#actions[event.key];
    if (!action) return;
    event.preventDefault();
    action(event.target.closest?.(".row:not(.editing)"));
  }

  #actions = {
    n: () => find("new").focus(),
    "/": () => this.#search.open(),
    "?": () => this.#show(),
    j: (row) => go(row, 1),
    k: (row) => go(row, -1),
    e: (row) => row && this.#view.edit(row.dataset.row),
    d: (row) => row && this.#view.edit(row.dataset.row, { field: "due" }),
    Delete: (row) => row?.querySelector(".remove").click(),
  };

  #show() {
    this.#dialog ??= makeDialog();
    this.#dialog.showModal();
  }
}

/** Checkboxes, radio buttons and buttons take no letters. */
const isWriting = (element) =>
  element.matches?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");

/** Goes to the row this many rows below, or from elsewhere to the first or the last. */
function go(row, step) {
  const rows = [...document.querySelectorAll(".rows:not([hidden]) > .row")];
  const other = row ? rows[rows.indexOf(row) + step] : rows.at(step > 0 ? 0 : -1);
  other?.querySelector(".check").focus();
}

function makeDialog() {
  const close = make("button", { type: "button", className: "secondary", textContent: "Close" });
  const single = make("input", { type: "checkbox", className: "check", id: "single-keys", checked: !read(localStorage, OFF) });
  const dialog = make(
    "dialog", { id: "shortcuts", className: "person shortcuts", attributes: { "aria-labelledby": "shortcuts-title" } },
    make("h2", { id: "shortcuts-title", textContent: "Keyboard shortcuts" }),
    make("dl", { className: "claims" }, ...SHORTCUTS.map(([keys, text]) =>
      make("div", {}, make("dt", {}, ...keys.map((key) => make("kbd", { textContent: key }))), make("dd", { textContent: text })))),
    make(
      "div", { className: "shortcuts-foot" },
      single, make("label", { htmlFor: "single-keys", textContent: "Single keys act, such as n and /" }), close),
  );
  single.addEventListener("change", () => write(localStorage, OFF, !single.checked));
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  return dialog;
}
