import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { HoldfastError } from "../core/errors.ts";
import { noPlan, parseSealedPlan, type SealedPlan } from "../core/sealed-plan.ts";

/** Room for the plan of a hundred thousand resources. */
const MOST_BYTES = 256 * 1024 * 1024;
/** A step is a few levels deep, and what it shows is as deep as a manifest may be. */
const MOST_DEPTH = 256;

/** Reads a sealed plan; what is none is refused with the reason. */
export function readSealedPlan(path: string): SealedPlan {
  return withPath(path, () => parseSealedPlan(parse(read(path))));
}

function read(path: string): string {
  try {
    const descriptor = openSync(path, "r");
    try {
      if (fstatSync(descriptor).size > MOST_BYTES) throw noPlan(`it is larger than ${MOST_BYTES / 1024 / 1024} MiB`);
      return readFileSync(descriptor, "utf8");
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    const code = error instanceof Error && "code" in error ? ` (${error.code})` : "";
    throw noPlan(`it cannot be read${code}`, error);
  }
}

function parse(text: string): unknown {
  if (depthOf(text) > MOST_DEPTH) throw noPlan("its JSON is nested too deeply");
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw noPlan("it is no JSON, or it was cut off", cause);
  }
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

function withPath(path: string, read: () => SealedPlan): SealedPlan {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "invalid") throw error;
    const { hint, cause } = error;
    throw new HoldfastError("invalid", error.message.replace(/^that is/, `${path} is`), { hint, cause });
  }
}
