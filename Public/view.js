// The list on the screen. Rows are kept by name, so that focus, selection and an open editor outlive an update, and only
// rows whose task has changed are touched.

import { isForToday, isOverdue, today } from "/days.js";
import { counted, find } from "/dom.js";
import { Dragging, swiping } from "/drag.js";
import { alterations, dateFault, Editor } from "/editor.js";
import { byDue, inOrder } from "/order.js";
import { isSame, makeRow, makeText, showMore, updateRow } from "/row.js";
import { read, write } from "/storage.js";

/** What an empty list says: what there is none of, and why. */
const EMPTY = {
  all: ["What is on your mind?", "Write it down above. It is kept the moment you press Enter."],
  open: ["Nothing left to do.", "Enjoy it."],
  today: ["Nothing due today.", "What has today as its due date appears here."],
  overdue: ["Nothing overdue.", "What should have been done before today appears here."],
  done: ["Nothing done yet.", "Tick something off, and it appears here."],
  search: ["Nothing found.", "No task and no notes contain these words."],
};

const FILTERS = {
  all: () => true,
  open: (task) => !task.completed,
  today: isForToday,
  overdue: isOverdue,
  done: (task) => task.completed,
};

export const FILTER_NAMES = Object.keys(FILTERS);

const TINTED = 1000; // milliseconds
// The buttons that keep their state in local storage, under these names: true if finished tasks are folded, and if open
// tasks stand by their due dates.
const KEPT = { "finished-toggle": "tasks.finished", "by-due": "tasks.by-due" };
const isSet = (name) => read(localStorage, KEPT[name]) === true;

/**
 * Shows tasks; `actions` are the functions of the rows' controls: {complete, save, discard, remove, move, decide}, and
 * `closed` for editors. Open tasks are in one list, finished ones in another that can be folded.
 */
export class ListView {
  #rows = new Map(); // row name -> element
  #tasks = new Map(); // row name -> task
  #editor; // the form of the open task, if there is one
  #edited; // the name of its row
  #actions;
  #filter = "all";
  #words = []; // the words that are searched for
  #fresh = true;
  #day = today(); // the day of the last rendering
  #lists = { open: find("rows"), done: find("finished-rows") };
  #dragging;
  #waiting; // the tasks that came while a row was being dragged

