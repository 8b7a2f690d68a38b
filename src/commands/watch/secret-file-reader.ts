import { readFileSync } from "node:fs";
import { Secret } from "../../contract/secret.ts";

/** Returns a function that reads a secret from a file on each call. While the file is missing or empty, it returns the last one. */
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
