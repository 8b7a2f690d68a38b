import type { GateStepAnswer, NotPromoted } from "../../contract/generated/output.ts";
import { equal, type JsonObject } from "../../contract/json.ts";
import { pointerTokens } from "../../contract/json-pointer.ts";
import { changeOf } from "../../core/diff/change.ts";
import { contentOf } from "../../core/diff/compared-content.ts";
import { differences } from "../../core/diff/differences.ts";
import { writtenValueAt } from "../../core/diff/pointer.ts";
import { closedGates, closedGatesText } from "../../core/gates/content-gate.ts";
import { requireKind } from "../../core/kind.ts";
import { type Identity, requireRead } from "../../core/manifest.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { PromotionCandidate } from "../../core/promotion/promotion.ts";
import { unnumbered, withVersions } from "../../core/promotion/version-fields.ts";
import { isOpened, type Recorded } from "../../core/recorded.ts";
import type { PromotedManifest, PromotionEvent } from "../../core/report/events.ts";
import { kindsByType } from "../../kinds/index.ts";
import { literalSecrets } from "../../manifests/literal-secrets.ts";
import { readManifests } from "../../manifests/read-manifests.ts";
import type { SourceManifest } from "../../manifests/source-manifest.ts";
import { type AskGates, gateAskerOf } from "../gates/ask-gates.ts";
import type { Desired } from "../load/desired.ts";
import { EVERYTHING, type Observed, observe } from "../observe.ts";
import type { Pass } from "../pass.ts";
import { answersIn, askAboutSteps } from "../plan/ask-about-steps.ts";
import { type LivePlan, type Planning, planAgainstLive } from "../plan.ts";
import { editManifests, type PromotedSource } from "../promotion/edit-manifests.ts";
import { readAccessOf } from "../session.ts";

/** A pass that plans what a promotion to this target would do, and writes nothing. */
export type PromoteMode = {
  readonly is: "promote";
  /** With the names that the target has for clusters and workspaces. */
  readonly candidates: readonly PromotionCandidate[];
  /** Whether the other target read the same files as this revision, so that one document may declare a resource in both. */
  readonly isOneSource: (revision: string | null) => boolean;
  readonly readerOf: PromotedSource["readerOf"];
  /** Whether the answers of gates are stored, as where a pull request is opened. */
  readonly keepsReceipts: boolean;
};

/** Finds how manifests have to change, and plans the promotion and its revert. */
export async function promotePass(pass: Pass, mode: PromoteMode): Promise<PromotionEvent> {
  const { connection, read, run } = pass;
  const { desired } = read;
  const find = manifestFinder(read.manifests, mode.isOneSource(desired.revision));
  const pairs: { readonly candidate: PromotionCandidate; readonly manifest: SourceManifest }[] = [];
  const refused: NotPromoted[] = [];
  for (const candidate of mode.candidates) {
    const manifest = find(candidate);
    if (manifest === undefined) refused.push(notDeclared(candidate, desired));
    else pairs.push({ candidate, manifest });
  }
  const values = await readManifests(
    pairs.map(({ manifest }) => manifest),
    { clock: run.clock, signal: run.stopping },
  );
  const found = pairs.map(({ candidate }, at) => promotedOf(candidate, values[at] ?? null, desired.uncommitted));
  const changed = found.filter((one): one is PromotedManifest => one !== null && "from" in one);
  refused.push(...found.filter((one): one is NotPromoted => one !== null && "why" in one));
  const { session } = connection;
  const gates = await gateAskerOf(pass.gates, { session, clock: run.clock, keeps: mode.keepsReceipts });
  const { from: indexed } = read;
  if (indexed === null) throw new TypeError("a promotion needs the files of its source");
  const { promoted, files, closed, plans } = await throughGates(
    changed,
    { indexed, readerOf: mode.readerOf },
    gates,
    pass,
  );
  refused.push(...closed);
  return {
    what: "promotion",
    server: session.server,
    revision: desired.revision,
    branch: desired.branch ?? null,
    promoted,
    refused,
    unchanged: found.filter((one) => one === null).length,
    plans,
    files,
  };
}

// One document declares the same in both targets, whatever they call it.
function manifestFinder(
  manifests: readonly SourceManifest[],
  isOneSource: boolean,
): (candidate: PromotionCandidate) => SourceManifest | undefined {
  const byName = new Map(manifests.map((manifest) => [unnumbered(manifest.identity), manifest]));
  const placeOf = ({ file, line }: SourceManifest | PromotionCandidate): string => `${line} ${file}`;
  const byPlace = new Map(isOneSource ? manifests.map((manifest) => [placeOf(manifest), manifest] as const) : []);
  return (candidate) => byPlace.get(placeOf(candidate)) ?? byName.get(unnumbered(candidate.as));
}

function notDeclared({ identity, kind, as }: PromotionCandidate, { refused, nameless }: Desired): NotPromoted {
  const [invalid = nameless[0]] = refused.filter((one) => one.identity === as);
  if (invalid !== undefined) {
    const detail = `the manifest of the target promoted to is invalid: ${invalid.message}`;
    return { identity, kind, why: "invalid", detail };
  }
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

type GatedPromotion = Pick<PromotionEvent, "promoted" | "files" | "plans"> & {
  readonly closed: readonly NotPromoted[];
};

// The gates are asked about what an apply would send. What they do not let pass is left out, and the rest planned without it.
async function throughGates(
  changed: readonly PromotedManifest[],
  source: PromotedSource,
  gates: AskGates | null,
  pass: Pass,
): Promise<GatedPromotion> {
  const { promoted, files, refused } = await editManifests(changed, source, pass.run);
  if (promoted.length === 0) return { promoted, files, closed: refused, plans: null };
  const { plans, planned } = await plansOf(promoted, gates, pass);
  const asked = await askAboutSteps(planned, planned, gates, { ...pass.run, isAsked: () => true });
  const closed = new Map(
    asked.flatMap(({ gated, receipts }) => {
      const shut = closedGates(gated, receipts);
      return shut.length === 0 ? [] : [[gated.identity, closedGatesText(shut)] as const];
    }),
  );
  if (closed.size === 0) return { promoted, files, closed: refused, plans };
  const answers = answersIn(asked);
  const rest = await throughGates(
    changed.filter(({ identity }) => promoted.some((one) => one.identity === identity) && !closed.has(identity)),
    source,
    gates,
    pass,
  );
  const shut = promoted.filter(({ identity }) => closed.has(identity));
  return { ...rest, closed: [...refused, ...shut.map((one) => byGate(one, closed, answers)), ...rest.closed] };
}

function byGate(
  { identity, kind, from }: PromotedManifest,
  closed: ReadonlyMap<Identity, string>,
  answers: ReadonlyMap<Identity, readonly GateStepAnswer[]>,
): NotPromoted {
  const detail = `blocked by its gate: ${closed.get(identity)}`;
  return { identity: from.identity, kind, why: "gate", detail, gates: [...(answers.get(identity) ?? [])] };
}

// The revert is planned as it would be once the promotion is applied: what is promoted is then live and recorded.
async function plansOf(
  promoted: readonly PromotedManifest[],
  gates: AskGates | null,
  { connection: { session }, read, run }: Pass,
): Promise<{ readonly plans: NonNullable<PromotionEvent["plans"]>; readonly planned: LivePlan }> {
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
  const planned = await planAgainstLive(withContents(observed, after), { ...planning, checks: { ...checks, gates } });
  const revert = await revertOf(planned, observed, { after, planning });
  return { plans: { promotion: planned.plan, revert }, planned };
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
