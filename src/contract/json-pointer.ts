import type { Json } from "./json.ts";

/** One reference token of a JSON Pointer (RFC 6901, section 3). */
export function escapePointer(key: string): string {
  return key.includes("~") || key.includes("/") ? key.replaceAll("~", "~0").replaceAll("/", "~1") : key;
}

/** The reference tokens of a JSON Pointer, unescaped (RFC 6901, section 4). */
export function pointerTokens(pointer: string): readonly string[] {
  if (pointer === "") return [];
  return pointer
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The pointers of the values in a JSON value that contain no other value, empty objects and lists included. */
export function leafPointers(value: Json, pointer = ""): readonly string[] {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (entries.length === 0) return [pointer];
  return entries.flatMap(([name, field]) => leafPointers(field, `${pointer}/${escapePointer(name)}`));
}
