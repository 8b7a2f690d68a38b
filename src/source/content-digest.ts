import { hash } from "node:crypto";

/** The digest by which content is recognised: different contents have different digests. */
export function digestOf(bytes: Uint8Array): string {
  return hash("sha256", bytes, "base64");
}
