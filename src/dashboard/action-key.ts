// biome-ignore-all lint/plugin: no two dialogs may have the same key

/** A new key for each action that is asked for, so that one that is sent twice is carried out once. */
export function newActionKey(): string {
  // A page without TLS has no `randomUUID`.
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
