import { isObject, type Json, type JsonObject } from "../../contract/json.ts";
import { splitIdentity } from "../../core/manifest.ts";

/** The resources in a report of `plan` or `graph` whose identity or kind has a text. */
export function foundIn(report: JsonObject, text: string): JsonObject {
  const wanted = text.toLowerCase();
  const resources = resourcesIn(report, {}).filter(({ identity, kind }) =>
    [identity, kind].some((value) => String(value).toLowerCase().includes(wanted)),
  );
  return { complete: report.complete ?? true, total: resources.length, resources };
}

/** The lists of a report that have resources. */
const LISTS = ["steps", "unmanaged", "nodes"];

function resourcesIn(report: JsonObject, of: JsonObject): readonly JsonObject[] {
  // Of several targets, each has a report of its own.
  const others = listOf(report.targets).flatMap((one) =>
    isObject(one) ? resourcesIn(one, { target: one.target ?? null }) : [],
  );
  return [...LISTS.flatMap((name) => listOf(report[name]).flatMap((one) => resourceOf(one, name, of))), ...others];
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function resourceOf(one: Json, list: string, of: JsonObject): readonly JsonObject[] {
  const entry = isObject(one) ? one : { identity: one };
  const { identity, file = null, line = null, action = null } = entry;
  if (typeof identity !== "string") return [];
  const isDeclared = list !== "unmanaged" && file !== null;
  return [{ ...of, identity, kind: splitIdentity(identity).kind, declared: isDeclared, file, line, action }];
}
