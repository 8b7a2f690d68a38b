import { dirname } from "node:path";
import type { Identity } from "../core/manifest.ts";
import { printable } from "./escape.ts";
import { linesText, sentenceText } from "./wrap.ts";

/** The location of a stored one-time token. */
export type TokenLocation = { readonly identity: Identity; readonly location: string };

/** Maximum number of tokens listed one by one; for the rest, only their folders. */
const SHOWN = 10;

/** The locations of stored one-time tokens, one per line; a path is never broken. */
export function tokenLocationsText(tokens: readonly TokenLocation[], width: number): string {
  const shown = tokens
    .slice(0, SHOWN)
    .map(({ identity, location }) => sentenceText(`token of ${printable(identity)}: ${printable(location)}`, width));
  const rest = tokens.slice(SHOWN);
  if (rest.length === 0) return shown.join("");
  const folders = [...new Set(rest.map(({ location }) => dirname(location)))].map((folder) =>
    linesText(printable(folder), { indent: "  ", width }),
  );
  return `${shown.join("")}… and ${rest.length} more ${rest.length === 1 ? "token" : "tokens"}, in\n${folders.join("")}`;
}
