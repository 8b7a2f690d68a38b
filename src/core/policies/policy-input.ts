import type { HardwareChange, HardwareDifference } from "../../contract/generated/output.ts";
import { isObject, type Json, type JsonObject } from "../../contract/json.ts";
import { groupOf, type Kind, type Kinds, type LiveRow, writerIn } from "../kind.ts";
import { splitIdentity, splitVersion } from "../manifest.ts";
import { type Plan, type Step, writes } from "../plan/plan.ts";
import { redactManifest } from "../redact/redact-manifest.ts";

/** The manifests of a step: as it is live, by whom, and as it would be sent. */
export type StepManifests = {
  readonly kind: Kind;
  readonly live: LiveRow | null;
  readonly after: JsonObject;
};

/** The names of what the expression of a policy sees, and their types. */
export const policyVariables: {
  readonly [over in "step" | "plan"]: { readonly [name: string]: "map" | "list" | "string" | "dyn" };
} = {
  step: {
    step: "map",
    before: "dyn",
    after: "dyn",
    changes: "list",
    risks: "list",
    author: "dyn",
    target: "string",
    plan: "map",
  },
  plan: { plan: "map", target: "string" },
};

/** What a policy sees of one step; possible secrets are masked. */
export function stepVariables(step: Step, { kind, live, after }: StepManifests, kinds: Kinds): JsonObject {
  const { changes, risks } = step;
  return {
    step: stepJson(step, kinds),
    before: live === null ? null : withoutNulls(redactManifest(kind.shape, live.manifest)),
    after: withoutNulls(redactManifest(kind.shape, after)),
    changes: changes.map(({ path, cause, before: was, after: is }) => ({ path, cause, before: was, after: is })),
    risks: [...risks],
    author: live === null ? null : (writerIn(live)?.changedBy.subject ?? null),
  };
}

/** What a policy sees of the plan, and where it is for. */
export function planVariables(
  { steps, summary }: Pick<Plan, "steps" | "summary">,
  {
    hardware,
    kinds,
    target,
  }: { readonly hardware: HardwareChange | null; readonly kinds: Kinds; readonly target: string },
): JsonObject {
  const { create, update, keep, ensure, block, orphan, drift, unrecorded, invalid } = summary;
  return {
    target,
    plan: {
      summary: { create, update, keep, ensure, block, orphan, drift, unrecorded, invalid },
      hardware: {
        ...amountsOf(hardware?.total),
        workspaces: Object.fromEntries(
          (hardware?.workspaces ?? []).map(({ workspace, difference }) => [workspace, amountsOf(difference)]),
        ),
      },
      steps: steps.filter(writes).map((step) => stepJson(step, kinds)),
    },
  };
}

// An optional field that is null is the same as an absent one.
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutNulls(field)]));
}

function stepJson({ action, kind, identity, causedBy, risks, changes, file }: Step, kinds: Kinds): JsonObject {
  const { name } = splitVersion(splitIdentity(identity).key);
  return {
    action,
    kind,
    identity,
    name: name.slice(name.lastIndexOf("/") + 1),
    workspace: groupOf({ identity }, kinds) ?? "",
    causedBy,
    causes: [...new Set(changes.map(({ cause }) => cause))],
    risks: [...risks],
    file,
  };
}

function amountsOf(difference: HardwareDifference | undefined): JsonObject {
  const { replicas = 0, cpu = 0, memory = 0, storage = 0, devices = [] } = difference ?? {};
  const counts = devices.map(({ name, count }) => [name, count] as const);
  return { replicas, cpu, memory, storage, devices: Object.fromEntries(counts) };
}
