// src/commands/input: what commands read from files and stdin. See docs/manifests.md#which-files.

import type { Json } from "../../contract/json.ts";
import { isTooDeep } from "../../contract/measure-json.ts";
import { readGivenFile, whyUnreadable } from "../../files/read-given-file.ts";

/** The depth limit of a manifest plus the levels of a report around it. */
const MAX_DEPTH = 256;

/** Reads a JSON file of at most `mostBytes`; `refuse` creates the error for a file that is not JSON, too large or too deep. */
export function readJsonFile(path: string, mostBytes: number, refuse: (why: string, cause?: unknown) => Error): Json {
  const bytes = read(path, mostBytes, refuse);
  if (isTooDeep(bytes, MAX_DEPTH)) throw refuse("its JSON is nested too deeply");
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    throw refuse("it is no JSON, or it was cut off", cause);
  }
}

function read(path: string, mostBytes: number, refuse: (why: string, cause?: unknown) => Error): Buffer {
  try {
    return readGivenFile(path, mostBytes);
  } catch (error) {
    throw refuse(`it ${whyUnreadable(error)}`, error);
  }
}
