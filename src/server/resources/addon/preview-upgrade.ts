import type { Addon, AddonDifference, AddonHelmManifest } from "../../../contract/generated/resources.ts";
import { equal, isObject, type Json, type JsonObject, own } from "../../../contract/json.ts";
import { escapePointer } from "../../../contract/json-pointer.ts";
import type { AddonEntry } from "./catalogue.ts";
import { proposedManifest } from "./helm-manifest.ts";

type Upgrades = Addon["upgrades"];

/** What an upgrade of an addon to the newest release would change; `current` is undefined when it is not installed. */
export function previewUpgrade(entry: AddonEntry, current: AddonHelmManifest | undefined): Upgrades {
  const [newest] = entry.releases;
  if (current === undefined) return settled(undefined, proposedManifest(entry, newest));
  if (!isOlder(current.source.version, newest.version)) return settled(current, current);
  // For an unknown version, all values that differ count as changes of the operator, and are kept.
  const base = entry.releases.find(({ version }) => version === current.source.version) ?? newest;
  const { merged, conflicts } = mergeObjects(base.values, current.values, newest.values, "/values");
  const source = { ...current.source, version: newest.version };
  const desired: AddonHelmManifest = { ...current, source, values: merged };
  return {
    diff: addonDifferences(current, desired),
    currentManifest: current,
    desiredManifest: desired,
    upgradePossible: true,
    conflictFields: conflicts,
    hasConflict: conflicts.length > 0,
  };
}

function settled(currentManifest: AddonHelmManifest | undefined, desiredManifest: AddonHelmManifest): Upgrades {
  const nothing = { diff: [], upgradePossible: false, conflictFields: [], hasConflict: false };
  return { ...nothing, ...(currentManifest !== undefined && { currentManifest }), desiredManifest };
}

type Merge<Value> = { readonly merged: Value; readonly conflicts: readonly string[] };

function mergeObjects(base: JsonObject, current: JsonObject, desired: JsonObject, pointer: string): Merge<JsonObject> {
  const keys = [...new Set([...Object.keys(current), ...Object.keys(desired)])].toSorted();
  const members = keys.map((key) => {
    const at = `${pointer}/${escapePointer(key)}`;
    return [key, merge(own(base, key), own(current, key), own(desired, key), at)] as const;
  });
  const kept = members.flatMap(([key, { merged }]) => (merged === undefined ? [] : [[key, merged] as const]));
  return { merged: Object.fromEntries(kept), conflicts: members.flatMap(([, { conflicts }]) => conflicts) };
}

/** Three-way merge: changes of the operator are kept; when both sides changed, the release wins and it is a conflict. */
function merge(
  base: Json | undefined,
  current: Json | undefined,
  desired: Json | undefined,
  pointer: string,
): Merge<Json | undefined> {
  if (equal(current, base) || equal(current, desired)) return { merged: desired, conflicts: [] };
  if (equal(desired, base)) return { merged: current, conflicts: [] };
  if (isObject(current) && isObject(desired)) {
    return mergeObjects(isObject(base) ? base : {}, current, desired, pointer);
  }
  return { merged: desired, conflicts: [pointer] };
}

/** Whether a numeric version is older than another; an unparsable version is older than any. */
export function isOlder(version: string, other: string): boolean {
  const [one, two] = [numbersOf(version), numbersOf(other)];
  const at = two.findIndex((number, place) => number !== (one[place] ?? -1));
  return at >= 0 && (one[at] ?? -1) < (two[at] ?? -1);
}

function numbersOf(version: string): readonly number[] {
  const numbers = /^v?(\d+(?:\.\d+)*)/.exec(version)?.[1] ?? "";
  return numbers === "" ? [] : numbers.split(".").map(Number);
}

/** The differences between two objects by key; lists are compared as a whole. */
export function addonDifferences(current: JsonObject, desired: JsonObject): readonly AddonDifference[] {
  const keys = [...new Set([...Object.keys(current), ...Object.keys(desired)])].toSorted();
  return keys.flatMap((key) => difference(key, own(current, key), own(desired, key)));
}

function difference(key: string, old: Json | undefined, value: Json | undefined): readonly AddonDifference[] {
  if (equal(old, value)) return [];
  const type = old === undefined ? "ADD" : value === undefined ? "REMOVE" : "CHANGE";
  const changes = isObject(old) && isObject(value) ? addonDifferences(old, value) : [];
  return [{ type, key, ...(value !== undefined && { value }), ...(old !== undefined && { oldValue: old }), changes }];
}
