// Several tasks at once. Shift and a click select the rows up to there, and so do a finger that rests on a row and the
// key x; then each click takes a row in or out, and a bar and the keys act on all of them.

import { announce, counted, find } from "./dom.js";
import { onKey } from "./shortcuts.js";

const REST = 400; // milliseconds after a finger has left a row in which its click is none

/** Lets rows of the lists be selected. `carryOut` is told what to do ("finish", "date" or "delete"), the rows, and the button. */
export function offerSelection(lists, carryOut) {
  const selected = new Set(); // rows
  const bar = find("selection");
  const firstButton = bar.querySelector("button");
  let anchor; // the row from which Shift selects
  let origin; // the control of a row from which Tab came to the bar
  let rested = -Infinity; // when a finger has selected a row

  const show = () => {
    if (!selected.size && bar.hidden) return;
    for (const row of selected) if (!row.isConnected) selected.delete(row);
    for (const list of lists) for (const row of list.children) row.classList.toggle("selected", selected.has(row));
    bar.hidden = !selected.size;
    find("selected").textContent = `${selected.size} selected`;
  };
  const clear = () => {
    selected.clear();
    show();
  };
  const change = (rows, isIn) => {
    for (const row of rows) isIn ? selected.add(row) : selected.delete(row);
    show();
    announce(`${counted(selected.size, "task")} selected`);
  };
  const toggle = (row) => {
    anchor = row;
    change([row], !selected.has(row));
  };
  const extend = (row) => {
    const rows = lists.flatMap((list) => [...list.children]);
    const ends = [anchor, row].map((end) => rows.indexOf(end)).sort((one, other) => one - other);
    if (selected.size && ends[0] >= 0) change(rows.slice(ends[0], ends[1] + 1), true);
    else toggle(row);
  };
  const hold = (row) => {
    rested = performance.now();
    toggle(row);
  };

  /** Does with the selected tasks what this button of the bar does; returns whether any are selected. */
  const act = (action) => {
    const isWanted = selected.size > 0;
    if (isWanted) bar.querySelector(`[value=${action}]`).click();
    return isWanted;
  };

  const rowOf = ({ target }) => target.closest(".row:not(.editing, .held)");
  for (const list of lists) {
    list.addEventListener("mousedown", (event) => event.shiftKey && rowOf(event) && event.preventDefault()); // selects no words
    list.addEventListener("click", (event) => {
      const row = rowOf(event);
      if (row && event.detail === 0 && event.target.matches(".check") && act("finish")) return event.preventDefault(); // Space
      const isResting = performance.now() - rested < REST;
      const isTaking = selected.size && !event.target.closest("button, a");
      if (!row || !(event.shiftKey || isTaking || isResting)) return;
      event.preventDefault();
      if (event.shiftKey) extend(row);
      else if (!isResting) toggle(row);
    }, { capture: true });
    onKey(list, (event) => {
      if (event.key !== "Tab" || event.shiftKey || bar.hidden || !rowOf(event)) return;
      event.preventDefault();
      origin = event.target;
      firstButton.focus();
    });
  }
  onKey(firstButton, (event) => {
    if (event.key !== "Tab" || !event.shiftKey || !origin?.isConnected) return;
    event.preventDefault();
    origin.focus();
  });
  bar.addEventListener("click", ({ target }) => {
    const action = target.closest("button")?.value;
    if (action === undefined) return;
    const rows = [...selected];
    if (action !== "date") clear();
    if (action) carryOut(action, rows, target);
  });
  onKey(window, ({ key, defaultPrevented }) => // an open menu is closed first
    key === "Escape" && !defaultPrevented && !document.querySelector(":popover-open") && clear());
  return { toggle, hold, show, clear, act, get rows() { return [...selected]; } };
}
