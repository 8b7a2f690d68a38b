import { HoldfastError } from "../../core/errors.ts";
import type { KeyPlace } from "../../source/read-config.ts";
import { placed } from "./configured-places.ts";

/** The error for a configuration whose targets cannot be used, with the place of the key that is wrong. */
export function refusedConfig(why: string, hint: string, place: KeyPlace | null = null): HoldfastError {
  return new HoldfastError("invalid", `the configuration is refused: ${placed(why, place)}`, { hint });
}

/** Refuses two entries of one name. */
export function requireDistinct(what: string, entries: readonly { readonly name: string }[]): void {
  const names = entries.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw refusedConfig(`there are two ${what}s called ${twice}`, "rename one of them");
}
