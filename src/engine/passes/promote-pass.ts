import type { NotPromoted } from "../../contract/generated/output.ts";
import { equal, type JsonObject } from "../../contract/json.ts";
import { pointerTokens } from "../../contract/json-pointer.ts";
import { changeOf } from "../../core/diff/change.ts";
import { contentOf } from "../../core/diff/compared-content.ts";
import { differences } from "../../core/diff/differences.ts";
import { writtenValueAt } from "../../core/diff/pointer.ts";
import { requireKind } from "../../core/kind.ts";
import { type Identity, type ManifestHead, requireRead } from "../../core/manifest.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { PromotionCandidate } from "../../core/promotion/promotion.ts";
import { unnumbered, withVersions } from "../../core/promotion/version-fields.ts";
import { isOpened, type Recorded } from "../../core/recorded.ts";
import type { PromotedManifest, PromotionEvent } from "../../core/report/events.ts";
import { kindsByType } from "../../kinds/index.ts";
import { literalSecrets } from "../../manifests/literal-secrets.ts";
import { readManifests } from "../../manifests/read-manifests.ts";
import type { SourceManifest } from "../../manifests/source-manifest.ts";
import { EVERYTHING, type Observed, observe } from "../observe.ts";
import type { Pass } from "../pass.ts";
import { type LivePlan, type Planning, planAgainstLive } from "../plan.ts";
import { readAccessOf } from "../session.ts";

/** A pass that plans what a promotion to this target would do, and writes nothing. */
export type PromoteMode = {
  readonly is: "promote";
  readonly candidates: readonly PromotionCandidate[];
  /** Why a candidate cannot be promoted to a manifest; null where it can. */
  readonly refuse: (candidate: PromotionCandidate, manifest: ManifestHead) => NotPromoted | null;
};

/** Finds how manifests have to change, and plans the promotion and its revert. */
export async function promotePass(pass: Pass, mode: PromoteMode): Promise<PromotionEvent> {
  const { connection, read, run } = pass;
  const { desired } = read;
  const declared = new Map(read.manifests.map((manifest) => [unnumbered(manifest.identity), manifest]));
  const pairs: { readonly candidate: PromotionCandidate; readonly manifest: SourceManifest }[] = [];
  const refused: NotPromoted[] = [];
  for (const candidate of mode.candidates) {
    const manifest = declared.get(unnumbered(candidate.identity));
    const why = manifest === undefined ? notDeclared(candidate) : mode.refuse(candidate, manifest);
    if (why !== null) refused.push(why);
    else if (manifest !== undefined) pairs.push({ candidate, manifest });
  }
  const values = await readManifests(
    pairs.map(({ manifest }) => manifest),
    { clock: run.clock, signal: run.stopping },
  );
  const found = pairs.map(({ candidate }, at) => promotedOf(candidate, values[at] ?? null, desired.uncommitted));
  const promoted = found.filter((one): one is PromotedManifest => one !== null && "from" in one);
  refused.push(...found.filter((one): one is NotPromoted => one !== null && "why" in one));
  return {
    what: "promotion",
    server: connection.session.server,
    revision: desired.revision,
    branch: desired.branch ?? null,
    promoted,
    refused,
    unchanged: found.filter((one) => one === null).length,
    plans: promoted.length === 0 ? null : await plansOf(promoted, pass),
    secretFiles: await secretFilesOf(promoted, pass),
  };
}

function notDeclared({ identity, kind }: PromotionCandidate): NotPromoted {
  return { identity, kind, why: "not-declared", detail: "the target promoted to does not declare it" };
}

