import { equal, isObject, type Json, type JsonObject } from "../../contract/json.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import { fieldShape, valueAt } from "../../model/normal-form.ts";
import type { Kind } from "../kind.ts";
import { contentOf, withoutVersion } from "./compared-content.ts";
import { differences } from "./differences.ts";
import { withDefaults } from "./expected-live.ts";

/**
 * The manifests that would declare a live resource as it is, the shortest first: without its version, without what means
 * nothing, without what a default gives. A schema may require what the shorter ones leave out.
 */
export function declaredForms(kind: Kind, live: JsonObject): readonly JsonObject[] {
  const content = contentOf(kind, live);
  if (!isObject(content)) return [];
  const forms = [withoutDefaults(kind.shape, content), content, withoutVersion(kind, live)];
  return forms.filter((form) => isObject(form)).filter((form) => declares(kind, form, live));
}

/** Whether a manifest declares a live resource as it is, so that a plan without records finds no difference. */
export function declares(kind: Kind, manifest: JsonObject, live: JsonObject): boolean {
  const given = contentOf(kind, manifest);
  const found = differences(kind.shape, contentOf(kind, live), withDefaults(kind.shape, given));
  // What live lacks and no manifest says is a default that this control plane does not fill in.
  return found.every(({ tokens, before }) => before === undefined && valueAt(kind.shape, given, tokens) === undefined);
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
