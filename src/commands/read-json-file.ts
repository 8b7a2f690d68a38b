import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import type { Json } from "../contract/json.ts";

/** What is shown is as deep as a manifest may be, and a few levels of ours. */
const MOST_DEPTH = 256;

/** Reads JSON of at most so many bytes; `refuse` makes the error of what is none, too large or too deep. */
export function readJsonFile(path: string, mostBytes: number, refuse: (why: string, cause?: unknown) => Error): Json {
  const text = read(path, mostBytes, refuse);
  if (depthOf(text) > MOST_DEPTH) throw refuse("its JSON is nested too deeply");
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw refuse("it is no JSON, or it was cut off", cause);
  }
}

function read(path: string, mostBytes: number, refuse: (why: string, cause?: unknown) => Error): string {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(path, "r");
    const { size } = fstatSync(descriptor);
    if (size <= mostBytes) return readFileSync(descriptor, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? ` (${error.code})` : "";
    throw refuse(`it cannot be read${code}`, error);
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
  throw refuse(`it is larger than ${mostBytes / 1024 / 1024} MiB`);
}

// Brackets in texts do not count.
function depthOf(text: string): number {
  let [depth, most, isText] = [0, 0, false];
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (isText && char === 0x5c) at += 1;
    else if (char === 0x22) isText = !isText;
    else if (isText) continue;
    else if (char === 0x7b || char === 0x5b) most = Math.max(most, ++depth);
    else if (char === 0x7d || char === 0x5d) depth -= 1;
  }
  return most;
}
