// Days that a person writes within a text: "friday", "3 dec", "in two weeks", "every monday". Names and orders are those of English and of the
// person's first language, as Intl knows them. A wrong day is worse than none, so words that may mean something else name no day.

import { dayAfter, nextWeek } from "./days.js";
import { beginning, firstDate, UNITS, WEEK, WEEKDAYS } from "./repeat.js";

// What Intl does not know, in the languages for which it is known here. `lead` may come before any day, `article` before a date
// and `this` before a weekday: they belong to the day. After `every`, the task comes again on a weekday. `one` to ten are the words of a count.
const WORDS = {
  en: { lead: "on|by", article: "the", this: "this", every: "every|each", one: "an?|one", numbers: "two three four five six seven eight nine ten" },
  de: { lead: "am", article: "den", this: "diesen", every: "jeden", one: "eine[mr]", numbers: "zwei drei vier fünf sechs sieben acht neun zehn" },
  fr: { lead: "ce", article: "le", this: "ce", every: "chaque", one: "une?", numbers: "deux trois quatre cinq six sept huit neuf dix" },
  es: { lead: "el", article: "el", this: "este", every: "cada", one: "una?", numbers: "dos tres cuatro cinco seis siete ocho nueve diez" },
};
const MORE_DAYS = { tues: 2, weds: 3, thur: 4, thurs: 4 };
const MORE_MONTHS = { sept: 8 };
// Words before a day with which the day is no due date ("before friday"), or without which the text would be damaged ("for friday").
const KEEPING = new RegExp(String.raw`(?:^|\s)(?:(?:every|each|jede[nrs]?|alle|chaque|tous|toutes|cada|todos)(?:\s\d+)?(?:\s\S+)?|${[
  "from|to|before|after|until|till|since|past|through|between|except|not|than|of|for|about|the|an?|my|our|your|his|her|their|last|next|other",
  "first|second|third|and|or|is|are|was|were|be|black|good|easter|cyber|ash|super|version|release|v|room|chapter|section|page|part|to",
  "vo[nm]|bis|vor|nach|seit|ab|zwischen|außer|nicht|als|für|über|zum?|zur|de[rmns]|die|das|eine?n?|guten|am|und|oder|raum|zimmer|kapitel|teil|seite",
  "letzte[nr]?|nächste[nr]?|kommende[nr]?|vergangene[nr]?|d[eu]|des|à|aux?|avant|après|depuis|jusqu['’]à|jusqu['’]au|dès|entre|sauf|pas|pour|sur",
  "l[ea]s?|une?|mon|ton|son|notre|votre|dernière?|prochaine?|et|ou|salle|del|desde|al?|antes|después|hasta|salvo|no|para|sobre|con|el|los|una?",
  "mi|tu|su|último|próximo|pasado|primer|y|o|sala|versión",
].join("|")})\s+$`, "iu");
const KEEPING_AFTER = /^\s+(?:prochaine?|dernière?|próximo|pasado|que viene|onwards?|week|or later|oder später)(?=$|[\s,;:.!?])/iu;
const UNSURE = new Set(["may", "march", "mar", "mars", "mer", "jeu", "sam", "so"]); // words or names, too
const TIME = /^,?\s+(?:at |um |à |a las? )?(?:\d{1,2}(?::\d\d)?\s?(?:[ap]m|h|uhr)|\d{1,2}[:h]\d\d)(?=$|[\s,;:.!?])/iu;
const NUMBER = String.raw`(?<day>\d{1,2})(?:st|nd|rd|th|er|\.)?`;
const YEAR = String.raw`(?:,? (?<year>\d{4}))?`;
const QUOTED = /"[^"]*"|“[^”]*”|„[^“]*“|«[^»]*»|(?<!\S)'[^']*'/g; // what stands in quotes names no day

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const anyOf = (words) => [...words].sort((a, b) => b.length - a.length).map(escaped).join("|");
const iso = (year, month, day) => {
  const date = new Date(Date.UTC(year, month, day));
  return date.getUTCMonth() === month && date.getUTCDate() === day ? date.toISOString().slice(0, 10) : null;
};

