import { readFileSync } from "node:fs";
import { Secret } from "../../contract/secret.ts";

/** Reads a secret from a file anew each time; the last good one while there is none, and null before. */
export function secretFileReader(file: string): () => Secret | null {
  let last: Secret | null = null;
  return () => {
    last = secretIn(file) ?? last;
    return last;
  };
}

function secretIn(file: string): Secret | null {
  try {
    const secret = readFileSync(file, "utf8").trim();
    return secret === "" ? null : new Secret(secret);
  } catch {
    return null;
  }
}
