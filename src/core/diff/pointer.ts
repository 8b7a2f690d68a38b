import { isObject, type Json } from "../../contract/json.ts";
import { escapePointer, pointerTokens } from "../../contract/json-pointer.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import { redactName } from "../../model/connection-secret.ts";
import { fieldShape, itemPlaces } from "../../model/normal-form.ts";

/** The JSON Pointer of a path of field names and list indexes. */
export function pointerOf(tokens: readonly string[]): string {
  return tokens.map((token) => `/${escapePointer(token)}`).join("");
}

/** A JSON Pointer as outputs may show it: names that are secrets are masked. */
export function redactPointer(pointer: string): string {
  return pointerOf(pointerTokens(pointer).map(redactName));
}

/** The value at a path of field names and list indexes; undefined when there is none. */
export function writtenValueAt(value: Json | undefined, tokens: readonly string[]): Json | undefined {
  let at = value;
  for (const token of tokens) {
    if (Array.isArray(at)) at = /^\d+$/.test(token) ? at[Number(token)] : undefined;
    else at = isObject(at) && Object.hasOwn(at, token) ? at[token] : undefined;
  }
  return at;
}

/**
 * The JSON Pointer of a field in the first of the (not normalised) values that has it, or in the first value if none
 * has it. `tokens` is the path in normal form: items of keyed lists are named by their key.
 */
export function pointerIn(shape: Shape, values: readonly (Json | undefined)[], tokens: readonly string[]): string {
  let nearest = tokens;
  for (const [index, value] of values.entries()) {
    const { path, isFound } = locate(shape, value, tokens);
    if (isFound) return pointerOf(path);
    if (index === 0) nearest = path;
  }
  return pointerOf(nearest);
}

function locate(
  shape: Shape,
  value: Json | undefined,
  tokens: readonly string[],
): { readonly path: readonly string[]; readonly isFound: boolean } {
  const path: string[] = [];
  let [at, inner] = [shape, value];
  for (const [depth, token] of tokens.entries()) {
    const step = childAt(at, inner, token);
    if (step === null) return { path: [...path, ...tokens.slice(depth)], isFound: false };
    path.push(step.name);
    [at, inner] = [step.shape, step.value];
  }
  return { path, isFound: inner !== undefined };
}

function childAt(
  shape: Shape,
  value: Json | undefined,
  token: string,
): { readonly name: string; readonly shape: Shape; readonly value: Json | undefined } | null {
  if (Array.isArray(value)) {
    if (shape.is !== "list") return null;
    const place = itemPlaces(shape, value).get(token);
    return place === undefined ? null : { name: String(place), shape: shape.items, value: value[place] };
  }
  if (!isObject(value) || !Object.hasOwn(value, token)) return null;
  return { name: token, shape: fieldShape(shape, token), value: value[token] };
}
