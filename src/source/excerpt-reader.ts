import { resolve } from "node:path";
import type { Diagnostic } from "../core/diagnostic.ts";
import { type Excerpt, excerptOf } from "../core/redact/masked-excerpt.ts";
import { defaultLimits } from "./limits.ts";
import { readRegularFile } from "./read-regular-file.ts";

/** Reads the line of a diagnostic, with secrets masked; null if there is no line to show. */
export function excerptReader(cwd: string): (diagnostic: Diagnostic) => Excerpt | null {
  const lines = new Map<string, readonly string[]>();
  return ({ file, line, column }) => {
    if (file === null || line === null) return null;
    const known = lines.get(file) ?? readLines(resolve(cwd, file));
    lines.set(file, known);
    const text = known[line - 1];
    return text === undefined ? null : excerptOf(text, column ?? 1);
  };
}

function readLines(path: string): readonly string[] {
  const opened = readRegularFile(path, defaultLimits.fileBytes);
  if (opened.is !== "read" || opened.size > opened.bytes.length) return [];
  return new TextDecoder().decode(opened.bytes).split(/\r?\n/);
}
