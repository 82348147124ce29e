// Calendar days where the person is: a due date is a day there, and the day ends at midnight there.

import { locale } from "/dom.js";

const DAY = 24 * 60 * 60 * 1000; // milliseconds

/** Returns today as a date of the API, "YYYY-MM-DD". */
export function today() {
  const now = new Date();
  const digits = (number, count) => String(number).padStart(count, "0");
  return [digits(now.getFullYear(), 4), digits(now.getMonth() + 1, 2), digits(now.getDate(), 2)].join("-");
}

export const isOverdue = (task) => !task.completed && Boolean(task.due) && task.due < today();
export const isForToday = (task) => !task.completed && task.due === today();

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
