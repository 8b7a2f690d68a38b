import { hash } from "node:crypto";

/** The digest that identifies a content. */
export function digestOf(bytes: Uint8Array): string {
  return hash("sha256", bytes, "base64");
}