/** Returns a map from the names of so many days or months to their numbers, in these languages and forms. */
function names(locales, part, count, forms = ["long", "short"]) {
  const named = new Map();
  for (const [locale, form] of locales.flatMap((name) => forms.map((form) => [name, form]))) {
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

// A way to name a day: [pattern, function from its groups to a day, how free it is]. Words that are FREE name a day anywhere,
// words of the EDGE at the end, before a time, or after a word that leads to a day, LED words only after such a word.
const [FREE, EDGE, LED, NEVER] = [3, 2, 1, 0];

function waysOf(language) {
  const locales = [...new Set(["en", language])];
  const words = [...new Set(["en", language.split("-")[0]])].map((name) => WORDS[name]).filter(Boolean);
  const join = (name) => words.map((each) => each[name]).join("|");
  const days = new Map([...names(locales, "weekday", 7), ...Object.entries(MORE_DAYS)]);
  const months = new Map([...names(locales, "month", 12), ...Object.entries(MORE_MONTHS)]);
  const long = names(locales, "weekday", 7, ["long"]);
  const english = new Map([...names(["en"], "weekday", 7), ...Object.entries(MORE_DAYS)]);
  const counts = new Map(words.flatMap(({ numbers }) => numbers.split(" ").map((word, index) => [word, index + 2])));
  const count = `(?<number>\\d{1,3}|${anyOf(counts.keys())}|${join("one")})`;
  const counted = (word) => Number(word) || counts.get(word) || 1;
  const now = new Date();
  const after = (number, frequency) => firstDate(`FREQ=${frequency};INTERVAL=${number}`, dayAfter(0), dayAfter(0));
  const coming = ({ weekday }) => dayAfter(((days.get(weekday) - now.getDay() + 6) % 7) + 1);
  const inNextWeek = ({ weekday }) => dayAfter(((days.get(weekday) + 6) % 7) + 7 - ((now.getDay() + 6) % 7));
  /** Returns the day, which has not passed; a weekday beside it that is another day makes both unclear. */
  const dated = (month, { day, year, weekday }) => {
    const within = (year) => iso(year, month, Number(day));
    const found = within(year ? 2000 + (year % 2000) : now.getFullYear());
    const coming = year || !found || found >= dayAfter(0) ? found : within(now.getFullYear() + 1);
    if (!coming || coming < dayAfter(0)) return null;
    return weekday && new Date(coming).getUTCDay() !== days.get(weekday) ? "unclear" : coming;
  };
  const spoken = locales.flatMap((locale) => {
    const format = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
    const isSure = ({ number }) => (/^$|^\D/.test(number ?? "") && !counts.has(number) ? EDGE : FREE);
    return [
      ...[0, 1, 2].map((number) => [escaped(format.format(number, "day")), () => dayAfter(number), FREE]),
      [escaped(format.format(1, "week")), nextWeek, FREE],
      [escaped(format.format(1, "month")), () => after(1, "MONTHLY"), FREE],
      ...Object.entries(UNITS).flatMap(([frequency, unit]) => [1, 2, 5].map((number) => {
        const parts = new Intl.RelativeTimeFormat(locale).formatToParts(number, unit);
        const pattern = parts.map(({ type, value }) => (type === "integer" ? count : escaped(value))).join("");
        return [pattern, (groups) => after(counted(groups.number ?? String(number)), frequency), isSure];
      })),
    ];
  });
  const parts = new Intl.DateTimeFormat(language).formatToParts(now).filter(({ type }) => type !== "year");
  const order = parts.filter(({ type }) => type === "day" || type === "month").map(({ type }) => type);
  const mark = escaped(parts.find(({ type }) => type === "literal")?.value.trim() ?? "/");
  const numeric = order.map((type) => String.raw`(?<${type}>\d{1,2})`).join(mark);
  const byName = ({ month, ...groups }) => dated(months.get(month), groups);
  const byNumber = ({ month, ...groups }) => dated(month - 1, groups);
  const isFraction = ({ day, month }) => Math.max(day, month) <= 4 || (Number(day) === 24 && Number(month) === 7); // "24/7"
  const month = `(?<month>${anyOf(months.keys())})\\.?`;
  const beside = `(?:(?<weekday>${anyOf(days.keys())})\\.?,? (?:(?:${join("article")}) )?)?`;
  const ofMonth = ({ month }) => (UNSURE.has(month) ? EDGE : FREE);
  const ofShort = ({ weekday }, shown) => {
    if (UNSURE.has(weekday)) return shown.includes(".") ? EDGE : NEVER;
    return english.has(weekday) || shown.includes(".") || (weekday.length === 2 && /^\p{Lu}/u.test(shown)) ? EDGE : LED;
  };
  return [
    [`(?<weekday>${anyOf(long.keys())})`, coming, FREE, "this"],
    [`(?<weekday>${anyOf(days.keys())})\\.?`, coming, ofShort, "this"],
    [`next (?<weekday>${anyOf(days.keys())})\\.?`, inNextWeek, FREE, "none"],
    [`${beside}${NUMBER} (?:(?:of|de) )?${month}${YEAR}`, byName, ofMonth, "article"],
    [`${beside}${month} ${NUMBER}${YEAR}`, byName, ofMonth, "article"],
    [String.raw`${beside}(?<year>\d{4})-(?<month>\d{1,2})-(?<day>\d{1,2})`, byNumber, FREE, "article"],
    [`${beside}${numeric}${mark}(?<year>\\d{4}|\\d\\d)`, byNumber, ({ year }) => (year.length === 4 || mark === "/" ? FREE : EDGE), "article"],
    [`${beside}${numeric}`, byNumber, (groups) => (mark === "/" && !isFraction(groups) ? EDGE : LED), "article"],
    [String.raw`${beside}(?<day>\d{1,2})\.(?<month>\d{1,2})\.`, byNumber, EDGE, "article"],
    ["(?:the )?day after tomorrow", () => dayAfter(2), FREE, "none"],
    ["tmrw?|tmw", () => dayAfter(1), FREE, "none"],
    ...rules({ days: new Map([...long, ...english]), every: join("every"), count, counted }),
    ...spoken.map((way) => [...way, "none"]),
  ].map(([pattern, dayOf, freedom, follows]) => {
    const leads = follows === "none" ? "by" : join("lead");
    const article = follows === "none" ? "" : `(?:(?:${join(follows)}) )?`;
    return [whole(`(?<lead>(?:due )?(?:(?:${leads}) )?${article})(?:${pattern})`), dayOf, freedom];
  });
}

const PLACES = { first: "1", second: "2", third: "3", fourth: "4", last: "-1" };

/** Returns the ways to write how often a task comes again, as rules. "every second friday" is none: that may be every other one. */
function rules({ days, every, count, counted }) {
  const day = `(?:${anyOf(days.keys())})`;
  const listed = `(?<listed>${day}(?:(?:, |,? and | & )${day})*)`;
  const namesOf = (words) => WEEK.filter((_, index) => words.split(/[ ,&]+/).some((word) => days.get(word) === (index + 1) % 7)).join(",");
  const again = (units, adverbs) => `(?:(?:every|each) (?:(?:${count}|(?<other>other)) )?(?<unit>${units})s?|(?<adverb>${adverbs}))`;
  const frequency = ({ unit, adverb, number, other }) => {
    const name = adverb?.toUpperCase() ?? Object.keys(UNITS).find((name) => UNITS[name] === unit);
    return `FREQ=${name}${counted(other ? 2 : number) > 1 ? `;INTERVAL=${counted(other ? 2 : number)}` : ""}`;
  };
  const isSure = ({ number, day = 1 }) => (Number(number) === 0 || day < 1 || day > 31 ? NEVER : EDGE);
  return [
    [`(?:${every}) ${listed}`, ({ listed }) => `FREQ=WEEKLY;BYDAY=${namesOf(listed)}`, EDGE],
    [`(?:every|each) other ${listed}`, ({ listed }) => `FREQ=WEEKLY;INTERVAL=2;BYDAY=${namesOf(listed)}`, EDGE],
    ["(?:every|each) (?:weekday|workday)", () => WEEKDAYS, EDGE],
    [again("day|week|month|year", "daily|weekly|monthly|yearly"), frequency, isSure],
    [`${again("week", "weekly")} on ${listed}`, (groups) => `${frequency(groups)};BYDAY=${namesOf(groups.listed)}`, isSure],
    [`${again("month", "monthly")} on the ${NUMBER}`, (groups) => `${frequency(groups)};BYMONTHDAY=${Number(groups.day)}`, isSure],
    [`(?:every|each) (?:(?<place>first|last)|(?<unsure>second|third|fourth)) (?<weekday>${day})(?<month> of (?:the|each|every) month)?`,
      ({ place, unsure, weekday }) => `FREQ=MONTHLY;BYDAY=${PLACES[place ?? unsure]}${namesOf(weekday)}`,
      ({ unsure, month }) => (unsure && !month ? NEVER : EDGE)],
  ].map((way) => [...way, "none"]);
}

const whole = (pattern) => new RegExp(`(?<=^|\\s)${pattern}(?=$|[\\s,;:!?]|\\.(?:\\s|$))`, "giu");

/** Returns what may be days in a text, in their order, the longest of those that overlap: {day, words, index, end}. */
function candidates(shown, ways) {
  const found = ways.flatMap(([pattern, dayOf, freedom]) =>
    [...shown.matchAll(pattern)].flatMap(({ 0: words, index, groups: { lead, ...groups } }) => {
      const lower = Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, value?.toLowerCase()]));
      const end = index + words.length;
      const isEdge = !shown.slice(end).trim() || TIME.test(shown.slice(end)) || (words.endsWith(".") && index === 0);
      const free = typeof freedom === "function" ? freedom(lower, words.slice(lead.length)) : freedom;
      const day = free === FREE || (free === EDGE && isEdge) || (free !== NEVER && lead) ? dayOf(lower) : null;
      return day ? [{ day, words, index, end }] : [];
    })).sort((one, other) => one.index - other.index || other.end - one.end);
  return found.filter(({ index }, place) => !found.slice(0, place).some(({ end }) => index < end));
}

