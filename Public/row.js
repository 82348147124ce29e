// One task as a row of the list. Text of a person is only ever text, never markup.

import { isForToday, isOverdue, nameOfDay } from "./days.js";
import { brief, find, make } from "./dom.js";
import { wordsOf } from "./repeat.js";
import { TAG } from "./search.js";

const part = (row, name) => row.querySelector(`:scope > .${name}`);

export function makeRow(task) {
  const row = find("row-template").content.firstElementChild.cloneNode(true);
  row.dataset.row = task.row;
  part(row, "due").id = `due-${task.row}`;
  part(row, "check").setAttribute("aria-describedby", `due-${task.row}`);
  return row;
}

/** Shows a task in its row; `old` is the task that the row showed before, `isNewDay` whether that was on another day. */
export function updateRow(row, task, old, isNewDay) {
  const check = part(row, "check");
  check.checked = task.completed;
  const isOther = (...fields) => !old || fields.some((field) => task[field] !== old[field]);
  if (isOther("text")) updateText(row, task.text);
  if (isOther("notes")) part(row, "notes").replaceChildren(...linked(task.notes ?? ""));
  if (isOther("due", "completed", "repeat") || isNewDay) updateDue(row, task);
  if (isOther("text", "notes")) {
    row.classList.toggle("long", isLong(task.text, 300, 5));
    row.classList.toggle("cut", isLong(task.text, 300, 5) || isLong(task.notes ?? "", 120, 2));
  }
  row.classList.toggle("done", task.completed);
  row.classList.toggle("waiting", task.state === "waiting");
  part(row, "row-state").textContent = stateOf(task);
  updateProblem(row, task);
}

export const stateOf = (task) => (task.draft ? "Draft" : task.state === "waiting" ? "Not saved yet" : "");

/** Whether a row that shows one of two tasks would show the other in the same way. */
export const isSame = (task, other) =>
  task === other || (other && ["text", "notes", "due", "repeat", "completed", "id", "state", "change"].every((field) => task[field] === other[field])
    && JSON.stringify(task.problem) === JSON.stringify(other.problem) && !task.draft === !other.draft);

const LINK = new RegExp(`https?://[^\\s<>"]+|${TAG.source}`, "giu");

/** Returns a text as nodes, in which web addresses are links, and tags buttons; nothing else is markup. */
function linked(text) {
  const nodes = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(LINK)) {
    if (found.startsWith("#")) {
      nodes.push(text.slice(end, index), make("button", { type: "button", className: "tag", textContent: found }));
      end = index + found.length;
      continue;
    }
    const href = found.replace(found.includes("(") ? /[.,:;!?'”’»\]}]+$/ : /[.,:;!?'”’»\]})]+$/, ""); // ends of sentences
    if (!URL.canParse(href)) continue;
    nodes.push(text.slice(end, index));
    nodes.push(make("a", { href, target: "_blank", rel: "noopener noreferrer", dir: "ltr", textContent: href }));
    end = index + href.length;
  }
  return [...nodes, text.slice(end)];
}

/** Names the controls of a row or of an editor after the task. */
export function labelFor(element, text) {
  for (const control of element.querySelectorAll("[data-label]")) {
    control.setAttribute("aria-label", control.dataset.label.replace("…", () => brief(text)));
  }
}

function updateText(row, text) {
  part(row, "check").setAttribute("aria-label", text);
  part(row, "text").replaceChildren(...linked(text));
  part(row, "more").lastChild.textContent = ` of ${brief(text)}`;
  labelFor(row, text);
}

function updateDue(row, task) {
  const isLate = isOverdue(task);
  row.classList.toggle("overdue", isLate);
  row.classList.toggle("today", isForToday(task));
  row.classList.toggle("repeats", Boolean(task.repeat));
  const title = task.repeat ? `Repeats ${wordsOf(task.repeat)}` : "";
  const attributes = { role: "img", "aria-label": title };
  part(row, "due").replaceChildren(...(task.due ? [
    make("span", { className: isLate ? "" : "sr", textContent: isLate ? "Overdue · " : "Due " }),
    make("time", { dateTime: task.due, textContent: nameOfDay(task.due) }),
    ...(title ? [" ", make("span", { className: "repeat", title, textContent: "↻", attributes })] : []),
  ] : []));
}

/** Whether a text is shown in a few lines until somebody asks for more. */
const isLong = (text, length, lines) => text.length > length || text.split("\n", lines + 1).length > lines;

export function showMore(button) {
  const isWhole = button.closest("li").classList.toggle("whole");
  button.setAttribute("aria-expanded", isWhole);
  button.firstElementChild.textContent = isWhole ? "Less" : "More";
}

function updateProblem(row, task) {
  const old = part(row, "problem");
  const key = task.state === "stuck" ? JSON.stringify(task.problem) : "";
  if ((old?.dataset.problem ?? "") === key) return;
  old?.remove();
  row.classList.toggle("asking", Boolean(key));
  if (key) row.append(problemBox(task.problem, key));
}

/** Shows what stops a change, and the decisions that the person can make. */
function problemBox(problem, key) {
  const [message, choices] = question(problem);
  const buttons = choices.map(([decision, label]) =>
    make("button", { type: "button", className: "secondary", textContent: label, attributes: { "data-decision": decision } }));
  const help = problem.code ? make("a", { href: `problems.html#${problem.code}`, textContent: "What is this?" }) : "";
  return make("div", { className: "problem", attributes: { role: "alert", "data-problem": key } },
    make("p", {}, ...message, " ", help),
    make("div", { className: "choices" }, ...buttons));
}

const ADDED = "Added already? The list has a task with this text that came after you wrote this one.";

/** Returns [message, [decision, label] of each button]; a text of somebody else may be written from right to left. */
function question(problem) {
  if (problem.theirs !== undefined) return [changed(problem), [["mine", "Keep mine"], ["theirs", "Keep that"]]];
  if (problem.added) return [[ADDED], [["again", "Keep both"], ["discard", "Discard"]]];
  if (problem.gone) return [["Deleted elsewhere."], [["again", "Add it again"], ["discard", "Discard"]]];
  return [[`${problem.title}. ${problem.detail}`], [["retry", "Try again"], ["discard", "Discard"]]];
}

function changed({ field = "text", theirs }) {
  const subject = { text: "The text was", due: "The due date was", notes: "The notes were", repeat: "The rule was" }[field];
  if (theirs === null) return [`${subject} removed elsewhere.`];
  const value = { due: nameOfDay, repeat: wordsOf }[field]?.(theirs) ?? theirs;
  return [`${subject} changed elsewhere to “`, make("bdi", { textContent: value }), "”."];
}
