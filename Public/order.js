// The person's own order. A task stands at its `position`, or at its id as long as it has none, so 2.5 puts a task
// between those with the ids 2 and 3. A task that is added at this page stands first, and one of an older client last.

const FARTHEST = 2 ** 53; // the farthest position that the server takes, in both directions
const LATEST = "9999-99"; // comes after every due date

const hasID = (task) => typeof task.id === "number";

/** A task that has not been saved yet has no id, and stands after all tasks that have one. */
const placeOf = (task) => task.position ?? (hasID(task) ? task.id : Infinity);

export function inOrder(one, other) {
  if (placeOf(one) !== placeOf(other)) return placeOf(one) < placeOf(other) ? -1 : 1;
  return hasID(one) && hasID(other) ? one.id - other.id : 0;
}

/** Returns the position with which a new task stands before all of these. */
export const beforeAll = (tasks) => tasks.map(placeOf).reduce((least, place) => Math.min(least, place), 1) - 1;

/** Compares two tasks by their due dates; tasks without one come last. */
export const byDue = (one, other) => (one.due ?? LATEST).localeCompare(other.due ?? LATEST);

/** Returns what compares two tasks on a day: overdue ones by their due dates, and all others as if they were due on the day. So a
 * task that stays in sight although its due date was changed keeps its place until it leaves. */
export function byOverdue(day) {
  const placed = ({ due }) => ({ due: due < day ? due : day });
  return (one, other) => byDue(placed(one), placed(other));
}

/** Returns the positions that move `task` directly after or before another one: pairs of a task and its new position.
 * `tasks` are all, in order. It is one pair, unless two neighbours leave no room, or are not saved yet: then all tasks get new
 * positions. */
export function moving(tasks, task, { after, before }) {
  const rest = tasks.filter((other) => other.row !== task.row);
  const index = rest.findIndex((other) => other.row === (after ?? before).row) + (after ? 1 : 0);
  const places = rest.map(placeOf);
  const high = places[index] ?? Math.min(FARTHEST, Math.floor(places.at(-1)) + 1); // at most the next id: a new task stands after it
  const low = places[index - 1] ?? Math.max(-FARTHEST, high - 2);
  const middle = (low + high) / 2;
  const hasRoom = low < middle && middle < high;
  const pairs = hasRoom ? [[task, middle]] : rest.toSpliced(index, 0, task).map((other, at) => [other, at + 1]);
  return pairs.filter(([other, place]) => place !== placeOf(other));
}
