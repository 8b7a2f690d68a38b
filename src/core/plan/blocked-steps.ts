import { secretsOf } from "../../model/references.ts";
import type { Decision } from "../decide/decision.ts";
import type { Diagnostic } from "../diagnostic.ts";
import { type Identity, type ManifestHead, requireRead } from "../manifest.ts";
import { type Reason, reasonText } from "./plan.ts";
/** Why a step is blocked, and where in its manifest. */
export type BlockedStep = {
  readonly identity: Identity;
  readonly kind: string;
  readonly reason: Reason;
  /** The blocking reference, or the message of the control plane or of a guard; null if the reason says it all. */
  readonly detail: string | null;
  /** The message without the field that it is about; null if there is none. */
  readonly message: string | null;
  /** The resource or secret that it waits for, such as `secret tenant:db:password`; null if it waits for none. */
  readonly needs: string | null;
  readonly file: string;
  readonly line: number;
  readonly column: number;
};

/** The causes of blocked steps, in the order of the manifests. */
export function blockedSteps(
  blocked: readonly {
    readonly manifest: ManifestHead;
    readonly position: { readonly file: string; readonly line: number; readonly column: number };
  }[],
  decisions: ReadonlyMap<Identity, Decision>,
): readonly BlockedStep[] {
  return blocked.flatMap(({ manifest, position }) => {
    const { identity, kind } = manifest;
    const decision = decisions.get(identity);
    if (decision?.action !== "block" || decision.reason === null) return [];
    return [{ identity, kind, reason: decision.reason, ...causeOf(manifest, decision, decisions), ...position }];
  });
}

function causeOf(
  manifest: ManifestHead,
  { reason, detail, pointer }: Decision,
  decisions: ReadonlyMap<Identity, Decision>,
): Pick<BlockedStep, "detail" | "message" | "needs"> {
  const waits = reason === "held" && detail !== null && decisions.has(detail);
  if (waits || reason === "dependency" || reason === "reference-absent")
    return { detail, message: null, needs: detail };
  // A guard names the field that it is about, and waits for no secret in it.
  if (pointer === null || detail === null || reason === "guard" || reason === "gate" || reason === "policy")
    return { detail, message: detail, needs: null };
  const secret = secretsOf(requireRead(manifest).value).find((one) => one.pointer === pointer);
  const message = detail.replace(`${pointer}: `, "");
  return { detail, message, needs: secret === undefined ? null : `secret ${secret.key}` };
}

/** A warning for each cause, at the step that has it; the steps that only wait for it are its other places. */
export function blockDiagnostics(steps: readonly BlockedStep[]): readonly Diagnostic[] {
  const blocked = new Map(steps.map((step) => [step.identity, step]));
  const byCause = Map.groupBy(steps, (step) => rootOf(step, blocked));
  return [...byCause].flatMap(([root, alike]) => {
    const first = blocked.get(root) ?? alike[0];
    return first === undefined
      ? []
      : [
          diagnosticOf(
            first,
            alike.filter((one) => one !== first),
          ),
        ];
  });
}

// What a step waits for may wait itself; references have no cycles.
function rootOf(step: BlockedStep, blocked: ReadonlyMap<Identity, BlockedStep>): string {
  const { identity, needs, reason, detail } = step;
  const next = needs === null ? undefined : blocked.get(needs);
  if (next !== undefined) return rootOf(next, blocked);
  // One missing right hides many resources.
  return needs ?? (reason === "forbidden" ? detail : null) ?? identity;
}

function diagnosticOf(step: BlockedStep, others: readonly BlockedStep[]): Diagnostic {
  const { identity, reason, detail, file, line, column } = step;
  const rest = others.length === 0 ? "" : `, and ${others.length} more for the same cause`;
  return {
    severity: "warning",
    code: reason,
    summary: `${identity} is blocked${rest}: ${reasonText[reason]}`,
    detail,
    file,
    line,
    column,
    ...(others.length === 0 ? {} : { related: others.map(placeOf) }),
  };
}

function placeOf({ file, line, column }: BlockedStep) {
  return { file, line, column };
}
