import { hash } from "node:crypto";

/** What content is known by: no two that differ have the same. */
export function digestOf(bytes: Uint8Array): string {
  return hash("sha256", bytes, "base64");
}
