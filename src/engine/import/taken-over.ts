import type { ImportedResource } from "../../contract/generated/output.ts";
import type { JsonObject } from "../../contract/json.ts";
import type { Difference } from "../../core/decide/decision.ts";
import { changeOf } from "../../core/diff/change.ts";
import { takeLive } from "../../core/diff/declared-form.ts";
import { isActedOn } from "../../core/diff/field-cause.ts";
import { requireKind } from "../../core/kind.ts";
import { requireRead } from "../../core/manifest.ts";
import { kindsByType } from "../../kinds/index.ts";
import { addedSecrets } from "../../manifests/literal-secrets.ts";
import type { SourceManifest } from "../../manifests/source-manifest.ts";
import type { Desired } from "../load/desired.ts";
import type { LivePlan } from "../plan.ts";
import type { LocatedUpdate } from "../promotion/update-patched.ts";
import { skipped, skippedFor } from "./make-manifest.ts";

/** Which differences from live a manifest takes over: in the files with changes that no commit has, and by their cause. */
export type TakingOver = {
  readonly uncommitted: Desired["uncommitted"] | undefined;
  /** @default every difference that an apply would act on */
  readonly isTaken?: (cause: Difference["cause"]) => boolean;
};

/** What a manifest takes over from live, and why the rest stays: what is a secret in live is never taken over. */
export function takenOver(
  manifest: SourceManifest,
  { decisions, observation }: Pick<LivePlan, "decisions" | "observation">,
  { uncommitted, isTaken = isActedOn }: TakingOver,
): readonly (LocatedUpdate | ImportedResource)[] {
  const { identity, kind: type, file, line } = manifest;
  const kind = requireKind(kindsByType, type);
  const live = observation.live.get(identity);
  if (live === undefined) return [{ identity, kind: type, file, result: "unchanged" }];
  if (live.state === "absent") return [{ ...skipped({ identity, kind }, "absent", "it is not live"), file }];
  if (live.state === "unknown")
    return [{ ...skipped({ identity, kind }, "unreadable", live.detail ?? "live cannot be read here"), file }];
  const taken = (decisions.get(identity)?.differences ?? []).filter(({ cause }) => isTaken(cause));
  if (taken.length === 0) return [{ identity, kind: type, file, result: "unchanged" }];
  // Live shows no reference, and the manifest has stand-ins here.
  if (kind.values !== undefined)
    return [{ ...skipped({ identity, kind }, "not-declarable", "live does not show where its values are"), file }];
  const { value: before } = requireRead(manifest);
  const sides = { shape: kind.shape, manifest: before, live: live.row.manifest };
  const take = (fields: typeof taken): JsonObject =>
    takeLive(
      kind,
      before,
      live.row.manifest,
      fields.map(({ tokens }) => tokens),
    );
  const secretsOf = (fields: typeof taken) => addedSecrets(kind.shape, before, take(fields));
  const secrets = secretsOf(taken);
  const kept = secrets.length === 0 ? [] : [{ ...skippedFor(secrets, { identity, kind }), file }];
  const plain = secrets.length === 0 ? taken : taken.filter((field) => secretsOf([field]).length === 0);
  if (plain.length === 0 || secretsOf(plain).length > 0) return kept;
  const changes = plain.map(({ cause, ...field }) =>
    changeOf({ ...field, before: field.after, after: field.before }, cause, sides),
  );
  const isUncommitted = uncommitted?.has(file) ?? false;
  const update = { identity, kind: type, file, line, before, after: take(plain), changes, isUncommitted };
  return [...kept, { ...update, manifest, live: live.row.manifest, fields: plain.map(({ tokens }) => tokens) }];
}