// Null where the manifest is already as it would be promoted.
function promotedOf(
  from: PromotionCandidate,
  manifest: SourceManifest | null,
  uncommitted: ReadonlySet<string> | undefined,
): PromotedManifest | NotPromoted | null {
  if (manifest === null) return null;
  const { identity, kind: type, file, line } = manifest;
  const kind = requireKind(kindsByType, type);
  const { value: before } = requireRead(manifest);
  const paths = from.fields.map(({ path }) => path);
  const after = withVersions(kind, before, from.live, paths);
  if (equal(before, after)) return null;
  if (hasNewSecret(type, before, after)) {
    const detail = "a value in live looks like a secret, and would be in git";
    return { identity: from.identity, kind: type, why: "literal-secret", detail };
  }
  const sides = { shape: kind.shape, manifest: after, live: before };
  const changes = differences(kind.shape, contentOf(kind, before), contentOf(kind, after)).map((one) =>
    changeOf(one, "manifest", sides),
  );
  const isUncommitted = uncommitted?.has(file) ?? false;
  return { identity, kind: type, file, line, before, after, changes, isUncommitted, from };
}

function hasNewSecret(type: string, before: JsonObject, after: JsonObject): boolean {
  const { shape } = requireKind(kindsByType, type);
  return literalSecrets(shape, after, true, () => false).some(({ pointer }) => {
    const tokens = pointerTokens(pointer);
    return !equal(writtenValueAt(before, tokens), writtenValueAt(after, tokens));
  });
}

// The revert is planned as it would be once the promotion is applied: what is promoted is then live and recorded.
async function plansOf(
  promoted: readonly PromotedManifest[],
  { connection: { session }, read, run }: Pass,
): Promise<PromotionEvent["plans"]> {
  const { desired, rules } = read;
  const after = new Map(promoted.map((one) => [one.identity, one.after]));
  const manifests = read.manifests.filter(({ identity }) => after.has(identity));
  const records = { heads: await session.heads(), ledger: session.ledger };
  const given = { server: readAccessOf(session), records, rules, run };
  const scope = { ...EVERYTHING, seeksOrphans: false, readsEach: true };
  const part = { ...desired, isWhole: false, manifests, diagnostics: [], refused: [] };
  const observed = await observe(part, { ...given, scope });
  const checks = { creates: "not-needed", guards: null, hasSink: session.sink !== null } as const;
  const planning: Planning = { ...given, checks };
  const promotion = await planAgainstLive(withContents(observed, after), planning);
  return { promotion: promotion.plan, revert: await revertOf(promotion, observed, { after, planning }) };
}

function withContents(observed: Observed, contents: ReadonlyMap<Identity, JsonObject>): Observed {
  const changed = (manifest: SourceManifest): SourceManifest => {
    const value = contents.get(manifest.identity);
    // Its digest is that of the document as it is.
    return value === undefined ? manifest : { ...manifest, value, digest: undefined };
  };
  return {
    ...observed,
    desired: { ...observed.desired, manifests: observed.desired.manifests.map(changed) },
    waved: observed.waved.map((one) => ({ ...one, manifest: changed(one.manifest) })),
  };
}

async function revertOf(
  { observation }: LivePlan,
  observed: Observed,
  { after, planning }: { readonly after: ReadonlyMap<Identity, JsonObject>; readonly planning: Planning },
): Promise<Plan> {
  const live = new Map(observation.live);
  const recorded = new Map(observed.recorded);
  for (const [identity, manifest] of after) {
    const [one, known] = [live.get(identity), recorded.get(identity)];
    const returned = one?.state === "present" ? { ...one.row.manifest, ...manifest } : null;
    if (one?.state === "present" && returned !== null)
      live.set(identity, { ...one, row: { ...one.row, manifest: returned } });
    if (known === undefined || !isOpened(known)) continue;
    const promoted: Recorded = { ...known, written: manifest, returned };
    recorded.set(identity, promoted);
  }
  const promoted = { ...observed, recorded, observation: { ...observed.observation, live, dryRuns: new Map() } };
  return (await planAgainstLive(promoted, planning)).plan;
}

async function secretFilesOf(promoted: readonly PromotedManifest[], { read, run }: Pass): Promise<ReadonlySet<string>> {
  const files = new Set(promoted.map(({ file }) => file));
  const beside = read.manifests.filter(({ file }) => files.has(file));
  const values = await readManifests(beside, { clock: run.clock, signal: run.stopping });
  const secret = values.filter(({ kind, value }) => {
    return literalSecrets(requireKind(kindsByType, kind).shape, value, true, () => false).length > 0;
  });
  return new Set(secret.map(({ file }) => file));
}
