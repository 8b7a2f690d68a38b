import { hash, timingSafeEqual } from "node:crypto";

/** Whether two secrets are equal, in a time that tells neither their contents nor their lengths. */
export function areEqualSecrets(given: string | Buffer, expected: string | Buffer): boolean {
  return timingSafeEqual(hash("sha256", given, "buffer"), hash("sha256", expected, "buffer"));
}
