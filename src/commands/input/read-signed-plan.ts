import { relative } from "node:path";
import type { ApprovalFile } from "../../core/approvals/require-approvals.ts";
import { HoldfastError } from "../../core/errors.ts";
import { noPlan, parseSignedPlan, type SignedPlan } from "../../core/plan/signed-plan.ts";
import { lstatOrNull } from "../../files/lstat-or-null.ts";
import { readGivenFile, whyUnreadable } from "../../files/read-given-file.ts";
import { readJsonFile } from "./read-json-file.ts";

/** Enough for the plan of a hundred thousand resources. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Enough for a hundred signatures with the longest keys. */
const MAX_APPROVAL_BYTES = 1024 * 1024;

/** Reads a signed plan; refuses any other file, with the reason. */
export function readSignedPlan(path: string): SignedPlan {
  return withPath(path, () => parseSignedPlan(readPlanJson(path)));
}

/** Reads the JSON of a plan. */
export function readPlanJson(path: string): ReturnType<typeof readJsonFile> {
  return readJsonFile(path, MAX_BYTES, noPlan);
}

function withPath(path: string, read: () => SignedPlan): SignedPlan {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "invalid") throw error;
    const { hint, cause } = error;
    throw new HoldfastError("invalid", error.message.replace(/^that is/, `${path} is`), { hint, cause });
  }
}

/** The file with the signatures that approve a plan: beside it, so that the plan itself stays as it is. */
export function approvalsPath(plan: string): string {
  return `${plan}.approvals`;
}

/** Reads the signatures that approve a plan; none if there is no file. */
export function readApprovalFile(plan: string, cwd: string): ApprovalFile {
  const path = approvalsPath(plan);
  const shown = relative(cwd, path);
  if (lstatOrNull(path) === null) return { path: shown, text: "" };
  try {
    return { path: shown, text: readGivenFile(path, MAX_APPROVAL_BYTES).toString("latin1") };
  } catch (cause) {
    throw new HoldfastError("invalid", `the approvals ${shown} ${whyUnreadable(cause)}`, {
      hint: "remove the file, and run holdfast approve PLAN again",
      cause,
    });
  }
}
