// Days that a person writes within a text: "friday", "3 dec", "in 2 weeks". Names and orders are those of English and of
// the person's first language, as Intl knows them.

import { dayAfter, nextWeek } from "./days.js";

const NUMBER = String.raw`(?<day>\d{1,2})(?:st|nd|rd|th|\.)?`;
const COUNT = String.raw`(?<number>\d{1,3})`;
const YEAR = String.raw`(?:,? (?<year>\d{4}))?`;
const UNITS = { day: [0, 0, 1], week: [0, 0, 7], month: [0, 1, 0], year: [1, 0, 0] };
const QUOTED = /"[^"]*"|“[^”]*”|„[^“]*“|«[^»]*»|(?<!\S)'[^']*'/g; // what stands in quotes names no day

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const anyOf = (words) => [...words].sort((a, b) => b.length - a.length).map(escaped).join("|");
const iso = (year, month, day) => {
  const date = new Date(Date.UTC(year, month, day));
  return date.getUTCMonth() === month && date.getUTCDate() === day ? date.toISOString().slice(0, 10) : null;
};

/** Returns a map from the names of so many days or months, long and short, to their numbers. */
function names(locales, part, count) {
  const named = new Map();
  for (const [locale, form] of locales.flatMap((name) => [[name, "long"], [name, "short"]])) {
    const day = part === "month" ? "numeric" : undefined; // a month beside a day may have another form
    const format = new Intl.DateTimeFormat(locale, { [part]: form, day, timeZone: "UTC" });
    for (let number = 0; number < count; number += 1) {
      const date = Date.UTC(2023, part === "month" ? number : 0, part === "month" ? 1 : number + 1); // 2023 began on a Sunday
      const name = format.formatToParts(date).find(({ type }) => type === part).value;
      named.set(name.toLowerCase().replace(/\.$/, ""), number);
    }
  }
  return named;
}

const known = new Map(); // a language and today -> its ways, which take some milliseconds to make

/** Returns [pattern, function from its groups to a day, whether it may stand anywhere] of all ways to name a day. */
function waysOf(language) {
  const locales = [...new Set(["en", language])];
  const [days, months] = [names(locales, "weekday", 7), names(locales, "month", 12)];
  const long = [...days.keys()].filter((name) => name.length > 4);
  const now = new Date();
  const after = (number, [years, some, alone]) => {
    const year = now.getFullYear() + number * years, month = now.getMonth() + number * some;
    const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
    const start = new Date(Date.UTC(year, month, Math.min(now.getDate(), last) + number * alone));
    return iso(start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate());
  };
  const coming = ({ weekday }) => dayAfter(((days.get(weekday) - now.getDay() + 6) % 7) + 1);
  const inNextWeek = ({ weekday }) => dayAfter(((days.get(weekday) + 6) % 7) + 7 - ((now.getDay() + 6) % 7));
  const dated = (month, { day, year }) => {
    const found = iso(year ?? now.getFullYear(), month, Number(day));
    return year || !found || found >= dayAfter(0) ? found : iso(now.getFullYear() + 1, month, Number(day));
  };
  const spoken = locales.flatMap((locale) => {
    const format = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
    const counted = Object.entries(UNITS).flatMap(([unit, steps]) => [1, 2, 5].map((number) => {
      const parts = new Intl.RelativeTimeFormat(locale).formatToParts(number, unit);
      const pattern = parts.map(({ type, value }) => (type === "integer" ? COUNT : escaped(value))).join("");
      return [pattern, (groups) => after(Number(groups.number ?? number), steps), true];
    }));
    return [
      ...[0, 1, 2].map((number) => [escaped(format.format(number, "day")), () => dayAfter(number), true]),
      [escaped(format.format(1, "week")), nextWeek, true],
      [escaped(format.format(1, "month")), () => after(1, UNITS.month), true],
      ...counted,
    ];
  });
  const parts = new Intl.DateTimeFormat(language).formatToParts(now).filter(({ type }) => type !== "year");
  const order = parts.filter(({ type }) => type === "day" || type === "month").map(({ type }) => type);
  const mark = escaped(parts.find(({ type }) => type === "literal")?.value.trim() ?? "/");
  const numeric = order.map((type) => String.raw`(?<${type}>\d{1,2})`).join(mark);
  const byName = ({ month, ...groups }) => dated(months.get(month), groups);
  const byNumber = ({ month, ...groups }) => dated(month - 1, groups);
  const month = `(?<month>${anyOf(months.keys())})\\.?`;
  return [
    [`(?<weekday>${anyOf(long)})`, coming, true],
    [`(?<weekday>${anyOf(days.keys())})\\.?`, coming, false],
    [`next (?<weekday>${anyOf(days.keys())})\\.?`, inNextWeek, true],
    ["in an? (?<unit>day|week|month|year)", ({ unit }) => after(1, UNITS[unit]), true],
    [`${NUMBER} (?:of )?${month}${YEAR}`, byName, true],
    [`${month} ${NUMBER}${YEAR}`, byName, true],
    [String.raw`(?<year>\d{4})-(?<month>\d{1,2})-(?<day>\d{1,2})`, byNumber, true],
    [`${numeric}(?:${mark}(?<year>\\d{4})?)?`, byNumber, false],
    ...spoken,
  ];
}

const whole = (pattern) =>
  new RegExp(`(?<=^|\\s)(?<lead>(?:on|by|due|this) )?(?:${pattern})(?=$|[\\s,;:!?]|\\.(?:\\s|$))`, "giu");

/** Returns {day, words, rest}, the last day that is named in a text, the words that name it, and the text without them, or
 * null. Words that often mean something else, such as "sat" or "1/2", must be at the end, or after "on", "by" or "due". */
export function dayIn(text, language = navigator.language) {
  const shown = text.replace(QUOTED, (quoted) => "\0".repeat(quoted.length));
  const name = `${language} ${dayAfter(0)}`;
  if (!known.has(name)) known.set(name, waysOf(language).map(([pattern, ...rest]) => [whole(pattern), ...rest]));
  const found = known.get(name).flatMap(([pattern, dayOf, isFree]) =>
    [...shown.matchAll(pattern)].flatMap(({ 0: words, index, groups: { lead, ...groups } }) => {
      const lower = Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, value?.toLowerCase()]));
      const isLast = !shown.slice(index + words.length).trim();
      const day = isFree || isLast || lead ? dayOf(lower) : null;
      return day ? [{ day, words, index, end: index + words.length }] : [];
    })).sort((one, other) => other.end - one.end || one.index - other.index);
  if (!found.length) return null;
  const [{ day, words, index, end }] = found;
  const rest = `${text.slice(0, index).trimEnd()} ${text.slice(end).trimStart()}`.replace(/ (?=[,;:!?.])/, "").trim();
  return /[\p{L}\p{N}]/u.test(rest) ? { day, words, rest } : null;
}
