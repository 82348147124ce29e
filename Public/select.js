// Several tasks at once. Shift and a click select the rows up to there, and so do a finger that rests on a row and the
// key x; then each click takes a row in or out, and a bar acts on all of them.

import { announce, counted, find } from "./dom.js";
import { onKey } from "./shortcuts.js";

const REST = 400; // milliseconds after a finger has left a row in which its click is none

/** Lets rows of the lists be selected. `act` is told what to do ("finish", "date" or "delete"), the rows, and a date. */
export function offerSelection(lists, act) {
  const selected = new Set(); // rows
  const bar = find("selection");
  let anchor; // the row from which Shift selects
  let rested = 0; // when a finger has selected a row

  const show = () => {
    for (const row of selected) if (!row.isConnected) selected.delete(row);
    for (const row of document.querySelectorAll(".row.selected")) row.classList.toggle("selected", selected.has(row));
    for (const row of selected) row.classList.add("selected");
    bar.hidden = !selected.size;
    find("selected").textContent = `${selected.size} selected`;
  };
  const clear = () => {
    selected.clear();
    show();
  };
  const toggle = (row) => {
    if (!selected.delete(row)) selected.add(row);
    anchor = row;
    show();
    announce(`${counted(selected.size, "task")} selected`);
  };
  const extend = (row) => {
    const rows = lists.flatMap((list) => [...list.children]);
    const ends = [rows.indexOf(anchor), rows.indexOf(row)];
    if (!selected.size || ends[0] < 0) return toggle(row);
    for (const other of rows.slice(Math.min(...ends), Math.max(...ends) + 1)) selected.add(other);
    show();
    announce(`${counted(selected.size, "task")} selected`);
  };
  const hold = (row) => {
    rested = performance.now();
    toggle(row);
  };

  const rowOf = ({ target }) => target.closest(".row:not(.editing, .held)");
  for (const list of lists) {
    list.addEventListener("mousedown", (event) => event.shiftKey && rowOf(event) && event.preventDefault()); // selects no words
    list.addEventListener("click", (event) => {
      const row = rowOf(event);
      const isResting = performance.now() - rested < REST;
      const isTaking = selected.size && !event.target.closest("button, a");
      if (!row || !(event.shiftKey || isTaking || isResting)) return;
      event.preventDefault();
      event.stopPropagation();
      if (event.shiftKey) extend(row);
      else if (!isResting) toggle(row);
    }, { capture: true });
  }
  const finish = (action, value) => {
    const rows = [...selected];
    clear();
    act(action, rows, value);
  };
  for (const button of bar.querySelectorAll("button")) {
    button.addEventListener("click", () => (button.value === "none" ? clear() : finish(button.value)));
  }
  find("selected-day").addEventListener("change", ({ target }) => {
    const { value } = target;
    target.value = "";
    if (value) finish("date", value);
  });
  onKey(window, (event) => event.key === "Escape" && !event.defaultPrevented && selected.size && clear());
  return { toggle, hold, show };
}
