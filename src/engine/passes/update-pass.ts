import type { ImportedResource } from "../../contract/generated/output.ts";
import { equal } from "../../contract/json.ts";
import { pointerTokens } from "../../contract/json-pointer.ts";
import { changeOf } from "../../core/diff/change.ts";
import { takeLive } from "../../core/diff/declared-form.ts";
import { isActedOn } from "../../core/diff/field-cause.ts";
import { redactPointer, writtenValueAt } from "../../core/diff/pointer.ts";
import { requireKind } from "../../core/kind.ts";
import { requireRead } from "../../core/manifest.ts";
import type { ManifestUpdate, UpdatesEvent } from "../../core/report/events.ts";
import { kindsByType } from "../../kinds/index.ts";
import { literalSecrets } from "../../manifests/literal-secrets.ts";
import type { SourceManifest } from "../../manifests/source-manifest.ts";
import { skipped } from "../import/make-manifest.ts";
import type { Desired } from "../load/desired.ts";
import { EVERYTHING, observe } from "../observe.ts";
import type { Pass } from "../pass.ts";
import { type LivePlan, planAgainstLive } from "../plan.ts";
import { readAccessOf } from "../session.ts";

/** A pass that says how the selected manifests have to change to say what is live, and writes nothing. */
export type UpdateMode = { readonly is: "update" };

/** Up to so many resources are read one by one. */
const FEW = 32;

/** Finds the fields in which the selected manifests differ from live, and takes them over. */
export async function updatePass({ connection, read, run }: Pass): Promise<UpdatesEvent> {
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
  const found = named.map((one) => updateOf(values.get(one.identity) ?? one, livePlan, desired.uncommitted));
  return {
    what: "updates",
    server: session.server,
    updates: found.filter((one): one is ManifestUpdate => "changes" in one && "before" in one),
    kept: found.filter((one): one is ImportedResource => "result" in one),
  };
}

function updateOf(
  manifest: SourceManifest,
  { decisions, observation }: LivePlan,
  uncommitted: Desired["uncommitted"],
): ManifestUpdate | ImportedResource {
  const { identity, kind: type, file, line } = manifest;
  const kind = requireKind(kindsByType, type);
  const live = observation.live.get(identity);
  if (live === undefined) return { identity, kind: type, file, result: "unchanged" };
  if (live.state === "absent") return { ...skipped({ identity, kind }, "absent", "it is not live"), file };
  if (live.state === "unknown")
    return { ...skipped({ identity, kind }, "unreadable", live.detail ?? "live cannot be read here"), file };
  const acted = (decisions.get(identity)?.differences ?? []).filter(({ cause }) => isActedOn(cause));
  if (acted.length === 0) return { identity, kind: type, file, result: "unchanged" };
  const { value: before } = requireRead(manifest);
  const fields = acted.map(({ tokens }) => tokens);
  const after = takeLive(kind, before, live.row.manifest, fields);
  const secrets = literalSecrets(kind.shape, after, true, () => false).filter(
    ({ pointer }) =>
      !equal(writtenValueAt(before, pointerTokens(pointer)), writtenValueAt(after, pointerTokens(pointer))),
  );
  if (secrets.length > 0) {
    const shown = secrets.map(({ pointer }) => redactPointer(pointer)).join(", ");
    return { ...skipped({ identity, kind }, "literal-secret", shown), file };
  }
  const sides = { shape: kind.shape, manifest: before, live: live.row.manifest };
  const changes = acted.map(({ cause, ...field }) =>
    changeOf({ ...field, before: field.after, after: field.before }, cause, sides),
  );
  return { identity, kind: type, file, line, before, after, changes, isUncommitted: uncommitted?.has(file) ?? false };
}
