import { defaultLimits, type Limits } from "../../../src/source/limits.ts";
import { type Format, type ParsedFile, parseFile } from "../../../src/yaml/document.ts";
import { parseExact } from "../../../src/yaml/exact.ts";

/** Parses a file as a worker does, with the exact parser at hand. */
export function parsed(
  content: string | Uint8Array,
  format: Format = "yaml",
  limits: Partial<Limits> = {},
): ParsedFile {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  const file = parseFile(bytes, { format, limits: { ...defaultLimits, ...limits }, worthy: null }, parseExact);
  if (file === null) throw new Error("undecided, though it could be looked at exactly");
  return file;
}
