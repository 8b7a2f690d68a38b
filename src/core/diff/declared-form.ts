import { equal, isObject, type Json, type JsonObject } from "../../contract/json.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import { differences } from "../../model/differences.ts";
import { children, fieldShape, valueAt } from "../../model/normal-form.ts";
import { keepIgnored } from "../ignore/keep-ignored.ts";
import type { Kind } from "../kind.ts";
import { contentOf, withoutVersion } from "./compared-content.ts";
import { withDefaults } from "./expected-live.ts";
import { mergeIntoWritten } from "./merge-into-written.ts";

/**
 * The manifests that would declare a live resource as it is, the shortest first: without its version, without what means
 * nothing, without what a default gives. A schema may require what the shorter ones leave out.
 */
export function* declaredForms(kind: Kind, live: JsonObject): Generator<JsonObject> {
  const content = contentOf(kind, live);
  if (!isObject(content)) return;
  const forms = [() => withoutDefaults(kind.shape, content), () => content, () => withoutVersion(kind, live)];
  for (const form of forms) {
    const value = form();
    if (isObject(value) && declares(kind, value, live)) yield value;
  }
}

/** Whether a manifest declares a live resource as it is, so that a plan without records finds no difference. */
export function declares(kind: Kind, manifest: JsonObject, live: JsonObject): boolean {
  const given = contentOf(kind, manifest);
  const found = differences(kind.shape, contentOf(kind, live), withDefaults(kind.shape, given));
  // What live lacks and no manifest says is a default that this control plane does not fill in.
  return found.every(({ tokens, before }) => before === undefined && valueAt(kind.shape, given, tokens) === undefined);
}

/**
 * The written manifest, changed so that these fields are as live has them; all others stay. What is new comes without what a
 * default gives.
 */
export function takeLive(
  kind: Kind,
  written: JsonObject,
  live: JsonObject,
  fields: readonly (readonly string[])[],
): JsonObject {
  const { shape } = kind;
  const content = contentOf(kind, live);
  const short = content === undefined ? undefined : withoutDefaults(shape, content);
  const given = contentOf(kind, written);
  const parts = new Map(
    fields.map((tokens) => partOf(shape, [given, content], tokens)).map((part) => [part.join("\0"), part]),
  );
  let wanted = given;
  for (const part of parts.values()) {
    const isWhole = valueAt(shape, given, part) === undefined || !fields.includes(part);
    wanted = keepIgnored(shape, wanted, isWhole ? short : content, [part]);
  }
  const merged = mergeIntoWritten(shape, withoutVersion(kind, written), wanted);
  if (!isObject(merged)) throw new TypeError("a manifest without content");
  const { version } = written;
  return kind.hasVersions && version !== undefined ? { ...merged, version } : merged;
}

// What one side lacks is taken as a whole, and so are lists whose items have no names.
function partOf(
  shape: Shape,
  [mine, theirs]: readonly [Json | undefined, Json | undefined],
  tokens: readonly string[],
): readonly string[] {
  let [at, left, right] = [shape, mine, theirs];
  for (const [depth, token] of tokens.entries()) {
    if (at.is === "list" && at.key === undefined) return tokens.slice(0, depth);
    const [a, b] = [children(at, left)?.get(token), children(at, right)?.get(token)];
    if (a === undefined || b === undefined) return depth + 1 === tokens.length ? tokens : tokens.slice(0, depth + 1);
    [at, left, right] = [a.shape, a.value, b.value];
  }
  return tokens;
}

function withoutDefaults(shape: Shape, value: Json): Json {
  if (Array.isArray(value))
    return shape.is === "list" ? value.map((item) => withoutDefaults(shape.items, item)) : value;
  if (shape.is !== "object" || !isObject(value)) return value;
  const fields = Object.entries(value).flatMap(([name, field]): [string, Json][] => {
    const inner = fieldShape(shape, name);
    return inner.default !== undefined && equal(inner.default, field) ? [] : [[name, withoutDefaults(inner, field)]];
  });
  // Without any field, the object would mean nothing, and its defaults would not be filled in.
  return fields.length === 0 ? value : Object.fromEntries(fields);
}
