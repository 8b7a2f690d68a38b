import { pointerTokens } from "../contract/json-pointer.ts";
import { redactName } from "../model/connection-secret.ts";
import { escapeName } from "../model/unprintable.ts";

/** A name as messages show it: truncated, without secrets, with invisible characters and unusual spaces escaped. */
export function shown(name: string): string {
  const safe = redactName(name);
  return escapeName(safe.length > 64 ? `${safe.slice(0, 64)}…` : safe);
}

/** The name of the field or item at a pointer, quoted. */
export function named(pointer: string): string {
  const [name, list] = pointerTokens(pointer).toReversed();
  if (name === undefined) return "the document";
  return `\`${/^\d+$/.test(name) && list !== undefined ? `${shown(list)}[${name}]` : shown(name)}\``;
}

/** A longer list of names would not be readable. */
const MAX_NAMES = 24;

/** Names separated by commas, the first ones if there are many. */
export function listed(names: readonly string[]): string {
  const rest = names.length - MAX_NAMES;
  return names.slice(0, MAX_NAMES).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
