import { HoldfastError } from "../core/errors.ts";
import { UnsafePathError } from "../files/unsafe-path.ts";
import { replaceFile } from "../files/write.ts";

/** Writes a sealed plan to the file of `--out`, in place of an earlier one. */
export function writeSealedPlan(plan: string, path: string): void {
  try {
    replaceFile(path, plan);
  } catch (cause) {
    if (cause instanceof UnsafePathError) throw cause;
    const why = cause instanceof Error && "code" in cause ? ` (${cause.code})` : "";
    throw new HoldfastError("invalid", `the plan cannot be written to ${path}${why}`, {
      hint: "name a file in a folder that exists with --out",
      cause,
    });
  }
}
