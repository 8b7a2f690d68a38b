import { globMatcher } from "../../model/glob.ts";
import type { ConfigFile, KeyPlace } from "../../source/read-config.ts";
import type { TargetEntry } from "./expand-pattern.ts";

/**
 * Finds where the configuration has a key of a target, an item of its list where one is asked for, or the target if it
 * lacks the key; null if it is unknown.
 */
export type PlaceOf = (target: string, key: keyof TargetEntry, item?: number) => KeyPlace | null;

/** The places of the targets in these files; a target of a pattern has those of the pattern. */
export function placesOfTargets(files: readonly ConfigFile[]): PlaceOf {
  return (target, key, item) => {
    for (const file of files) {
      const names = (file.operator.targets ?? []).map(({ name }) => name);
      const own = names.indexOf(target);
      const at = own < 0 ? names.findIndex((name) => standsFor(name, target)) : own;
      const found = placeIn([file], "targets", at, item === undefined ? key : `${key}/${item}`);
      if (found !== null) return found;
    }
    return null;
  };
}

function standsFor(pattern: string, target: string): boolean {
  return pattern.includes("{") && globMatcher(pattern.replaceAll(/\{[^{}]*\}/g, "*"))(target);
}

/** Where these files have a key of an entry of a list, or the entry if it lacks the key; null if they have neither. */
export function placeIn(
  files: readonly ConfigFile[],
  list: "targets" | "promotions",
  at: number,
  key: string,
): KeyPlace | null {
  const pointer = `/${list}/${at}`;
  const [whole = key] = key.split("/");
  for (const { places } of files) {
    const found = places.get(`${pointer}/${key}`) ?? places.get(`${pointer}/${whole}`) ?? places.get(pointer);
    if (found !== undefined) return found;
  }
  return null;
}

/** A text about a place, which begins with it. */
export function placed(text: string, place: KeyPlace | null): string {
  return place === null ? text : `${place.file}:${place.line}:${place.column}: ${text}`;
}
