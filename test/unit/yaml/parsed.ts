import { defaultLimits, type Limits } from "../../../src/source/limits.ts";
import type { Format, ParsedFile } from "../../../src/yaml/document.ts";
import { exactReader } from "../../../src/yaml/exact/exact-reader.ts";
import { parseFile } from "../../../src/yaml/parse-file.ts";

/** Parses a file as a worker does, with the exact parser at hand. */
export function parsed(
  content: string | Uint8Array,
  format: Format = "yaml",
  limits: Partial<Limits> = {},
): ParsedFile {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  const file = parseFile(bytes, { format, limits: { ...defaultLimits, ...limits }, worthy: null }, exactReader);
  if (file === null) throw new Error("undecided, though it could be looked at exactly");
  return file;
}
