import { HoldfastError } from "../../core/errors.ts";
import { printable } from "../../render/escape.ts";
import { kindHint } from "../../schema/closest-name.ts";
import { manifestTypes } from "../../schema/schemas.ts";

/** The error for a name that no kind has, with the kind that it most likely means, or else all of them. */
export function unknownKind(name: string, others: readonly string[] = []): HoldfastError {
  return new HoldfastError("invalid", `there is no kind ${printable(name)}`, {
    hint: kindHint(name, [...manifestTypes, ...others]),
  });
}
