// Calendar days where the person is: a due date is a day there, and the day ends at midnight there.

import { locale } from "./dom.js";

const DAY = 24 * 60 * 60 * 1000; // milliseconds

/** Returns the day that comes so many days after today, as a date of the API, "YYYY-MM-DD". */
export function dayAfter(days) {
  const now = new Date();
  return new Date(Date.UTC(now.getFullYear(), now.getMonth(), now.getDate() + days)).toISOString().slice(0, 10);
}

let known = {}; // today, for the rest of a millisecond: a long list asks some thousand times

export function today() {
  const now = Date.now();
  if (known.now !== now) known = { now, day: dayAfter(0) };
  return known.day;
}

/** Returns the Monday that comes next. */
export const nextWeek = () => dayAfter(8 - (new Date().getDay() || 7));

const NAMED = { today, tomorrow: () => dayAfter(1), "next week": nextWeek };

/** Returns the day that a button of this value sets, or "" for none. */
export const dayNamed = (name) => NAMED[name]?.() ?? "";

export const isOverdue = (task) => !task.completed && Boolean(task.due) && task.due < today();
export const isForToday = (task) => !task.completed && Boolean(task.due) && task.due === today();

const formats = new Map();

/** Returns "Today", "Tomorrow", "Yesterday" or the date, with its year if that is another one. */
export function nameOfDay(date) {
  const day = new Date(`${date}T00:00Z`);
  const distance = Math.round((day - new Date(`${today()}T00:00Z`)) / DAY);
  const near = { [-1]: "Yesterday", 0: "Today", 1: "Tomorrow" }[distance];
  if (near) return near;
  const year = date.slice(0, 4) === today().slice(0, 4) ? undefined : "numeric";
  if (!formats.has(year)) {
    const parts = { timeZone: "UTC", weekday: "short", day: "numeric", month: "short", year };
    formats.set(year, new Intl.DateTimeFormat(locale(), parts));
  }
  return formats.get(year).format(day);
}
