import { Secret } from "../../contract/secret.ts";
import { readGivenText } from "../../files/read-given-file.ts";

/** Returns a function that reads a secret from a file on each call. While the file is missing or empty, it returns the last one. */
export function secretFileReader(file: string): () => Secret | null {
  let last: Secret | null = null;
  return () => {
    last = secretIn(file) ?? last;
    return last;
  };
}

/** The secret that is in a file now; null if it is missing, cannot be read, or is empty. */
export function secretIn(file: string): Secret | null {
  try {
    const secret = readGivenText(file).trim();
    return secret === "" ? null : new Secret(secret);
  } catch {
    return null;
  }
}
