import type { Diagnostic } from "../diagnostic.ts";
import type { Identity } from "../manifest.ts";
import type { Plan, Step } from "../plan/plan.ts";
import { isUnread } from "./step-guards.ts";

/** The code of the diagnostic about resources that somebody else manages. */
export const NOT_ADOPTED = "not-adopted";

/** The number of identities that a suggested command names. */
const NAMED = 10;

/** Whether a step waits until its resource is adopted, or until overwriting it is allowed. */
export function needsAdoption({ action, risks, guard }: Step): boolean {
  return risks.includes("adopts") && (action === "block" || guardsAdoption(guard));
}

/** Why an apply of a plan only reports, and the next commands; null if no resource that was read waits for adoption. */
export function notAdopted({ steps, summary }: Plan): Diagnostic | null {
  const waiting = steps.filter((step) => needsAdoption(step) && isReadable(step)).map(({ identity }) => identity);
  if (waiting.length === 0) return null;
  const { create, update, keep, ensure, block } = summary;
  const of = `${waiting.length} of ${create + update + keep + ensure + block} declared resources`;
  const are =
    waiting.length === 1
      ? "differs and is somebody else's: apply writes nothing until it is"
      : "differ and are somebody else's: apply writes nothing until they are";
  return {
    severity: "error",
    code: NOT_ADOPTED,
    summary: `NotAdopted: ${of} ${are} adopted or allowed`,
    detail: adoptionText(waiting),
    ...{ file: null, line: null, column: null },
  };
}

/** Whether live was read, so that a resource can be adopted as it is. */
export function isReadable({ changes, guard }: Step): boolean {
  return guard === undefined ? changes.length > 0 : !isUnread(guard.dangers.filter(({ risk }) => risk === "adopts"));
}

/** The ways out for resources that somebody else manages. */
export function adoptionText(identities: readonly Identity[]): string {
  const named = identities.length > NAMED ? "ID…" : identities.join(" ");
  const all = identities.length === 1 ? "" : " (or --all)";
  const them = identities.length === 1 ? "it" : "them";
  const kept = `holdfast import --update ${named} takes what a write would lose into git`;
  return `${kept}, holdfast adopt ${named}${all} lets git overwrite ${them}, --allow-adopt overwrites ${them} at once`;
}

function guardsAdoption(guard: Step["guard"]): boolean {
  return guard?.dangers.some(({ risk }) => risk === "adopts") ?? false;
}
