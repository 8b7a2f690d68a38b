import { HoldfastError } from "../../core/errors.ts";

/** The error for flags and arguments without which a command cannot begin: it names all of those that are missing. */
export function missingFlags(needed: { readonly [flag: string]: unknown }, hint: string): HoldfastError {
  const missing = Object.keys(needed).filter((flag) => needed[flag] === undefined);
  const are = missing.length === 1 ? "is" : "are";
  const [last = "", ...others] = missing.toReversed();
  const all = others.length === 0 ? last : `${others.toReversed().join(", ")} and ${last}`;
  return new HoldfastError("invalid", `${all} ${are} missing`, { hint });
}
