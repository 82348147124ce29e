// Keys that replace the mouse; tasks.html has the list of them. None acts while somebody writes, or in a dialog.

import { find, isMac } from "./dom.js";
import { read, write } from "./storage.js";

const OFF = "tasks.shortcuts"; // in local storage, true if single keys are to do nothing (WCAG 2.2, 2.1.4)

/** Calls `action` for keys, except those that an input method takes: Safari ends a word with a key of the code 229 after it. */
export function onKey(target, action, options) {
  target.addEventListener("keydown", (event) => event.isComposing || event.keyCode === 229 || action(event), options);
}

/** Returns the name of a key. Caps Lock does not change the name, and a key that writes another script has the name of
 * the Latin letter at its place, so Control Z is where the hand expects it on Russian, Greek, Hebrew and Arabic keyboards. */
export function keyOf({ key, code = "" }) {
  if (/^[ -~]$/.test(key)) return key.toLowerCase();
  return /^[ -~]+$/.test(key) || !code.startsWith("Key") ? key : code.slice(3).toLowerCase();
}

const MAC_KEYS = { Ctrl: "⌘", Alt: "⌥", Shift: "⇧", Delete: "⌫" };

/** Lets keys act on the list and on the search, and shows the list of the keys. */
export function offerShortcuts(view, search) {
  const show = () => find("shortcuts").showModal();
  const actions = {
    n: () => find("new").focus(),
    "/": () => search.open(),
    "?": show,
    j: (row) => go(row, 1),
    k: (row) => go(row, -1),
    e: (row) => {
      const { rows } = view.selection;
      const one = rows.includes(row) ? row : rows[0] ?? row; // only one task can be open
      if (one) view.edit(one.dataset.row);
    },
    d: (row) => view.selection.act("date") || (row && view.edit(row.dataset.row, { field: "due" })),
    x: (row) => row && view.selection.toggle(row),
    Delete: (row) => view.selection.act("delete") || row?.querySelector(".remove").click(),
  };
  if (isMac) actions.Backspace = actions.Delete;
  onKey(window, (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (isWriting(event.target) || document.querySelector("dialog[open]") || read(localStorage, OFF)) return;
    const action = actions[keyOf(event)];
    if (!action || (event.shiftKey && !event.getModifierState("CapsLock") && /^[a-z]$/i.test(event.key))) return;
    event.preventDefault();
    action(event.target.closest?.(".row:not(.editing)"));
  });
  for (const hint of isMac ? document.querySelectorAll("kbd") : []) {
    hint.textContent = hint.textContent.replace(/[A-Z]\w+/g, (name) => MAC_KEYS[name] ?? name);
  }
  onKey(find("add"), (event) => {
    if (event.defaultPrevented || event.altKey) return;
    if (event.key === "Escape") event.target.blur();
    if (event.key !== "ArrowDown" || event.target !== find("new")) return;
    event.preventDefault();
    go(null, 1);
  });
  find("shortcuts-open").hidden = false;
  find("shortcuts-open").addEventListener("click", show);
  find("single-keys").checked = !read(localStorage, OFF);
  find("single-keys").addEventListener("change", (event) => write(localStorage, OFF, !event.target.checked));
}

/** Checkboxes, radio buttons and buttons take no letters. */
const isWriting = (element) => element.matches?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");

/** Goes to the row this many rows below, or from elsewhere to the first or the last. */
function go(row, step) {
  const rows = [...document.querySelectorAll(".rows:not([hidden]) > .row")];
  const other = row ? rows[rows.indexOf(row) + step] : rows.at(step > 0 ? 0 : -1);
  other?.querySelector(".check").focus();
}
