import { isObject, type Json, parseJsonOrNull } from "../contract/json.ts";

const shownFirst: readonly string[] = ["level", "time", "msg", "err"];

/** Formats a line of the JSON log as text for people: time, level, message, then the rest as `key=value`. */
export function formatLine(text: string): string {
  const entry = parseJsonOrNull(text);
  if (!isObject(entry)) return text;
  const { level, time, msg, err } = entry;
  const rest = Object.entries(entry)
    .filter(([key, value]) => !shownFirst.includes(key) && value !== null)
    .map(([key, value]) => `${key}=${shown(value)}`);
  const error = isObject(err) ? [`error=${shown(err.message ?? "")}`] : [];
  const head = [typeof time === "string" ? time.slice(11, 23) : "", String(level).toUpperCase().padEnd(5)];
  return `${[...head, shown(msg ?? ""), ...rest, ...error].join(" ")}\n`;
}

// Other characters are quoted, so that no value can forge a line.
function shown(value: Json): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return /^[\w.,:;/@+*()[\] '’-]*$/u.test(value) ? value : JSON.stringify(value);
}
