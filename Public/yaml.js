// Reads the part of YAML 1.2 in which openapi.yaml is written: block maps and lists, flow lists and maps of scalars,
// plain and quoted scalars, the literal and the folded block. A test compares the outcome with a complete reader's.

/** Parses a text of that part of YAML. */
export function parse(text) {
  const lines = text.split("\n").map((line, number) => ({
    number: number + 1, indent: line.length - line.trimStart().length, text: line.trim(), raw: line,
  }));
  const reader = { lines, at: 0 };
  skip(reader);
  const value = block(reader, 0);
  skip(reader);
  if (reader.at < lines.length) fail(reader, "does not belong to what is above it");
  return value;
}

const peek = (reader) => reader.lines[reader.at];

function skip(reader) {
  while (reader.at < reader.lines.length && (!peek(reader).text || peek(reader).text.startsWith("#"))) reader.at += 1;
}

function fail(reader, why) {
  throw new SyntaxError(`Line ${peek(reader)?.number ?? "at the end"} ${why}`);
}

/** A map or a list whose lines are indented by at least so much. */
function block(reader, least) {
  const first = peek(reader);
  if (!first || first.indent < least) return null;
  return first.text.startsWith("- ") ? list(reader, first.indent) : map(reader, first.indent);
}

function map(reader, indent) {
  const result = {};
  for (skip(reader); peek(reader)?.indent === indent && !peek(reader).text.startsWith("- "); skip(reader)) {
    const found = /^("[^"]*"|'(?:[^']|'')*'|[^'"\s][^:]*?):(?:\s+(.*))?$/.exec(peek(reader).text);
    if (!found) fail(reader, "has no name followed by a colon");
    reader.at += 1;
    result[String(quoted(found[1]) ?? found[1])] = valueAfter(reader, indent, found[2] ?? "");
  }
  return result;
}

function list(reader, indent) {
  const result = [];
  for (skip(reader); peek(reader)?.indent === indent && peek(reader).text.startsWith("- "); skip(reader)) {
    const line = peek(reader);
    const rest = line.text.slice(2).trim();
    if (/^[\w$]+:(\s|$)/.test(rest)) {
      // A map that begins on the line of the dash: the dash counts as two spaces.
      reader.lines[reader.at] = { ...line, indent: indent + 2, text: rest };
      result.push(map(reader, indent + 2));
    } else {
      reader.at += 1;
      result.push(valueAfter(reader, indent, rest));
    }
  }
  return result;
}

function valueAfter(reader, indent, rest) {
  if (/^[|>]-?$/.test(rest)) return textBlock(reader, indent, rest);
  if (rest) return scalar(rest);
  skip(reader);
  return block(reader, indent + 1);
}

function textBlock(reader, indent, style) {
  const taken = [];
  while (peek(reader) && (!peek(reader).text || peek(reader).indent > indent)) {
    taken.push(peek(reader));
    reader.at += 1;
  }
  while (taken.length && !taken.at(-1).text) taken.pop();
  const margin = Math.min(...taken.filter((line) => line.text).map((line) => line.indent));
  const lines = taken.map((line) => line.raw.slice(margin).trimEnd());
  const end = style.endsWith("-") ? "" : "\n";
  return (style[0] === "|" ? lines.join("\n") : lines.join(" ").replaceAll("  ", "\n")) + end;
}

function scalar(text) {
  if (text.startsWith("[")) return parts(text).map(scalar);
  if (text.startsWith("{")) return Object.fromEntries(parts(text).map((part) => part.split(/:\s*/)));
  const inside = quoted(text);
  if (inside !== undefined) return inside;
  if (/^-?\d+$/.test(text)) return Number(text);
  return { true: true, false: false, null: null }[text] ?? (text === "null" ? null : text);
}

const parts = (text) => text.slice(1, -1).split(/,\s*/).filter(Boolean);

function quoted(text) {
  if (/^'.*'$/.test(text)) return text.slice(1, -1).replaceAll("''", "'");
  if (/^".*"$/.test(text)) return JSON.parse(text);
  return undefined;
}
