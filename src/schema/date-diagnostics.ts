import type { Json } from "../contract/json.ts";
import { error, type SchemaDiagnostic, warning } from "./schema-diagnostic.ts";

/** An error when a `yyyy-mm-dd` text is no day of the calendar. */
export function impossibleDate(value: Json | undefined, pointer: string): readonly SchemaDiagnostic[] {
  if (typeof value !== "string" || isDay(value)) return [];
  return [error(pointer, "impossible-date", "there is no such day")];
}

/** A warning when a `yyyy-mm-dd` text is a past day (UTC). */
export function pastDate(value: Json | undefined, pointer: string, now: Date): readonly SchemaDiagnostic[] {
  if (typeof value !== "string" || !isDay(value) || value >= now.toISOString().slice(0, 10)) return [];
  return [warning(pointer, "past-date", "this day is over")];
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}
