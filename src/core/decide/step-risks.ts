import type { Risk } from "../../contract/generated/output.ts";
import { canonical, isObject, type Json, type JsonObject } from "../../contract/json.ts";
import { secretReferences } from "../../contract/secret-references.ts";
import { secretsOf } from "../../model/references.ts";
import type { Decision, DecisionInput } from "./decision.ts";
import { isWrittenBy } from "./own-content.ts";
import { growsPrivileges } from "./privilege-growth.ts";

/** A manifest before and after a write; `before` is undefined for a new resource. */
type Sides = { readonly before: Json | undefined; readonly after: Json | undefined };

/** The control plane, and who writes for us. */
type RiskContext = {
  /** The subjects whose writes count as ours, by id or name. */
  readonly writers: ReadonlySet<string>;
  /** Whether it is the embedded control plane, which has no other users: a new resource there affects no one else. */
  readonly isEmbedded: boolean;
};

/** The risks of a decision on a manifest. */
export function risksOf(one: DecisionInput, decision: Decision, context: RiskContext): readonly Risk[] {
  const { action, reason, differences, before, after } = decision;
  if (action === "keep") return NONE;
  if (action === "block") return reason === "immutable" ? ["version-immutable"] : NONE;
  const isNew = before === undefined;
  const content = contentRisks({ before, after: after ?? one.manifest.value });
  const found: readonly (readonly [Risk, boolean])[] = [
    ["adopts", action !== "create" && adopts(one, action, context)],
    ["reverts", action === "update" && differences.some(({ cause }) => cause === "drift" || cause === "conflict")],
    ...content.map((risk) => [risk, !(isNew && risk === "privilege-growth" && context.isEmbedded)] as const),
  ];
  return found.flatMap(([risk, holds]) => (holds ? [risk] : []));
}

// A resource without a record is ours only if its content shows it, or if its newest version, or the resource itself, was
// created for us. What is ensured may exist, and its author is not known.
function adopts(
  { recorded, live, dryRun, isOwn }: DecisionInput,
  action: Decision["action"],
  { writers }: RiskContext,
): boolean {
  // When live cannot be read, the dry run shows that it exists and who created it.
  const answered = dryRun?.state === "answered" && dryRun.row?.id ? dryRun.row : null;
  const row = live.state === "present" ? live.row : answered;
  if (recorded !== null || isOwn) return false;
  return row === null ? action === "ensure" : !isWrittenBy(row, writers);
}

/** The risks of a write's content, whoever wrote the content that it replaces. */
function contentRisks({ before, after }: Sides): readonly Risk[] {
  if (!isObject(after)) return [];
  const old = isObject(before) ? before : {};
  const found: readonly (readonly [Risk, boolean])[] = [
    ["privilege-growth", growsPrivileges(old, after)],
    ["scale-to-zero", isObject(before) && scalesToZero(before, after)],
    ["exposure", exposes(old, after)],
    ["secret-removed", removesSecret(old, after)],
  ];
  return found.flatMap(([risk, holds]) => (holds ? [risk] : []));
}

const NONE: readonly never[] = [];

function scalesToZero({ replicas: before }: JsonObject, { replicas: after }: JsonObject): boolean {
  return fewestReplicas(after) === 0 && fewestReplicas(before) !== 0;
}

// Without a number, the platform's default of one applies.
function fewestReplicas(replicas: Json | undefined): number {
  if (typeof replicas === "number") return replicas;
  return isObject(replicas) && typeof replicas.min_replicas === "number" ? replicas.min_replicas : 1;
}

// A port that stays exposed in the same way, with only its internal routing changed, is not newly exposed.
function exposes(before: JsonObject, after: JsonObject): boolean {
  const known = exposedPorts(before);
  return exposedPorts(after)
    .entries()
    .some(([port, way]) => known.get(port) !== way);
}

function exposedPorts({ ports }: JsonObject): ReadonlyMap<string, string> {
  const all: readonly Json[] = Array.isArray(ports) ? ports : [];
  const exposed = all.filter((port) => isObject(port) && port.expose === true);
  return new Map(
    exposed.map((port) => {
      const { port: number = null, protocol, host = null, path = null, auth = null } = isObject(port) ? port : {};
      return [`${number}/${protocol ?? "TCP"}`, canonical({ host, path, auth })];
    }),
  );
}

function removesSecret(before: JsonObject, after: JsonObject): boolean {
  const had = secretsIn(before);
  return had.size > 0 && !had.isSubsetOf(secretsIn(after));
}

function secretsIn(manifest: JsonObject): ReadonlySet<string> {
  const named = secretsOf(manifest).map(({ key }) => key);
  // The control plane resolves no secret references in other texts, but removing the text removes the secret.
  return new Set([...named, ...secretReferences(manifest).map(({ fqn }) => fqn)]);
}
