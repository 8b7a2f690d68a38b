import { HoldfastError } from "../../core/errors.ts";
import { noPlan, parseSealedPlan, type SealedPlan } from "../../core/plan/sealed-plan.ts";
import { readJsonFile } from "./read-json-file.ts";

/** Enough for the plan of a hundred thousand resources. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Reads a sealed plan; refuses any other file, with the reason. */
export function readSealedPlan(path: string): SealedPlan {
  return withPath(path, () => parseSealedPlan(readJsonFile(path, MAX_BYTES, noPlan)));
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
