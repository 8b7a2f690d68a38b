import type { ImportedResource } from "../../contract/generated/output.ts";
import type { JsonObject } from "../../contract/json.ts";
import { changeOf } from "../../core/diff/change.ts";
import { takeLive } from "../../core/diff/declared-form.ts";
import { isActedOn } from "../../core/diff/field-cause.ts";
import { requireKind } from "../../core/kind.ts";
import { requireRead } from "../../core/manifest.ts";
import type { ManifestUpdate, UpdatesEvent } from "../../core/report/events.ts";
import { kindsByType } from "../../kinds/index.ts";
import { addedSecrets } from "../../manifests/literal-secrets.ts";
import type { SourceManifest } from "../../manifests/source-manifest.ts";
import { skipped, skippedFor } from "../import/make-manifest.ts";
import type { Desired } from "../load/desired.ts";
import { EVERYTHING, observe } from "../observe.ts";
import type { Pass } from "../pass.ts";
import { type LivePlan, planAgainstLive } from "../plan.ts";
import type { PromotedSource } from "../promotion/edit-manifests.ts";
import { type PatchedUpdate, updatePatched } from "../promotion/update-patched.ts";
import { readAccessOf } from "../session.ts";

/** A pass that says how the selected manifests have to change to say what is live, and writes nothing. */
export type UpdateMode = { readonly is: "update"; readonly readerOf: PromotedSource["readerOf"] };

/** Up to so many resources are read one by one. */
const FEW = 32;

/** Finds the fields in which the selected manifests differ from live, and takes them over. */
export async function updatePass({ connection, read, run }: Pass, { readerOf }: UpdateMode): Promise<UpdatesEvent> {
  const { session } = connection;
  const { desired } = read;
  const named = desired.manifests.filter(({ identity }) => desired.onlyReferredTo?.has(identity) !== true);
  const given = {
    server: readAccessOf(session),
    records: { heads: await session.heads(), ledger: session.ledger },
    rules: read.rules,
    run,
  };
  const scope = { ...EVERYTHING, seeksOrphans: false, readsEach: named.length <= FEW };
  const observed = await observe({ ...desired, isWhole: false }, { ...given, scope });
  const checks = { creates: "not-needed", guards: null, hasSink: session.sink !== null } as const;
  const livePlan = await planAgainstLive(observed, { ...given, checks });
  const values = new Map(livePlan.waved.map(({ manifest }) => [manifest.identity, manifest]));
  const found = named.flatMap((one) => updatesOf(values.get(one.identity) ?? one, livePlan, desired.uncommitted));
  const { from: indexed } = read;
  if (indexed === null) throw new TypeError("an update needs the files of its source");
  const patched = found.filter((one): one is PatchedUpdate => "fields" in one);
  const inPatches = await updatePatched(patched, { indexed, readerOf, uncommitted: desired.uncommitted }, run);
  const plain = found.filter((one): one is ManifestUpdate => "changes" in one && "before" in one && !("fields" in one));
  return {
    what: "updates",
    server: session.server,
    updates: [...plain, ...inPatches.manifests],
    patches: { files: inPatches.files, updates: inPatches.updates },
    kept: [...found.filter((one): one is ImportedResource => "result" in one), ...inPatches.kept],
  };
}

// The fields that are taken over, and those whose live value is a secret.
function updatesOf(
  manifest: SourceManifest,
  { decisions, observation }: LivePlan,
  uncommitted: Desired["uncommitted"],
): readonly (ManifestUpdate | PatchedUpdate | ImportedResource)[] {
  const { identity, kind: type, file, line } = manifest;
  const kind = requireKind(kindsByType, type);
  const live = observation.live.get(identity);
  if (live === undefined) return [{ identity, kind: type, file, result: "unchanged" }];
  if (live.state === "absent") return [{ ...skipped({ identity, kind }, "absent", "it is not live"), file }];
  if (live.state === "unknown")
    return [{ ...skipped({ identity, kind }, "unreadable", live.detail ?? "live cannot be read here"), file }];
  const acted = (decisions.get(identity)?.differences ?? []).filter(({ cause }) => isActedOn(cause));
  if (acted.length === 0) return [{ identity, kind: type, file, result: "unchanged" }];
  // Live shows no reference, and the manifest has stand-ins here.
  if (kind.values !== undefined)
    return [{ ...skipped({ identity, kind }, "not-declarable", "live does not show where its values are"), file }];
  const { value: before } = requireRead(manifest);
  const sides = { shape: kind.shape, manifest: before, live: live.row.manifest };
  const take = (fields: typeof acted): JsonObject =>
    takeLive(
      kind,
      before,
      live.row.manifest,
      fields.map(({ tokens }) => tokens),
    );
  const secretsOf = (fields: typeof acted) => addedSecrets(kind.shape, before, take(fields));
  const secrets = secretsOf(acted);
  const kept = secrets.length === 0 ? [] : [{ ...skippedFor(secrets, { identity, kind }), file }];
  const plain = secrets.length === 0 ? acted : acted.filter((field) => secretsOf([field]).length === 0);
  if (plain.length === 0 || secretsOf(plain).length > 0) return kept;
  const changes = plain.map(({ cause, ...field }) =>
    changeOf({ ...field, before: field.after, after: field.before }, cause, sides),
  );
  const isUncommitted = uncommitted?.has(file) ?? false;
  const update = { identity, kind: type, file, line, before, after: take(plain), changes, isUncommitted };
  if (manifest.patched === undefined) return [...kept, update];
  return [...kept, { ...update, manifest, live: live.row.manifest, fields: plain.map(({ tokens }) => tokens) }];
}
