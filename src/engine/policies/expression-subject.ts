import { isObject, type Json, type JsonObject } from "../../contract/json.ts";

/** What an expression is evaluated of, in the values of the language. */
export type ExpressionSubject = { readonly [name: string]: unknown };

/** The values of the language for some JSON. */
export function expressionSubject(subject: JsonObject): ExpressionSubject {
  return Object.fromEntries(Object.entries(subject).map(([name, value]) => [name, celValue(value)]));
}

// Whole numbers are `int`, others `double`. Objects are maps, so that no name of a field is special.
function celValue(value: Json): unknown {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(celValue);
  if (!isObject(value)) return value;
  return new Map(Object.entries(value).map(([name, field]) => [name, celValue(field)]));
}
