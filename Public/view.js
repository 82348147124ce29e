// The list on the screen. Rows are kept by name, so that focus, selection and an open editor outlive an update, and only
// rows whose task has changed are touched; what a person wrote is only ever text, never markup.

import { brief, find, make } from "/dom.js";

const ICONS = {
  edit: "M4 20h4L19 9l-4-4L4 16v4zM13.5 6.5l4 4",
  remove: "M5 7h14M10 11v6M14 11v6M6.5 7l.8 12.2h9.4L17.5 7M9.5 7V4.5h5V7",
};
const NUMBERS = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"];

/** "Three things to do", as one would say it. */
export function headline(open, all) {
  if (!all) return "A clear page";
  if (!open) return "All done";
  return `${NUMBERS[open] ?? open} thing${open === 1 ? "" : "s"} to do`;
}

const EMPTY = {
  all: ["Nothing here yet.", "Write the first thing above; it is kept the moment you press Enter."],
  open: ["Nothing left to do.", "Enjoy it."],
  done: ["Nothing done yet.", "Tick something off, and it appears here."],
};

/** Shows tasks; `actions` is what the rows' controls do: {complete, rename, remove, decide}, and `closed` for editors. */
export class ListView {
  #rows = new Map(); // row name -> element
  #tasks = new Map(); // row name -> task
  #editors = new Map(); // row name -> the form of a row that is being edited
  #actions;
  #filter = "all";
  #fresh = true;

