import { dirname } from "node:path";
import type { Identity } from "../core/manifest.ts";
import { printable } from "./escape.ts";
import { linesText, sentenceText } from "./wrap.ts";

/** Where a one-time token was stored. */
export type TokenLocation = { readonly identity: Identity; readonly location: string };

/** Tokens that are named one by one; of more, the folders that they are in. */
const SHOWN = 10;

/** Where one-time tokens were stored, one on each line; a path is never broken. */
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
