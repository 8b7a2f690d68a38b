import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type AgeIdentities, parseIdentities } from "../../../src/sops/age-identities.ts";

/**
 * A file of `files/`. The data keys there are encrypted by the program `age` 1.1.1, and the values by a script of Python that
 * follows the description of the format: they share no code with what is tested. Their identities are for tests alone.
 */
export function fixture(name: string): Buffer {
  return readFileSync(fileURLToPath(new URL(`files/${name}`, import.meta.url)));
}

export function fixtureText(name: string): string {
  return fixture(name).toString("utf8");
}

export const owner: AgeIdentities = identityIn("identity.txt");
export const another: AgeIdentities = identityIn("identity-of-another.txt");
export const nobody: AgeIdentities = identityIn("identity-of-nobody.txt");

function identityIn(name: string): AgeIdentities {
  return parseIdentities(fixtureText(name), name);
}

/** What no message may have: the values of the files, and the identities. */
export const confidential: readonly string[] = [
  "correct horse",
  "nested secret",
  "pässwörd",
  "5432",
  "alpha",
  "gamma",
  ...[owner, another, nobody].flatMap(({ identities }) => identities.map((identity) => identity.open())),
];