  constructor(actions) {
    this.#actions = actions;
    const list = find("rows");
    list.addEventListener("change", (event) => this.#changed(event));
    list.addEventListener("click", (event) => this.#clicked(event));
    list.addEventListener("dblclick", (event) => this.#doubleClicked(event));
    list.addEventListener("keydown", (event) => this.#key(event));
    list.addEventListener("submit", (event) => this.#submitted(event));
  }

  get filter() {
    return this.#filter;
  }

  set filter(name) {
    this.#filter = ["open", "done"].includes(name) ? name : "all";
    for (const radio of document.getElementsByName("filter")) radio.checked = radio.value === this.#filter;
  }

  /** The row that is being edited, the first of several: {id, row, text, seen}. */
  get editing() {
    const [[row, editor] = []] = this.#editors;
    if (!editor) return undefined;
    return { id: this.#tasks.get(row).id, row, text: editor.elements[0].value, seen: editor.seen };
  }

  render(tasks, isKnown) {
    const open = tasks.filter((task) => !task.completed).length;
    this.#renderSummary(open, tasks.length, isKnown);
    const shown = tasks.filter((task) => this.#filter === "all" || task.completed === (this.#filter === "done"));
    this.#keepEdited(shown, tasks);
    this.#renderRows(shown);
    this.#renderEmpty(shown.length || !isKnown);
    this.#fresh = !isKnown;
  }

  #renderSummary(open, all, isKnown) {
    find("headline").textContent = isKnown ? headline(open, all) : "Your tasks";
    document.title = open ? `(${open}) Tasks` : "Tasks";
    find("count-open").textContent = open || "";
    find("count-done").textContent = all - open || "";
    find("progress").max = all || 1;
    find("progress").value = all - open;
    find("clear").hidden = all === open;
  }

  #renderEmpty(hasRows) {
    const empty = find("empty");
    empty.hidden = Boolean(hasRows);
    if (empty.hidden) return;
    const [title, text] = EMPTY[this.#filter];
    empty.replaceChildren(make("strong", { textContent: title }), make("span", { textContent: text }));
  }

  /** Keeps the rows with open editors among those shown, whatever the filter is, and also if the task was deleted. */
  #keepEdited(shown, tasks) {
    if (!this.#editors.size) return;
    const names = new Set(shown.map((task) => task.row));
    for (const name of this.#editors.keys()) {
      if (names.has(name)) continue;
      const task = tasks.find((task) => task.row === name) ?? this.#tasks.get(name);
      let before = this.#rows.get(name).previousElementSibling;
      while (before && !names.has(before.dataset.row)) before = before.previousElementSibling;
      shown.splice(before ? shown.findIndex((other) => other.row === before.dataset.row) + 1 : 0, 0, task);
      names.add(name);
    }
  }

  #renderRows(tasks) {
    const list = find("rows");
    const wanted = new Set(tasks.map((task) => task.row));
    const focus = this.#focusBeforeRemoval(wanted);
    for (const [name, element] of this.#rows) if (!wanted.has(name)) this.#drop(name, element);
    let place = list.firstElementChild;
    for (const task of tasks) {
      const element = this.#rows.get(task.row) ?? this.#create(task);
      if (!isSame(task, this.#tasks.get(task.row))) this.#update(element, task);
      if (element === place) place = place.nextElementSibling;
      else list.insertBefore(element, place);
    }
    list.hidden = tasks.length === 0;
    focus?.();
  }

  /** The focus of a removed row moves to the next one, else to the one before, else to the field for new tasks. */
  #focusBeforeRemoval(wanted) {
    const row = document.activeElement?.closest?.("#rows > li");
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
    const element = emptyRow().cloneNode(true);
    element.dataset.row = task.row;
    element.classList.toggle("new", !this.#fresh);
    const [check, label] = element.children;
    check.id = label.htmlFor = `task-${task.row}`;
    this.#rows.set(task.row, element);
    return element;
  }

  #update(element, task) {
    const old = this.#tasks.get(task.row);
    this.#tasks.set(task.row, task);
    const [check, , state] = element.children;
    check.checked = task.completed;
    if (task.text !== old?.text) this.#updateText(element, task.text);
    element.classList.toggle("done", task.completed);
    element.classList.toggle("waiting", task.state === "waiting");
    state.textContent = task.state === "waiting" ? "Not saved yet" : "";
    this.#updateProblem(element, task);
  }

  #updateText(element, text) {
    const [check, label, , edit, remove] = element.children;
    check.setAttribute("aria-label", text); // its label makes room for the editor at times
    if (label.matches(".text")) label.textContent = text;
    edit.setAttribute("aria-label", `Edit ${brief(text)}`);
    remove.setAttribute("aria-label", `Delete ${brief(text)}`);
    element.querySelector(".more")?.remove();
    element.classList.toggle("long", isLong(text));
    if (isLong(text)) remove.after(moreButton(text));
  }

  #updateProblem(element, task) {
    const old = element.querySelector(".problem");
    const key = task.state === "stuck" ? JSON.stringify(task.problem) : "";
    if ((old?.dataset.problem ?? "") === key) return;
    old?.remove();
    if (key) element.append(problemBox(task.problem, key));
  }

  #changed(event) {
    const box = event.target;
    if (!box.classList.contains("check")) return;
    this.#actions.complete(this.#taskAt(event), box.checked);
    box.checked = this.#taskAt(event).completed; // as before, if the change could not be kept
  }

  #clicked(event) {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.classList.contains("more")) showMore(button);
    else if (button.classList.contains("edit")) this.edit(button.closest("li").dataset.row);
    else if (button.classList.contains("remove")) this.#actions.remove(this.#taskAt(event));
    else if (button.classList.contains("cancel")) this.#stopEditing(button.closest("li"));
    else if (button.dataset.decision) this.#actions.decide(this.#taskAt(event), button.dataset.decision);
  }

  #doubleClicked(event) {
    const label = event.target.closest("label.text");
    if (label) this.edit(label.closest("li").dataset.row);
  }

  #key(event) {
    if (event.key === "Escape" && event.target.closest(".editor")) this.#stopEditing(event.target.closest("li"));
    if (event.key === "Enter" && event.target.matches(".editor textarea") && isSubmit(event)) {
      event.preventDefault();
      event.target.form.requestSubmit();
    }
    if (event.key === "F2" && event.target.closest("li")) this.edit(event.target.closest("li").dataset.row);
  }

  /** Opens the editor of a row, with this text or the task's own; `seen` is the text that the person started from. */
  edit(name, text, seen) {
    const element = this.#rows.get(name);
    if (!element || this.#editors.has(name)) return;
    const task = this.#tasks.get(name);
    const field = make("textarea", { value: text ?? task.text, dir: "auto" });
    field.rows = Math.min(12, field.value.split("\n").length + Math.floor(field.value.length / 60));
    field.setAttribute("aria-label", `New text for ${brief(task.text)}`);
    const editor = make(
      "form",
      { className: "editor", autocomplete: "off" },
      field,
      make("button", { type: "submit", className: "primary", textContent: "Save" }),
      make("button", { type: "button", className: "secondary cancel", textContent: "Cancel" }),
      make("p", { className: "field-error", hidden: true, attributes: { role: "alert" } }),
    );
    editor.seen = seen ?? task.text;
    this.#editors.set(name, editor);
    element.querySelector(".text").replaceWith(editor);
    element.classList.add("editing");
    field.focus();
    if (text === undefined) field.select(); // else the person goes on writing at the end
  }

  #submitted(event) {
    event.preventDefault();
    const editor = event.target;
    const text = editor.elements[0].value.trim();
    const problem = this.#actions.rename({ ...this.#taskAt(event), text: editor.seen }, text);
    const error = editor.querySelector(".field-error");
    error.hidden = !problem;
    error.textContent = problem ?? "";
    if (!problem) this.#stopEditing(event.target.closest("li"));
  }

  #stopEditing(element) {
    const { row, text } = this.#tasks.get(element.dataset.row);
    const label = make("label", { className: "text", htmlFor: `task-${row}`, dir: "auto", textContent: text });
    this.#editors.get(row).replaceWith(label);
    this.#editors.delete(row);
    element.classList.remove("editing");
    element.querySelector(".edit").focus();
    this.#actions.closed();
  }

