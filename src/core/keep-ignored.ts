import { isObject, type Json, type JsonObject } from "../contract/json.ts";

/**
 * The manifest to send when somebody else keeps some of its fields: desired, with those fields as live has them, since
 * a PUT replaces the whole. Follows object fields; an ignored item of a list is sent as declared.
 */
export function keepIgnored(desired: JsonObject, live: JsonObject, paths: readonly (readonly string[])[]): JsonObject {
  return paths.reduce((manifest, path) => replace(manifest, live, path), desired);
}

function replace(desired: JsonObject, live: JsonObject, [step, ...rest]: readonly string[]): JsonObject {
  if (step === undefined) return desired;
  const [mine, theirs] = [desired[step], live[step]];
  if (rest.length === 0) return withField(desired, step, theirs);
  if (!isObject(mine) && !isObject(theirs)) return desired;
  return withField(desired, step, replace(isObject(mine) ? mine : {}, isObject(theirs) ? theirs : {}, rest));
}

function withField(object: JsonObject, name: string, value: Json | undefined): JsonObject {
  const { [name]: _, ...others } = object;
  return value === undefined ? others : { ...others, [name]: value };
}