/** Returns the day that a text names, the rule if the task comes again, the words that say so, and the text without these words, as
 * {day, repeat, words, rest}, or null if there is no day, or several, or if the words around a day say that the task is not due then. */
export function dayIn(text, language = navigator.language) {
  const shown = text.replace(QUOTED, (quoted) => "\0".repeat(quoted.length));
  const name = `${language} ${dayAfter(0)}`;
  if (!known.has(name)) known.set(name, waysOf(language));
  const found = candidates(shown, known.get(name));
  if (!found.length || found.some(({ day }) => day === "unclear" || day !== found[0].day)) return null;
  if (found.some(({ index, end }) => KEEPING.test(shown.slice(0, index)) || KEEPING_AFTER.test(shown.slice(end)))) return null;
  const { day: named, words, index, end } = found.at(-1);
  const [day, repeat] = named.startsWith("FREQ") ? [beginning(named), named] : [named];
  const [before, behind] = [text.slice(0, index).trimEnd(), text.slice(end).trimStart()];
  const rest = (before ? `${before} ${behind}` : behind.replace(/^[\s,;:.!–-]+/, "")).replace(/ (?=[,;:!?.])/, "").replace(/[\s,;:–-]+$/, "");
  return /[\p{L}\p{N}]/u.test(rest) ? { day, repeat, words, rest } : null;
}