  constructor(actions) {
    this.#actions = actions;
    for (const list of Object.values(this.#lists)) {
      list.addEventListener("change", (event) => this.#changed(event));
      list.addEventListener("click", (event) => this.#clicked(event));
      list.addEventListener("keydown", (event) => this.#key(event));
      list.addEventListener("submit", (event) => {
        event.preventDefault();
        this.#save();
      });
    }
    this.#dragging = new Dragging(this.#lists.open, {
      drop: (row, place) => this.#move(row, place),
      end: () => this.#waiting && this.render(...this.#waiting),
    });
    swiping(this.#lists.open, (row, event) => this.#dragging.begin(row, event));
    swiping(this.#lists.done, () => {});
    this.#showStates();
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

  /** Shows only tasks with all these words in their text or notes. */
  set search(text) {
    this.#words = folded(text).split(/\s+/).filter(Boolean);
  }

  get isSearching() {
    return this.#words.length > 0;
  }

  /** The number of tasks that are shown. */
  get count() {
    return this.#rows.size;
  }

  /** The open task: {id, row, values, seen}. */
  get editing() {
    if (!this.#editor) return undefined;
    const { values, seen } = this.#editor;
    return { id: this.#tasks.get(this.#edited).id, row: this.#edited, values, seen };
  }

  /** The finished tasks in sight, as they are shown. */
  get finished() {
    const rows = [...this.#lists.done.children];
    return rows.map((row) => this.#taskOf(row)).filter((task) => task.completed);
  }

  /** Shows all tasks; `news` are the ids of those that another device has changed, which are tinted for a moment. */
  render(tasks, isKnown, news = new Set()) {
    this.#waiting = this.#dragging.isActive ? [tasks, isKnown, news] : undefined;
    if (this.#waiting) return;
    const shown = this.#withEdited(tasks).filter((task) => task.row === this.#edited || this.#isWanted(task));
    const done = shown.filter((task) => this.#standsDone(task));
    const open = shown.filter((task) => !this.#standsDone(task));
    this.#renderSummary(tasks, isKnown);
    this.#renderFinished(done.length);
    this.#renderRows({
      open: isSet("by-due") ? open.sort(byDue) : open,
      done: this.#isFolded ? done.filter((task) => task.row === this.#edited) : done,
    });
    this.#renderEmpty(shown.length || !isKnown);
    const { length } = this.finished;
    find("clear").hidden = !length;
    find("clear").textContent = `Clear ${length}`;
    for (const [row, { id }] of this.#tasks) if (news.has(id)) this.#tint(this.#rows.get(row));
    this.#fresh = !isKnown;
    this.#day = today();
  }

  #tint(row) {
    row.classList.add("news");
    setTimeout(() => row.classList.remove("news"), TINTED);
  }

  #isWanted(task) {
    if (!FILTERS[this.#filter](task)) return false;
    if (!this.isSearching) return true;
    const text = folded(`${task.text}\n${task.notes ?? ""}`);
    return this.#words.every((word) => text.includes(word));
  }

  /** Returns all tasks, and the open one even if it was deleted elsewhere. */
  #withEdited(tasks) {
    if (!this.#editor || tasks.some((task) => task.row === this.#edited)) return tasks;
    return [...tasks, this.#tasks.get(this.#edited)].sort(inOrder);
  }

  /** Whether a row stands among the finished ones; an open one stays where it is. */
  #standsDone(task) {
    return task.row === this.#edited
      ? this.#rows.get(task.row).parentElement === this.#lists.done : task.completed;
  }

  #renderSummary(tasks, isKnown) {
    const all = tasks.length;
    const open = tasks.filter(FILTERS.open).length;
    const headline = open ? `${counted(open, "thing")} to do` : all ? "All done" : "A clear page";
    find("headline").textContent = isKnown ? headline : "Your tasks";
    document.title = open ? `(${open}) Tasks` : "Tasks";
    for (const name of ["open", "today", "overdue", "done"]) {
      const count = tasks.filter(FILTERS[name]).length;
      const badge = find(`count-${name}`);
      badge.textContent = count || "";
      if (name === "today" || name === "overdue") badge.closest("label").hidden = !count && this.#filter !== name;
    }
    find("progress").max = all || 1;
    find("progress").value = all - open;
    find("tools").hidden = !all && this.#filter === "all";
  }

  /** Whether finished tasks are folded, which a person who looks for them, or for words, overrides. */
  get #isFolded() {
    return isSet("finished-toggle") && this.#filter !== "done" && !this.isSearching;
  }

  /** Changes the state of a button that folds or sorts. */
  toggle(name) {
    write(localStorage, KEPT[name], !isSet(name));
    this.#showStates();
  }

  #showStates() {
    find("finished-toggle").setAttribute("aria-expanded", String(!this.#isFolded));
    find("by-due").setAttribute("aria-pressed", String(isSet("by-due")));
    this.#lists.open.classList.toggle("by-due", isSet("by-due")); // then tasks cannot be moved
  }

  #renderFinished(count) {
    find("finished").hidden = !count;
    find("count-finished").textContent = count || "";
    find("finished-toggle").disabled = this.#filter === "done" || this.isSearching; // then nothing is folded
    this.#showStates();
  }

  #renderEmpty(hasRows) {
    find("empty").hidden = Boolean(hasRows);
    const [title, text] = EMPTY[this.isSearching ? "search" : this.#filter];
    find("empty-title").textContent = title;
    find("empty-text").textContent = text;
  }

  #renderRows(lists) {
    const wanted = new Set(Object.values(lists).flat().map((task) => task.row));
    const focus = this.#focusBeforeRemoval(wanted);
    const focused = document.activeElement;
    for (const [name, element] of this.#rows) if (!wanted.has(name)) this.#drop(name, element);
    for (const [name, tasks] of Object.entries(lists)) this.#renderList(this.#lists[name], tasks);
    if (focus) focus();
    else if (focused !== document.activeElement && focused.closest(".row")) focused.focus({ preventScroll: true });
  }

  #renderList(list, tasks) {
    let place = list.firstElementChild;
    for (const task of tasks) {
      const element = this.#rows.get(task.row) ?? this.#create(task);
      this.#update(element, task);
      if (element !== place && element === place?.nextElementSibling) { // the other one has moved, perhaps far away
        put(list, place, null);
        place = element;
      }
      if (element === place) place = place.nextElementSibling;
      else put(list, element, place);
    }
    list.hidden = tasks.length === 0;
  }

  /** Moves the focus of a removed row to the next one, else to the one before, else to the field for new tasks. */
  #focusBeforeRemoval(wanted) {
    const row = document.activeElement?.closest?.(".row");
    if (!row || wanted.has(row.dataset.row)) return null;
    const selector = document.activeElement.classList.contains("check") ? ".check" : ".remove";
    const stays = (step) => {
      let other = row[step];
      while (other && !wanted.has(other.dataset.row)) other = other[step];
      return other;
    };
    const next = stays("nextElementSibling") ?? stays("previousElementSibling");
    return () => (next?.querySelector(selector) ?? find("new")).focus();
  }

  #drop(name, element) {
    element.remove();
    this.#rows.delete(name);
    this.#tasks.delete(name);
  }

  /** Scrolls a row into sight. */
  reveal(name) {
    this.#rows.get(name)?.scrollIntoView({ block: "nearest" });
  }

  #create(task) {
    const element = makeRow(task);
    element.classList.toggle("new", !this.#fresh);
    this.#rows.set(task.row, element);
    return element;
  }

  #update(element, task) {
    const old = this.#tasks.get(task.row);
    const isNewDay = Boolean(task.due) && this.#day !== today();
    this.#tasks.set(task.row, task);
    if (isNewDay || !isSame(task, old)) updateRow(element, task, old, isNewDay);
  }

  #changed(event) {
    const box = event.target;
    if (!box.classList.contains("check")) return;
    const task = this.#taskAt(event);
    this.#actions.complete(task, box.checked);
    box.checked = (this.#tasks.get(task.row) ?? task).completed; // as before, if the change could not be kept
  }

  #clicked(event) {
    const button = event.target.closest("button");
    if (!button) return this.#clickedText(event.target);
    const has = (name) => button.classList.contains(name);
    if (has("more")) showMore(button);
    else if (has("edit")) this.edit(button.closest("li").dataset.row);
    else if (has("remove")) this.#remove(this.#taskAt(event));
    else if (has("cancel")) this.#cancel();
    else if (has("up") || has("down")) this.#step(button.closest("li"), has("up"));
    else if (button.dataset.decision) this.#actions.decide(this.#taskAt(event), button.dataset.decision);
  }

  /** Opens the task at the part that was clicked. A click that follows a link, or ends the selection of words, opens nothing. */
  #clickedText(element) {
    if (element.closest("a")) return;
    const field = ["text", "due", "notes"].find((name) => element.closest(`.row > .${name}`));
    if (field && getSelection().isCollapsed) this.edit(element.closest("li").dataset.row, { field });
  }

  #remove(task) {
    if (task.row === this.#edited) this.#cancel();
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
    if (row.parentElement !== this.#lists.open || !other || isSet("by-due")) return;
    this.#move(row, isUp ? { before: other } : { after: other });
    this.reveal(row.dataset.row);
  }

  #move(row, place) {
    const [[side, other]] = Object.entries(place);
    this.#actions.move(this.#taskOf(row), { [side]: this.#taskOf(other) });
  }

  /** Returns the place of a row in its list, and the number of rows: "2 of 5". */
  placeOf(name) {
    const row = this.#rows.get(name);
    const rows = [...row.parentElement.children];
    return `${rows.indexOf(row) + 1} of ${rows.length}`;
  }

  /**
   * Opens a task that is shown, with its values or with those that were written before, and the cursor in a field;
   * `seen` are the values with which the person started. Saves the task that was open before.
   */
  edit(name, { values, seen, field = "text" } = {}) {
    if (name === this.#edited || !this.#save() || !this.#rows.has(name)) return;
    const element = this.#rows.get(name);
    this.#edited = name;
    this.#editor = new Editor(this.#tasks.get(name), values, seen);
    element.querySelector(".text").replaceWith(this.#editor.form);
    element.classList.add("editing");
    this.#editor.focus(field);
  }

  /** Saves and closes the open task. Returns false if it has to stay open because something is wrong with it. */
  #save() {
    if (!this.#editor) return true;
    const { seen, values } = this.#editor;
    const fault = dateFault(this.#editor.field("due")) ?? this.#actions.save(this.#tasks.get(this.#edited), seen, values);
    this.#editor.complain(fault);
    if (!fault) this.#close();
    return !fault;
  }

  #cancel() {
    const { seen, values } = this.#editor;
    const task = this.#tasks.get(this.#edited);
    this.#close();
    if (alterations(seen, values).length) this.#actions.discard(task, { seen, values });
  }

  #close() {
    const element = this.#rows.get(this.#edited);
    this.#editor.form.replaceWith(makeText(this.#tasks.get(this.#edited).text));
    this.#editor = this.#edited = undefined;
    element.classList.remove("editing");
    element.querySelector(".edit").focus();
    this.#actions.closed();
  }

  #taskAt(event) {
    return this.#taskOf(event.target.closest("li"));
  }

  #taskOf(row) {
    return this.#tasks.get(row.dataset.row);
  }
}

/** Puts an element before another one, or last, with its focus and its state if the browser can do that. */
function put(list, element, place) {
  if (element.isConnected && list.moveBefore) return list.moveBefore(element, place);
  if (element.isConnected) element.classList.remove("new"); // it would otherwise arrive once more
  list.insertBefore(element, place);
}

/** Returns a text without what people do not write when they search: capitals and accents. */
const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** Enter saves the text. In notes, with Shift and on a phone it begins a line; in a composed word it ends the word. */
function isSubmit(event) {
  if (!event.target.matches(".editor textarea") || event.isComposing || event.shiftKey) return false;
  if (event.ctrlKey || event.metaKey) return true;
  return event.target.name === "text" && !matchMedia("(pointer: coarse)").matches;
}
