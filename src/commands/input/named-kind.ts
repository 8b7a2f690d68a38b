import { HoldfastError } from "../../core/errors.ts";
import { printable } from "../../render/escape.ts";
import { closestName } from "../../schema/closest-name.ts";
import { manifestTypes } from "../../schema/schemas.ts";

/** The error for a name that no kind has, with the kind that it most likely means, or else all of them. */
export function unknownKind(name: string, others: readonly string[] = []): HoldfastError {
  const names = [...manifestTypes, ...others];
  const near = closestName(name, names);
  const hint = near === undefined ? `the kinds are ${names.join(", ")}` : `did you mean ${near}?`;
  return new HoldfastError("invalid", `there is no kind ${printable(name)}`, { hint });
}