  #taskAt(event) {
    return this.#tasks.get(event.target.closest("li").dataset.row);
  }
}

const isSame = (task, other) =>
  other && task.text === other.text && task.completed === other.completed && task.id === other.id
  && task.state === other.state && task.change === other.change
  && JSON.stringify(task.problem) === JSON.stringify(other.problem);

/** Whether a text is shown in a few lines until somebody asks for more. */
const isLong = (text) => text.length > 300 || text.split("\n", 6).length > 5;

/** Enter saves; with Shift, and on a phone, it begins a line, and while a word is being composed it ends that. */
const isSubmit = (event) =>
  !event.isComposing && !event.shiftKey && (event.ctrlKey || event.metaKey || !matchMedia("(pointer: coarse)").matches);

let rowTemplate;

/** A row without a task, to be copied: a list may have thousands. */
function emptyRow() {
  rowTemplate ??= make(
    "li",
    { className: "row" },
    make("input", { type: "checkbox", className: "check" }),
    make("label", { className: "text", dir: "auto" }),
    make("span", { className: "row-state" }),
    iconButton("edit"),
    iconButton("remove"),
  );
  return rowTemplate;
}

const moreButton = (text) =>
  make(
    "button", { type: "button", className: "more", attributes: { "aria-expanded": "false" } },
    make("span", { textContent: "More" }), make("span", { className: "sr", textContent: ` of ${brief(text)}` }));

function showMore(button) {
  const isWhole = button.closest("li").classList.toggle("whole");
  button.setAttribute("aria-expanded", isWhole);
  button.firstElementChild.textContent = isWhole ? "Less" : "More";
}

function iconButton(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return make("button", { type: "button", className: `icon ${name}` }, svg);
}

/** What stops a change, and what the person can decide. */
function problemBox(problem, key) {
  const [message, choices] = question(problem);
  const buttons = choices.map(([decision, label]) =>
    make("button", { type: "button", className: "secondary", textContent: label, attributes: { "data-decision": decision } }));
  const help = problem.code
    ? [make("a", { href: `/problems.html#${problem.code}`, textContent: "What is this?" })]
    : [];
  return make(
    "div",
    { className: "problem", attributes: { role: "alert", "data-problem": key } },
    make("p", {}, ...message, " ", ...help),
    make("div", { className: "choices" }, ...buttons),
  );
}

/** [message, [decision, label] of each button]; the text of somebody else may be written from right to left. */
function question(problem) {
  if (problem.theirs !== undefined) {
    const theirs = make("bdi", { textContent: problem.theirs });
    return [["Changed elsewhere to “", theirs, "”."], [["mine", "Keep mine"], ["theirs", "Keep that"]]];
  }
  if (problem.gone) return [["Deleted elsewhere."], [["again", "Add it again"], ["discard", "Let it go"]]];
  return [[`${problem.title}. ${problem.detail}`], [["retry", "Try again"], ["discard", "Discard"]]];
}
