import { resolve } from "node:path";
import { Secret } from "../contract/secret.ts";
import { readGivenText, whyUnreadable } from "../files/read-given-file.ts";
import { SopsError } from "./sops-error.ts";

/** The age identities that decrypt SOPS files; only the operator gives them. */
export type AgeIdentities = {
  /** Where they come from, for messages: a variable or a file. */
  readonly from: string;
  readonly identities: readonly Secret[];
};

/** Where age identities may come from; the first that is set counts. */
export type IdentityPlaces = {
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
  /** `sops.ageKeyFile` of the operator's configuration. */
  readonly keyFile: string | null;
};

/** What to do where an identity is needed and none is given. */
export const GIVE_IDENTITY =
  "set HOLDFAST_AGE_KEY_FILE to a file of age-keygen, or `sops.ageKeyFile` in the operator's configuration";

/**
 * The age identities of this process: from `HOLDFAST_AGE_KEY`, else from the file `HOLDFAST_AGE_KEY_FILE`, else from the
 * operator's file; null where none is given. Throws a `SopsError` where what is given holds no identity.
 */
export function loadAgeIdentities({ env, cwd, keyFile }: IdentityPlaces): AgeIdentities | null {
  const { HOLDFAST_AGE_KEY: text, HOLDFAST_AGE_KEY_FILE: file } = env;
  if (text) return parseIdentities(text, "HOLDFAST_AGE_KEY");
  const named = file || keyFile;
  if (!named) return null;
  const from = file ? `HOLDFAST_AGE_KEY_FILE (${file})` : `sops.ageKeyFile (${named})`;
  try {
    return parseIdentities(readGivenText(resolve(cwd, named)), from);
  } catch (error) {
    if (error instanceof SopsError) throw error;
    throw new SopsError("no-identity", `${from} ${whyUnreadable(error)}`, "name a file that age-keygen has written");
  }
}

const IDENTITY = /^AGE-SECRET-KEY-(?:PQ-)?1[02-9AC-HJ-NP-Z]+$/;

/** Parses a file of identities as `age-keygen` writes it: one a line, comments and empty lines aside. */
export function parseIdentities(text: string, from: string): AgeIdentities {
  if (/^(?:age-encryption\.org\/|-----BEGIN AGE ENCRYPTED FILE-----)/.test(text)) {
    throw new SopsError(
      "no-identity",
      `${from} is itself encrypted`,
      "decrypt it first: nobody can be asked for its passphrase",
    );
  }
  const identities = text.split(/\r?\n/).flatMap((line, at) => {
    const word = line.trim();
    if (word === "" || word.startsWith("#")) return [];
    if (IDENTITY.test(word)) return [new Secret(word)];
    throw new SopsError("no-identity", `${from} has no age identity in line ${at + 1}${likely(word)}`, GIVE_IDENTITY);
  });
  if (identities.length > 0) return { from, identities };
  throw new SopsError("no-identity", `${from} has no age identity`, GIVE_IDENTITY);
}

function likely(word: string): string {
  if (word.startsWith("age1")) return ": a recipient is the public half";
  if (word.startsWith("AGE-PLUGIN-")) return ": plugins of age are not run";
  return word.startsWith("-----BEGIN") ? ": keys of SSH are not read" : "";
}
