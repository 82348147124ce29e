// The list on the screen. Rows are kept by name, so that focus, selection and an open editor outlive an update, and only
// rows whose task has changed are touched.

import { dayNamed, isForToday, isOverdue, nameOfDay, today } from "./days.js";
import { counted, find, make } from "./dom.js";
import { dragging, swiping } from "./drag.js";
import { alterations, dateFault, Editor, focusNew } from "./editor.js";
import { byDue, byOverdue, inOrder } from "./order.js";
import { isSame, makeRow, showMore, stateOf, updateRow } from "./row.js";
import { folded, markWords, searchable } from "./search.js";
import { offerSelection } from "./select.js";
import { onKey } from "./shortcuts.js";
import { read, write } from "./storage.js";

/** The tasks that each filter shows, how the headline counts them, and what an empty list says: what there is none of, and why. */
const FILTERS = {
  all: {
    has: () => true, title: "All", empty: ["What is on your mind?", "Write it down above. It is kept the moment you press Enter."],
  },
  today: {
    has: (task) => isForToday(task) || isOverdue(task), title: "Today", count: "for today",
    empty: ["Nothing left for today.", "What is due today or overdue appears here."],
  },
  upcoming: {
    has: (task) => !task.completed && Boolean(task.due) && task.due > today(),
    title: "Upcoming", count: "to come", empty: ["Nothing planned.", "What is due after today appears here, day by day."],
  },
  done: {
    has: (task) => task.completed, title: "Done", count: "done",
    empty: ["Nothing finished here.", "Tick something off, and it stays here until you clear it."],
  },
};
const NOTHING_FOUND = ["Nothing found.", "No task and no notes contain these words."];
const [TICK, LENS] = ["M21 33.5l7.5 7.5L44 24", "M37.5 37.5L45 45M28.5 41a12.5 12.5 0 1 1 0-25 12.5 12.5 0 0 1 0 25z"]; // pictures of an empty list

export const FILTER_NAMES = Object.keys(FILTERS);

const TINTED = 1000; // milliseconds
const NOTES_AFTER = 1000; // milliseconds after the last key in which notes save themselves
const HELD = 600; // milliseconds that a finished or deleted row stays where it is, so that a second click hits no other
// The buttons that keep their state in local storage: true if finished tasks are folded, and if open tasks stand by their due dates.
const KEPT = { "finished-toggle": "tasks.finished", "by-due": "tasks.by-due" };
const isSet = (name) => read(localStorage, KEPT[name]) === true;

/** Shows tasks; `actions` are the functions of the rows' controls: {complete, save, note, plan, discard, remove, move, decide, search},
 * `together` for what is done to several tasks at once, and `changed`, after which other rows may have to be shown. Open tasks
 * are in one list, finished ones in another that can be folded. */
export class ListView {
  #rows = new Map(); // row name -> element
  #tasks = new Map(); // row name -> task
  #spare = new Map(); // row name -> [element, task, day of the rendering] of the rows that another view has shown
  #editor; // the form of the open task, if there is one
  #edited; // the name of its row
  #opened; // when it was opened, on the clock of events
  #noting; // timer
  #planned; // the names of the rows whose due date the menu sets
  #press; // where the pointer went down: [elements], until the click
  #actions;
  #filter = "all";
  cleared = 0; // the number of finished tasks that were cleared today
  #words = []; // the words that are searched for
  #isNamed = false; // whether rows name the views of their tasks, and words may be marked
  #fresh = true;
  #day = today(); // the day of the last rendering
  #lists = { open: find("rows"), done: find("finished-rows") };
  #dragging;
  #waiting; // the tasks that came while a row was being dragged
  #ends = new Map(); // the name of a row of a finished task -> when that was, in milliseconds, as far as this page knows
  #held = new Map(); // the name of a row that stays for a moment -> what its task's `completed` has become; undefined if deleted
  #holding; // timer

