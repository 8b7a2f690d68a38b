import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { error, type SchemaDiagnostic, warning } from "./schema-diagnostic.ts";

/** The context that a rule may use besides the manifest. */
export type RuleContext = {
  /** The manifest of the cluster that the resource's workspace is in, if known. */
  readonly cluster?: JsonObject | undefined;
  /** The current time; without it no date counts as past. */
  readonly now?: Date;
};

/** A rule that a JSON Schema cannot express. */
export type Rule = (manifest: JsonObject, context: RuleContext) => readonly SchemaDiagnostic[];

/** The objects of a list that match, each with its index; empty if the field is not a list. */
export function objectsOf(
  list: Json | undefined,
  matches: (item: JsonObject) => boolean = () => true,
): readonly { readonly item: JsonObject; readonly index: number }[] {
  const items: { readonly item: JsonObject; readonly index: number }[] = [];
  if (!Array.isArray(list)) return items;
  for (const [index, item] of list.entries()) if (isObject(item) && matches(item)) items.push({ item, index });
  return items;
}

/** An error for every item of a list that has the same key as an earlier one. */
export function duplicates(
  list: Json | undefined,
  at: (index: number) => string,
  keyOf: (item: JsonObject) => string | undefined,
  what: string,
): readonly SchemaDiagnostic[] {
  if (!Array.isArray(list) || list.length < 2) return [];
  const seen = new Map<string, number>();
  return objectsOf(list).flatMap(({ item, index }) => {
    const name = keyOf(item);
    const first = name === undefined ? undefined : seen.get(name);
    if (name !== undefined && first === undefined) seen.set(name, index);
    return first === undefined ? [] : [error(at(index), "duplicate-item", `item ${first} has the same ${what}`)];
  });
}

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
