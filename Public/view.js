// The list on the screen. Rows are kept by name, so that focus, selection and an open editor outlive an update; what a
// person wrote is only ever text, never markup.

import { find, make } from "/dom.js";

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

/** Shows tasks; `actions` is what the rows' controls do: {complete, rename, remove, decide}. */
export class ListView {
  #rows = new Map(); // row name -> element
  #tasks = new Map(); // row name -> task
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

  /** Whether some row is being edited now. */
  get editing() {
    return find("rows").querySelector(".editor");
  }

  render(tasks, isKnown) {
    const open = tasks.filter((task) => !task.completed).length;
    this.#renderSummary(open, tasks.length, isKnown);
    const shown = tasks.filter((task) => this.#filter === "all" || task.completed === (this.#filter === "done"));
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

  #renderRows(tasks) {
    const list = find("rows");
    const wanted = new Set(tasks.map((task) => task.row));
    const focus = this.#focusBeforeRemoval(wanted);
    for (const [name, element] of this.#rows) if (!wanted.has(name)) this.#drop(name, element);
    let place = list.firstElementChild;
    for (const task of tasks) {
      const element = this.#rows.get(task.row) ?? this.#create(task);
      this.#update(element, task);
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

  #create(task) {
    const id = `task-${task.row}`;
    const element = make(
      "li",
      { className: this.#fresh ? "row" : "row new", attributes: { "data-row": task.row } },
      make("input", { type: "checkbox", className: "check", id }),
      make("label", { className: "text", htmlFor: id }),
      make("span", { className: "row-state" }),
      iconButton("edit"),
      iconButton("remove"),
    );
    this.#rows.set(task.row, element);
    return element;
  }

  #update(element, task) {
    this.#tasks.set(task.row, task);
    const [check, , state] = element.children;
    check.checked = task.completed;
    check.setAttribute("aria-label", task.text); // its label makes room for the editor at times
    const label = element.querySelector(".text");
    if (label && label.textContent !== task.text) label.textContent = task.text;
    element.classList.toggle("done", task.completed);
    element.classList.toggle("waiting", task.state === "waiting");
    state.textContent = task.state === "waiting" ? "Not saved yet" : "";
    element.querySelector(".edit").setAttribute("aria-label", `Edit ${task.text}`);
    element.querySelector(".remove").setAttribute("aria-label", `Delete ${task.text}`);
    this.#updateProblem(element, task);
  }

  #updateProblem(element, task) {
    const old = element.querySelector(".problem");
    const key = task.state === "stuck" ? JSON.stringify(task.problem) : "";
    if ((old?.dataset.problem ?? "") === key) return;
    old?.remove();
    if (key) element.append(problemBox(task.problem, key));
  }

  #changed(event) {
    if (event.target.classList.contains("check")) this.#actions.complete(this.#taskAt(event), event.target.checked);
  }

  #clicked(event) {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.classList.contains("edit")) this.edit(button.closest("li").dataset.row);
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
    if (event.key === "F2" && event.target.closest("li")) this.edit(event.target.closest("li").dataset.row);
  }

  /** Opens the editor of a row, with this text or the task's own. */
  edit(name, text) {
    const element = this.#rows.get(name);
    if (!element || element.querySelector(".editor")) return;
    const task = this.#tasks.get(name);
    const field = make("input", { type: "text", value: text ?? task.text, enterKeyHint: "done" });
    field.setAttribute("aria-label", `New text for ${task.text}`);
    const editor = make(
      "form",
      { className: "editor", autocomplete: "off" },
      field,
      make("button", { type: "submit", className: "primary", textContent: "Save" }),
      make("button", { type: "button", className: "secondary cancel", textContent: "Cancel" }),
      make("p", { className: "field-error", hidden: true, attributes: { role: "alert" } }),
    );
    editor.seen = task; // the text that the person starts from
    element.querySelector(".text").replaceWith(editor);
    element.classList.add("editing");
    field.focus();
    field.select();
  }

  #submitted(event) {
    event.preventDefault();
    const editor = event.target;
    const text = editor.elements[0].value.trim();
    const problem = this.#actions.rename({ ...this.#taskAt(event), text: editor.seen.text }, text);
    const error = editor.querySelector(".field-error");
    error.hidden = !problem;
    error.textContent = problem ?? "";
    if (!problem) this.#stopEditing(event.target.closest("li"));
  }

  #stopEditing(element) {
    const task = this.#tasks.get(element.dataset.row);
    const label = make("label", { className: "text", htmlFor: `task-${task.row}`, textContent: task.text });
    element.querySelector(".editor").replaceWith(label);
    element.classList.remove("editing");
    element.querySelector(".edit").focus();
  }

  #taskAt(event) {
    return this.#tasks.get(event.target.closest("li").dataset.row);
  }
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
  const [message, choices] = problem.theirs !== undefined
    ? [`Changed elsewhere to “${problem.theirs}”.`, [["mine", "Keep mine"], ["theirs", "Keep that"]]]
    : problem.gone
      ? ["Deleted elsewhere.", [["again", "Add it again"], ["discard", "Let it go"]]]
      : [`${problem.title}. ${problem.detail}`, [["retry", "Try again"], ["discard", "Discard"]]];
  const buttons = choices.map(([decision, label]) =>
    make("button", { type: "button", className: "secondary", textContent: label, attributes: { "data-decision": decision } }));
  const help = problem.code
    ? [make("a", { href: `/problems.html#${problem.code}`, textContent: "What is this?" })]
    : [];
  return make(
    "div",
    { className: "problem", attributes: { role: "alert", "data-problem": key } },
    make("p", {}, message, " ", ...help),
    make("div", { className: "choices" }, ...buttons),
  );
}