  constructor(actions) {
    this.#actions = actions;
    for (const list of Object.values(this.#lists)) {
      list.addEventListener("change", (event) => this.#changed(event));
      const refuseHeld = (event) => event.target.closest(".held") && event.preventDefault(); // no second click
      list.addEventListener("click", refuseHeld, { capture: true });
      list.addEventListener("click", (event) => event.defaultPrevented || this.#clicked(event));
      onKey(list, (event) => this.#key(event));
      list.addEventListener("input", ({ target }) => {
        if (target.name !== "notes") return;
        clearTimeout(this.#noting);
        this.#noting = setTimeout(() => this.#note(this.#editor.values.notes), NOTES_AFTER);
      });
      list.addEventListener("submit", (event) => {
        event.preventDefault();
        this.#save();
      });
    }
    this.selection = offerSelection(Object.values(this.#lists), (action, rows, button) => (action === "date"
      ? this.#offerDays(rows, button) : this.#actions.together(action, rows.map((row) => this.#taskOf(row)))));
    const { hold } = this.selection;
    addEventListener("pointerdown", (event) => (this.#press = event.composedPath()), { capture: true });
    addEventListener("keydown", () => (this.#press = undefined), { capture: true });
    addEventListener("focusin", (event) => this.#press || this.#left(event));
    addEventListener("click", (event) => this.#left(event));
    find("tasks").append(find("day-menu"));
    find("day-menu").addEventListener("click", (event) => this.#plan(event));
    this.#dragging = dragging(this.#lists.open, {
      drop: (row, place) => this.#move(row, place),
      rest: hold,
      end: () => this.#waiting && this.render(...this.#waiting),
    });
    swiping(this.#lists.open, (row, event) => this.#dragging.begin(row, event) || hold(row));
    swiping(this.#lists.done, hold);
    for (const [id, name] of Object.entries(KEPT)) {
      find(id).addEventListener("click", () => {
        write(localStorage, name, !isSet(id));
        actions.changed();
      });
    }
  }

  get filter() {
    return this.#filter;
  }

  set filter(name) {
    this.#filter = FILTER_NAMES.includes(name) ? name : "all";
    const chosen = document.querySelector(`[name=filter][value=${this.#filter}]`);
    chosen.checked = true;
    find("filters").scrollLeft = chosen.parentElement.offsetLeft - 40; // in a narrow window
  }

  /** Shows the tasks of all views with all these words in their text or notes. */
  set search(text) {
    this.#words = folded(text).match(/#\S+ ?|\S+/g) ?? []; // a space ends a tag
  }

  /** The view that is shown: a search looks at everything. */
  get #view() {
    return this.isSearching ? "all" : this.#filter;
  }

  get isSearching() {
    return this.#words.length > 0;
  }

  get count() {
    return this.#rows.size;
  }

  get editing() {
    if (!this.#editor) return undefined;
    const { values, seen } = this.#editor;
    return { id: this.#tasks.get(this.#edited).id, row: this.#edited, values, seen };
  }

  get finished() {
    const rows = [...this.#lists.done.children];
    return rows.map((row) => this.#taskOf(row)).filter((task) => task.completed && !this.#held.has(task.row));
  }

  /** Shows all tasks; `news` are the ids of those that another device has changed, which are tinted for a moment. */
  render(tasks, isKnown, news = new Set()) {
    this.#waiting = this.#dragging.isActive() ? [tasks, isKnown, news] : undefined;
    if (this.#waiting) return;
    this.#release(tasks);
    const wanted = new Set(tasks.filter((task) => this.#isWanted(task)));
    const shown = this.#withStaying(tasks).filter((task) => this.#isStaying(task.row) || (wanted.has(task) && !this.#isComing(task)));
    const done = this.#inEndOrder(shown);
    const open = shown.filter((task) => !this.#standsDone(task));
    this.#renderSummary(tasks, isKnown, wanted.size);
    find("finished").hidden = !done.length;
    find("count-finished").textContent = done.length;
    find("finished-toggle").disabled = this.#view === "done" || this.isSearching; // then nothing is folded
    find("finished-toggle").setAttribute("aria-expanded", String(!this.#isFolded));
    find("by-due").setAttribute("aria-pressed", String(isSet("by-due")));
    const isByDue = isSet("by-due") || ["today", "upcoming"].includes(this.#view);
    this.#lists.open.classList.toggle("by-due", isByDue && this.#view !== "today"); // then tasks cannot be moved
    this.#lists.open.classList.toggle("by-days", this.#view === "upcoming");
    this.#renderRows({
      open: isByDue ? open.sort(this.#view === "today" ? byOverdue(today()) : byDue) : open,
      done: this.#isFolded ? done.filter((task) => this.#isStaying(task.row)) : done,
    });
    this.#renderDays(this.#view === "upcoming" ? open : []);
    this.#renderFound();
    const [title, text] = this.isSearching ? NOTHING_FOUND : FILTERS[this.#filter].empty;
    find("empty").hidden = shown.length > 0 || !isKnown;
    find("empty-title").textContent = title;
    find("empty-text").textContent = text;
    find("empty").querySelector("path").setAttribute("d", this.isSearching ? LENS : TICK);
    const { length } = this.finished;
    find("clear").hidden = !length;
    find("clear").textContent = `Clear ${length}`;
    const tinted = [...this.#tasks].filter(([, { id }]) => news.has(id)).map(([row]) => this.#rows.get(row).classList);
    for (const classes of tinted) classes.add("news");
    if (tinted.length) setTimeout(() => tinted.forEach((classes) => classes.remove("news")), TINTED);
    this.selection.show();
    const names = new Set(tasks.map((task) => task.row));
    for (const name of this.#spare.keys()) if (!names.has(name)) this.#spare.delete(name);
    this.#fresh = !isKnown;
    this.#day = today();
  }

  /** Returns the finished tasks of these, the one that was finished last first. A row keeps its place until its task is open again. */
  #inEndOrder(tasks) {
    for (const { row, completed } of tasks) if (!completed && !this.#isStaying(row)) this.#ends.delete(row);
    const done = tasks.filter((task) => this.#standsDone(task));
    for (const { row, state, modified } of done) {
      if (!this.#ends.has(row)) this.#ends.set(row, (state !== "waiting" && Date.parse(modified)) || Date.now());
    }
    return done.sort((one, other) => this.#ends.get(other.row) - this.#ends.get(one.row));
  }

  #renderDays(tasks) {
    const firsts = new Map(tasks.filter(({ due }, index) => due !== tasks[index - 1]?.due).map(({ row, due }) => [row, due]));
    for (const heading of this.#lists.open.querySelectorAll(".day")) {
      if (!firsts.has(heading.parentElement.dataset.row)) heading.remove();
    }
    for (const [row, due] of firsts) {
      const element = this.#rows.get(row);
      const heading = element.querySelector(".day") ?? make("h2", { className: "day" });
      heading.textContent = due ? nameOfDay(due) : "No date";
      if (!heading.isConnected) element.prepend(heading);
    }
  }

  /** Marks the words of a search, and names the view of each task that it has found. */
  #renderFound() {
    if (!this.isSearching && !this.#isNamed) return;
    this.#isNamed = this.isSearching;
    const rows = [...this.#rows.values()];
    markWords(rows.flatMap((row) => [...row.querySelectorAll(":scope > :is(.text, .notes)")]), this.#words);
    const nameOf = (task) => Object.values(FILTERS).findLast(({ has }) => has(task)).title;
    for (const [row, task] of this.#tasks) {
      const state = stateOf(task) || (this.isSearching ? nameOf(task) : "");
      this.#rows.get(row).querySelector(":scope > .row-state").textContent = state;
    }
  }

  #isWanted(task) {
    if (!FILTERS[this.#view].has(task)) return false;
    if (!this.isSearching) return true;
    const text = searchable(`${task.text}\n${task.notes ?? ""}`);
    return this.#words.every((word) => text.includes(word));
  }

  /** Whether a row stays where it is: that of the open task, and one that was finished or deleted just now. */
  #isStaying(row) {
    return row === this.#edited || this.#held.has(row);
  }

  /** Whether a task follows one whose row stays for a moment after its tick: the new row comes when that goes, so that nothing moves. */
  #isComing({ row, text, repeat }) {
    const isOf = ([name, completed]) => completed && this.#tasks.get(name).text === text;
    return Boolean(repeat) && this.#held.size > 0 && !this.#rows.has(row) && [...this.#held].some(isOf);
  }

  /** Returns all tasks, and those whose rows stay even though they were deleted. */
  #withStaying(tasks) {
    const rows = new Set(tasks.map((task) => task.row));
    const missing = [this.#edited, ...this.#held.keys()].filter((row) => row !== undefined && !rows.has(row));
    return missing.length ? [...tasks, ...new Set(missing.map((row) => this.#tasks.get(row)))].sort(inOrder) : tasks;
  }

  #standsDone(task) {
    return this.#isStaying(task.row) ? this.#rows.get(task.row).parentElement === this.#lists.done : task.completed;
  }

  /** Keeps the row of a task where it is for a moment, and all others that are kept, so that nothing moves under the pointer. */
  #hold({ row }, completed) {
    this.#held.set(row, completed);
    this.#rows.get(row).classList.add("held", completed === undefined ? "deleted" : "held");
    clearTimeout(this.#holding);
    this.#holding = setTimeout(() => {
      this.#release();
      this.#actions.changed();
    }, HELD);
  }

  /** Lets the rows go whose tasks are not any more as they have become: somebody has taken that back. Without tasks, all. */
  #release(tasks) {
    if (!this.#held.size) return;
    const completed = new Map(tasks?.map((task) => [task.row, task.completed]));
    for (const [row, is] of this.#held) {
      if (tasks && completed.get(row) === is) continue;
      this.#held.delete(row);
      this.#rows.get(row).classList.remove("held", "deleted");
    }
  }

  #renderSummary(tasks, isKnown, wanted) {
    const all = tasks.length;
    const counts = Object.fromEntries(["today", "upcoming", "done"].map((name) => [name, tasks.filter(FILTERS[name].has).length]));
    const open = all - counts.done;
    const count = this.isSearching ? "found" : FILTERS[this.#view].count;
    const whole = open ? `${counted(open, "thing")} to do` : all ? "All done" : "A clear page";
    const headline = count ? `${wanted || "None"} ${count}` : whole;
    find("headline").textContent = isKnown ? headline : "Your tasks";
    document.title = open ? `(${open}) Tasks` : "Tasks";
    for (const [name, count] of Object.entries(counts)) find(`count-${name}`).textContent = count || "";
    const late = this.#view === "today" ? tasks.filter(isOverdue).length : 0;
    find("overdue").hidden = !late;
    find("overdue-text").textContent = `${late} overdue`;
    navigator.setAppBadge?.(counts.today).catch(() => {}); // of the installed app
    const done = counts.done + this.cleared;
    find("progress").max = open + done || 1;
    find("progress").value = done;
    find("progress").title = `${done} of ${open + done} done`;
    find("tools").hidden = !all && this.#filter === "all";
  }

  /** Whether finished tasks are folded, which a person who looks for them, or for words, overrides. */
  get #isFolded() {
    return isSet("finished-toggle") && this.#view !== "done" && !this.isSearching;
  }

  #renderRows(lists) {
    const wanted = new Set(Object.values(lists).flat().map((task) => task.row));
    const focus = this.#focusBeforeLeaving(lists);
    const focused = document.activeElement;
    for (const [name, element] of this.#rows) {
      if (wanted.has(name)) continue;
      element.remove();
      element.classList.remove("new", "selected"); // it would otherwise arrive once more
      element.querySelector(".day")?.remove();
      element.querySelector(".row-state").textContent = stateOf(this.#tasks.get(name));
      this.#spare.set(name, [element, this.#tasks.get(name), this.#day]);
      this.#rows.delete(name);
      this.#tasks.delete(name);
    }
    for (const [name, tasks] of Object.entries(lists)) this.#renderList(this.#lists[name], tasks);
    if (focus) focus();
    else if (focused !== document.activeElement && focused.closest(".row")) focused.focus({ preventScroll: true });
  }

  #renderList(list, tasks) {
    const wanted = new Set(tasks.map((task) => task.row));
    const staying = (row) => { // a row that goes to the other list need not move within this one before
      while (row && !wanted.has(row.dataset.row)) row = row.nextElementSibling;
      return row;
    };
    const after = (row) => staying(row?.nextElementSibling);
    let place = staying(list.firstElementChild);
    for (const task of tasks) {
      const element = this.#show(task);
      if (element !== place && element === after(place)) { // the other one has moved, perhaps far away
        put(list, place, null);
        place = element;
      }
      if (element === place) place = after(place);
      else put(list, element, place);
    }
    list.hidden = tasks.length === 0;
  }

  /** Gives the focus of a row that leaves its list to the same control of the next row, else of the one before, else to the field
   * for new tasks. It never goes to a button that deletes: who presses Enter twice would lose another task. */
  #focusBeforeLeaving(lists) {
    const control = document.activeElement;
    const row = control?.closest?.(".row");
    if (!row) return null;
    const staying = new Set(lists[row.parentElement === this.#lists.done ? "done" : "open"].map((task) => task.row));
    if (staying.has(row.dataset.row)) return null;
    const other = (step) => {
      let next = row[step];
      while (next && !staying.has(next.dataset.row)) next = next[step];
      return next;
    };
    const next = other("nextElementSibling") ?? other("previousElementSibling");
    const name = ["edit", "when"].find((name) => control.classList.contains(name)) ?? "check";
    const preventScroll = !control.matches(":focus-visible"); // who works with the mouse may look elsewhere
    return () => (next ? next.querySelector(`.${name}`).focus({ preventScroll }) : focusNew());
  }

  has(name) {
    return this.#rows.has(name);
  }

  /** Whether a row is shown, and nothing covers it. */
  isInSight(name) {
    const box = this.#rows.get(name)?.getBoundingClientRect();
    return Boolean(box) && box.top >= find("add").getBoundingClientRect().bottom && box.bottom <= innerHeight;
  }

  reveal(name, isFocused) {
    const row = this.#rows.get(name);
    row?.scrollIntoView({ block: "nearest" });
    if (isFocused) row?.querySelector(".check").focus({ preventScroll: true });
  }

  #show(task) {
    const [spare, before, day = this.#day] = this.#spare.get(task.row) ?? [];
    this.#spare.delete(task.row);
    const old = this.#tasks.get(task.row) ?? before;
    const element = this.#rows.get(task.row) ?? spare ?? makeRow(task);
    if (!old) element.classList.toggle("new", !this.#fresh);
    const isNewDay = Boolean(task.due) && day !== today();
    this.#rows.set(task.row, element);
    this.#tasks.set(task.row, task);
    if (isNewDay || !isSame(task, old)) updateRow(element, task, old, isNewDay);
    return element;
  }

  #changed(event) {
    const box = event.target;
    if (!box.classList.contains("check")) return;
    const task = this.#taskOf(box.closest("li"));
    this.#hold(task, box.checked);
    this.#actions.complete(task, box.checked);
    box.checked = (this.#tasks.get(task.row) ?? task).completed; // as before, if the change could not be kept
  }

  #clicked(event) {
    const button = event.target.closest("button");
    if (!button) return this.#clickedText(event.target);
    const row = button.closest("li");
    const has = (name) => button.classList.contains(name);
    if (has("more")) showMore(button);
    else if (has("when")) this.#offerDays([row], button);
    else if (has("tag")) this.#actions.search(button.textContent);
    else if (has("edit")) this.edit(row.dataset.row);
    else if (has("remove")) this.#remove(this.#taskOf(row));
    else if (has("cancel")) this.#cancel();
    else if (has("up") || has("down")) this.#step(row, has("up"));
    else if (button.dataset.decision) this.#actions.decide(this.#taskOf(row), button.dataset.decision);
  }

  /** Opens the task at the part that was clicked. A click that follows a link, or ends the selection of words, opens nothing. */
  #clickedText(element) {
    if (element.closest("a")) return;
    const field = ["text", "due", "notes"].find((name) => element.closest(`.row > .${name}`));
    if (field && getSelection().isCollapsed) this.edit(element.closest("li").dataset.row, { field });
  }

  /** Shows a menu of due dates for rows. What is half written in a task is not to be lost: then the task is opened. */
  #offerDays(rows, button) {
    const half = rows.find((row) => this.#taskOf(row).draft);
    if (half) return this.edit(half.dataset.row, { field: "due" });
    const { top, bottom, right } = button.getBoundingClientRect();
    const menu = find("day-menu");
    this.#planned = rows.map((row) => row.dataset.row);
    menu.lastElementChild.hidden = rows.length > 1;
    menu.showPopover(); // then it has a size
    const hasRoom = bottom + menu.offsetHeight + 8 <= innerHeight; // it never covers the button: a double click would take a day
    menu.style.top = `${(hasRoom ? bottom : Math.max(8, top - menu.offsetHeight)) + scrollY}px`;
    const { clientWidth } = document.documentElement;
    menu.style.right = `${Math.max(8, Math.min(clientWidth - right, clientWidth - menu.offsetWidth - 8))}px`;
    menu.firstElementChild.focus();
  }

  #plan({ target }) {
    const menu = find("day-menu");
    if (target === menu) return;
    menu.hidePopover(); // gives the focus back to the row
    if (target.value === "pick") {
      const [name] = this.#planned;
      this.selection.clear();
      this.edit(name, { field: "due" });
      return this.#edited === name && this.#editor.field("due").showPicker?.();
    }
    this.#actions.plan(this.#planned.map((name) => this.#tasks.get(name)).filter(Boolean), dayNamed(target.value) || null);
    if (!find("selection").hidden) focusNew();
    this.selection.clear();
  }

  #remove(task) {
    if (task.row === this.#edited) this.#cancel();
    this.#hold(task);
    this.#actions.remove(task);
  }

  #key(event) {
    const row = event.target.closest("li");
    if (event.key === "Escape" && event.target.closest(".editor")) this.#cancel();
    if (event.key === "Enter" && isSubmit(event)) {
      event.preventDefault();
      event.target.form.requestSubmit();
    }
    if (event.key === "F2" && row) this.edit(row.dataset.row);
    if (event.altKey && ["ArrowUp", "ArrowDown"].includes(event.key) && !event.target.closest(".editor")) {
      event.preventDefault();
      this.#step(row, event.key === "ArrowUp");
    }
  }

  /** Moves an open task by one place among the tasks that are shown. */
  #step(row, isUp) {
    const other = isUp ? row.previousElementSibling : row.nextElementSibling;
    if (row.parentElement !== this.#lists.open || !other || row.matches(".held, .by-due > *")) return;
    this.#move(row, isUp ? { before: other } : { after: other });
    this.reveal(row.dataset.row);
  }

  #move(row, place) {
    let [[side, other]] = Object.entries(place);
    const step = side === "after" ? "previousElementSibling" : "nextElementSibling";
    while (other?.matches(".held")) other = other[step]; // its task may be no more
    if (this.#view === "today" && other && this.#taskOf(other).due !== this.#taskOf(row).due) { // each day keeps its own order
      other = other[side === "after" ? "nextElementSibling" : "previousElementSibling"];
      side = side === "after" ? "before" : "after";
      if (other && this.#taskOf(other).due !== this.#taskOf(row).due) return;
    }
    if (other && other !== row) this.#actions.move(this.#taskOf(row), { [side]: this.#taskOf(other) });
  }

  /** Returns the place of a row in its list, and the number of rows: "2 of 5". */
  placeOf(name) {
    const row = this.#rows.get(name);
    const rows = [...row.parentElement.children];
    return `${rows.indexOf(row) + 1} of ${rows.length}`;
  }

  /** Opens a task that is shown, with its values or with those that were half written before, and the cursor in a field;
   * `seen` are the values with which the person started. Saves the task that was open before. */
  edit(name, { values, seen, field = "text" } = {}) {
    if (name === this.#edited || this.#held.has(name) || !this.#save() || !this.#rows.has(name)) return;
    const element = this.#rows.get(name);
    this.#edited = name;
    this.#opened = performance.now();
    const task = this.#tasks.get(name);
    this.#editor = new Editor(task, values ?? task.draft?.values, seen ?? task.draft?.seen);
    element.querySelector(".text").after(this.#editor.form);
    element.classList.add("editing");
    find("toast").classList.add("aside");
    this.#editor.focus(field);
    this.reveal(name);
  }

  /** Saves and closes the open task. Returns false if it has to stay open because something is wrong with it. */
  #save() {
    if (!this.#editor) return true;
    const { seen, first, wanted } = this.#editor;
    const fault = dateFault(this.#editor.field("due")) ?? this.#actions.save(this.#tasks.get(this.#edited), seen, wanted, first);
    this.#editor.complain(fault);
    if (!fault) this.#close();
    return !fault;
  }

  /** Saves the notes of the open task, which stays open. */
  #note(notes) {
    if (this.#actions.note(this.#tasks.get(this.#edited), this.#editor.seen.notes, notes)) this.#editor.seen.notes = notes.trim();
  }

  /** Saves the open task when somebody goes elsewhere: by a press, when all else has been done that the press is for. */
  #left(event) {
    const path = [...(this.#press ?? []), ...event.composedPath()]; // a text may be selected beyond its field
    this.#press = undefined;
    if (this.#editor && event.timeStamp > this.#opened && !path.includes(this.#rows.get(this.#edited))) this.#save();
  }

  #cancel() {
    const { first, values } = this.#editor;
    const task = this.#tasks.get(this.#edited);
    this.#note(first.notes);
    this.#close();
    if (alterations(first, values).length) this.#actions.discard(task, { seen: first, values });
  }

  #close() {
    const element = this.#rows.get(this.#edited);
    const hadFocus = this.#editor.form.contains(document.activeElement);
    clearTimeout(this.#noting);
    this.#editor.form.remove();
    this.#editor = this.#edited = undefined;
    element.classList.remove("editing");
    find("toast").classList.remove("aside");
    if (hadFocus) element.querySelector(".edit").focus();
    this.#actions.changed();
  }

  #taskOf(row) {
    return this.#tasks.get(row.dataset.row);
  }
}

/** Puts an element before another one, or last, with its focus and its state if the browser can do that in one list. */
function put(list, element, place) {
  // Between two lists, Chromium would forget that a new class changes the style: a finished task would not be struck through.
  if (element.parentElement === list && list.moveBefore) return list.moveBefore(element, place);
  if (element.isConnected) element.classList.remove("new"); // it would otherwise arrive once more
  list.insertBefore(element, place);
}

/** Enter saves the text. In notes, with Shift and on a phone it begins a line. */
function isSubmit(event) {
  if (!event.target.matches(".editor textarea") || event.shiftKey) return false;
  if (event.ctrlKey || event.metaKey) return true;
  return event.target.name === "text" && !matchMedia("(pointer: coarse)").matches;
}
