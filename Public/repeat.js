// Tasks that come again, by a rule in the words of RFC 5545. The server makes the next task; the page shows it at once.

import { dayAfter } from "./days.js";
import { locale } from "./dom.js";

const DAY = 24 * 60 * 60 * 1000; // milliseconds
export const WEEK = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
export const WEEKDAYS = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR";
export const UNITS = { DAILY: "day", WEEKLY: "week", MONTHLY: "month", YEARLY: "year" };

const partsOf = (rule) => Object.fromEntries(rule.split(";").map((part) => part.split("=")));
const weekday = (date) => (date.getUTCDay() + 6) % 7;

/** The days, weeks, months or years of dates are counted, so that every second one can be told. Weeks begin on Monday. */
const COUNTS = {
  DAILY: (date) => date / DAY,
  WEEKLY: (date) => date / DAY - weekday(date),
  MONTHLY: (date) => 12 * date.getUTCFullYear() + date.getUTCMonth(),
  YEARLY: (date) => date.getUTCFullYear(),
};

/** Returns the first date after `after` of a rule that starts at `start`. A month that is too short has its last day instead. */
export function firstDate(rule, start, after) {
  const { FREQ, INTERVAL = 1, BYMONTH, BYMONTHDAY, BYDAY } = partsOf(rule);
  const begin = new Date(start); // without a time, it is one of UTC
  const [count, step] = [COUNTS[FREQ], FREQ === "WEEKLY" ? 7 * INTERVAL : INTERVAL];
  const days = BYDAY?.split(",") ?? WEEK[weekday(begin)];
  const isIn = (date) => {
    if (FREQ === "DAILY") return true;
    if (FREQ === "WEEKLY") return days.includes(WEEK[weekday(date)]);
    const day = date.getUTCDate();
    const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
    if (BYDAY) return [Math.ceil(day / 7), -Math.ceil((last - day + 1) / 7)].some((place) => `${place}${WEEK[weekday(date)]}` === BYDAY);
    const isMonth = FREQ === "MONTHLY" || date.getUTCMonth() === (BYMONTH ? BYMONTH - 1 : begin.getUTCMonth());
    return isMonth && day === Math.min(BYMONTHDAY ?? begin.getUTCDate(), last);
  };
  for (let date = new Date(Date.parse(after) + DAY); date.getUTCFullYear() < 10000; date = new Date(+date + DAY)) {
    if ((count(date) - count(begin)) % step === 0 && isIn(date)) return date.toISOString().slice(0, 10);
  }
  return null;
}

/** Returns the next date of a task's rule and the rule that is then the next task's, {due, repeat}, if the task is finished on
 * this day, or null after the year 9999. A day that the next month does not have is not lost: the rule says it from then on. */
export function following({ due, repeat }, day) {
  const next = firstDate(repeat, due, due > day ? due : day);
  if (!next) return null;
  const { FREQ, INTERVAL, BYMONTH, BYMONTHDAY, BYDAY } = partsOf(repeat);
  const [, month, date] = due.split("-").map(Number);
  const isShort = ["MONTHLY", "YEARLY"].includes(FREQ) && !BYMONTHDAY && !BYDAY && Number(next.slice(8)) !== date;
  if (!isShort) return { due: next, repeat };
  const parts = [FREQ, INTERVAL && `INTERVAL=${INTERVAL}`, FREQ === "YEARLY" && `BYMONTH=${BYMONTH ?? month}`, `BYMONTHDAY=${date}`];
  return { due: next, repeat: `FREQ=${parts.filter(Boolean).join(";")}` };
}

/** Returns the date at which a rule begins that somebody chooses now: "every monday" is not today, as "monday" is not. */
export function beginning(rule) {
  const isToday = rule === WEEKDAYS || !/^FREQ=WEEKLY.*BYDAY/.test(rule);
  return firstDate(rule.replace(/;INTERVAL=\d+/, ""), dayAfter(0), dayAfter(isToday ? -1 : 0));
}

const ordinals = new Intl.PluralRules("en", { type: "ordinal" });
const ordinal = (number) => `${number}${{ one: "st", two: "nd", few: "rd" }[ordinals.select(number)] ?? "th"}`;
const nameIn2024 = (part, month, day = 1) => new Date(2024, month, day).toLocaleDateString(locale(), { [part]: "long" });

/** Returns a rule in words: "every 2 weeks on Monday", "every last Friday of the month". */
export function wordsOf(rule) {
  if (rule === WEEKDAYS) return "every weekday";
  const { FREQ, INTERVAL, BYMONTH, BYMONTHDAY, BYDAY } = partsOf(rule);
  const days = BYDAY?.split(",").map((day) => {
    const place = Number.parseInt(day, 10) || 0;
    const which = [INTERVAL && place && "the", place < -1 && ordinal(-place), place > 0 && ordinal(place), place < 0 && "last"];
    return [...which, nameIn2024("weekday", 0, 1 + WEEK.indexOf(day.slice(-2)))].filter(Boolean).join(" "); // 2024 began on a Monday
  }).join(", ");
  if (days && !INTERVAL) return `every ${days}${FREQ === "MONTHLY" ? " of the month" : ""}`;
  const date = [BYMONTHDAY && `the ${ordinal(BYMONTHDAY)}`, BYMONTH && nameIn2024("month", BYMONTH - 1)];
  const when = days ?? date.filter(Boolean).join(" of ");
  return `every ${INTERVAL ? `${INTERVAL} ${UNITS[FREQ]}s` : UNITS[FREQ]}${when && ` ${days || BYMONTHDAY ? "on" : "in"} ${when}`}`;
}
