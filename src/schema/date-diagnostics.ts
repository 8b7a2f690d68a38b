import type { Json } from "../contract/json.ts";
import { error, type SchemaDiagnostic, warning } from "./schema-diagnostic.ts";

/** An error when a `yyyy-mm-dd` string is not a day of the calendar. */
export function impossibleDate(value: Json | undefined, pointer: string): readonly SchemaDiagnostic[] {
  if (typeof value !== "string" || isDay(value)) return [];
  return [error(pointer, "impossible-date", "this date does not exist")];
}

/** A warning when a `yyyy-mm-dd` string is a past day (UTC). */
export function pastDate(value: Json | undefined, pointer: string, now: Date): readonly SchemaDiagnostic[] {
  if (typeof value !== "string" || !isDay(value) || value >= now.toISOString().slice(0, 10)) return [];
  return [warning(pointer, "past-date", "this date is in the past")];
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}
