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

/** Returns the position with which a new task stands before all of these; the first task of a list needs none. */
export const beforeAll = (tasks) =>
  tasks.length ? tasks.map(placeOf).filter(Number.isFinite).reduce((least, place) => Math.min(least, place), 1) - 1 : undefined;

/** Compares two tasks by their due dates; tasks without one come last. */
export const byDue = (one, other) => (one.due ?? LATEST).localeCompare(other.due ?? LATEST);

/** Returns what compares two tasks on a day: overdue ones by their due dates, and all others as if they were due on the day. So a
 * task that stays in sight although its due date was changed keeps its place until it leaves. */
export function byOverdue(day) {
  const placed = ({ due }) => ({ due: due < day ? due : day });
  return (one, other) => byDue(placed(one), placed(other));
}

/** Returns the positions that move `task` directly after or before another one: pairs of a task and its new position.
 * `tasks` are all, in order. It is one pair, unless two neighbours leave no room: then others around them move, too. */
export function moving(tasks, task, { after, before }) {
  const rest = tasks.filter((other) => other.row !== task.row);
  const index = rest.findIndex((other) => other.row === (after ?? before).row) + (after ? 1 : 0);
  const places = placesOf(rest);
  const [from, positions] = room(places, index);
  const moved = rest.toSpliced(index, 0, task).slice(from, from + positions.length);
  // A task without an id may get a larger one than expected, so tasks before the moved one need a position as well.
  const unsaved = rest.slice(0, from).map((other, at) => [other, places[at]]).filter(([other]) => placeOf(other) === Infinity);
  return [...unsaved, ...moved.map((other, at) => [other, positions[at]])].filter(([other, place]) => place !== placeOf(other));
}

/** Returns the places of all tasks; those without an id stand at the ids that they may expect. */
function placesOf(tasks) {
  const known = tasks.flatMap((task) => [placeOf(task), task.id]).filter(Number.isFinite);
  let last = Math.floor(known.reduce((most, place) => Math.max(most, place), 0));
  return tasks.map((task) => (placeOf(task) === Infinity ? ++last : placeOf(task)));
}

/** Returns positions for a task at this index and for as many neighbours as must move for it, equally far from each
 * other: [index of the first of them, positions]. */
function room(places, index) {
  for (let width = 0; ; width = 2 * width + 1) {
    const from = Math.max(0, index - width);
    const to = Math.min(places.length, index + width);
    const count = to - from + 1;
    if (width && count > places.length) return [0, Array.from({ length: count }, (_, at) => at + 1)];
    // The last place is less than the next id, so that a new task stands after it.
    const high = places[to] ?? Math.min(FARTHEST, Math.floor(places[to - 1]) + 1);
    const low = places[from - 1] ?? Math.max(-FARTHEST, high - count - 1);
    const positions = Array.from({ length: count }, (_, at) => low + ((high - low) * (at + 1)) / (count + 1));
    const bounded = [...(from ? [low] : []), ...positions, ...(to < places.length ? [high] : [])];
    if (bounded.every((place, at) => !at || place > bounded[at - 1])) return [from, positions];
  }
}
