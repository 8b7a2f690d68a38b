import type { GateStepAnswer, NotPromoted } from "../../contract/generated/output.ts";
import { equal, type JsonObject } from "../../contract/json.ts";
import { changeOf } from "../../core/diff/change.ts";
import { contentOf } from "../../core/diff/compared-content.ts";
import { closedGates, closedGatesText } from "../../core/gates/content-gate.ts";
import { type Kind, requireKind } from "../../core/kind.ts";
import { type Identity, type Manifest, requireRead } from "../../core/manifest.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { PromotionCandidate } from "../../core/promotion/promotion.ts";
import { unnumbered, withVersions } from "../../core/promotion/version-fields.ts";
import { isOpened, type Recorded } from "../../core/recorded.ts";
import type { PromotedManifest, PromotionEvent } from "../../core/report/events.ts";
import { kindsByType } from "../../kinds/index.ts";
import { addedSecrets } from "../../manifests/literal-secrets.ts";
import { readManifests } from "../../manifests/read-manifests.ts";
import type { SourceManifest } from "../../manifests/source-manifest.ts";
import { differences } from "../../model/differences.ts";
import { type AskGates, gateAskerOf } from "../gates/ask-gates.ts";
import type { Desired } from "../load/desired.ts";
import { EVERYTHING, type Observed, observe } from "../observe.ts";
import type { Pass } from "../pass.ts";
import { answersIn, askAboutSteps } from "../plan/ask-about-steps.ts";
import { type LivePlan, type Planning, planAgainstLive } from "../plan.ts";
import { type EditedManifests, editManifests, type PromotedSource } from "../promotion/edit-manifests.ts";
import {
  numberedAs,
  type PromotionPair,
  type VersionNumbers,
  versionNumbers,
  withNumbers,
} from "../promotion/number-versions.ts";
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
  const { session } = connection;
  const { clock, stopping: signal } = run;
  const { pairs, refused } = pairsOf(read.manifests, desired, mode);
  const values = await readManifests(
    pairs.map(({ manifest }) => manifest),
    { clock, signal },
  );
  const complete = values.flatMap((manifest, at) => {
    const candidate = pairs[at]?.candidate;
    return candidate === undefined ? [] : [{ candidate, manifest }];
  });
  const numbers = await versionNumbers(complete, { reader: session.reader, signal });
  const found = complete.map((pair) => promotedOf(pair, numbers, desired));
  const changed = found.filter((one): one is PromotedManifest => one !== null && "from" in one);
  const gates = await gateAskerOf(pass.gates, { session, clock, keeps: mode.keepsReceipts });
  const { from: indexed } = read;
  if (indexed === null) throw new TypeError("a promotion needs the files of its source");
  const source = { indexed, readerOf: mode.readerOf };
  const { promoted, files, closed, plans } = await throughGates(changed, source, gates, pass);
  return {
    what: "promotion",
    server: session.server,
    revision: desired.revision,
    branch: desired.branch ?? null,
    promoted,
    refused: [...refused, ...found.filter((one): one is NotPromoted => one !== null && "why" in one), ...closed],
    unchanged: found.filter((one) => one === null).length,
    plans,
    files,
  };
}

type Pairs = { readonly pairs: readonly PromotionPair<SourceManifest>[]; readonly refused: readonly NotPromoted[] };

function pairsOf(manifests: readonly SourceManifest[], desired: Desired, mode: PromoteMode): Pairs {
  const find = manifestFinder(manifests, mode.isOneSource(desired.revision));
  const found = newestOnly(mode.candidates).map((candidate) => ({ candidate, manifest: find(candidate) }));
  return {
    pairs: found.flatMap(({ candidate, manifest }) => (manifest === undefined ? [] : [{ candidate, manifest }])),
    refused: found.flatMap(({ candidate, manifest }) =>
      manifest === undefined ? [notDeclared(candidate, desired)] : [],
    ),
  };
}

// Of several versions of one name, the newest is what the target is about to use.
function newestOnly(candidates: readonly PromotionCandidate[]): readonly PromotionCandidate[] {
  const byName = Map.groupBy(candidates, ({ as }) => unnumbered(as));
  const numberOf = ({ live: { version } }: PromotionCandidate): number => Number(version ?? 0);
  return [...byName.values()].flatMap((some) => {
    if (!requireKind(kindsByType, some[0]?.kind ?? "").hasVersions) return some;
    return some.toSorted((a, b) => numberOf(b) - numberOf(a)).slice(0, 1);
  });
}

// One document declares the same in both targets, whatever they call it.
function manifestFinder(
  manifests: readonly SourceManifest[],
  isOneSource: boolean,
): (candidate: PromotionCandidate) => SourceManifest | undefined {
  const byIdentity = new Map(manifests.map((manifest) => [manifest.identity, manifest]));
  const byName = new Map(manifests.map((manifest) => [unnumbered(manifest.identity), manifest]));
  const placeOf = ({ file, line }: SourceManifest | PromotionCandidate): string => `${line} ${file}`;
  const byPlace = new Map(isOneSource ? manifests.map((manifest) => [placeOf(manifest), manifest] as const) : []);
  return (candidate) =>
    byPlace.get(placeOf(candidate)) ?? byIdentity.get(candidate.as) ?? byName.get(unnumbered(candidate.as));
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
  { candidate: from, manifest }: PromotionPair<SourceManifest & Manifest>,
  numbers: VersionNumbers,
  { uncommitted, declared }: Desired,
): PromotedManifest | NotPromoted | null {
  const { identity, kind: type, file, line } = manifest;
  const refuse = (why: NotPromoted["why"], detail: string): NotPromoted => {
    return { identity: from.identity, kind: type, why, detail };
  };
  const kind = requireKind(kindsByType, type);
  const { value: before } = requireRead(manifest);
  const paths = from.fields.map(({ path }) => path);
  const content = withVersions(kind, before, withNumbers(from.live, numbers), paths);
  if (equal(before, content)) return null;
  const number = before.version === undefined ? undefined : numbers.get(numberedAs(from));
  if (typeof number === "object") return refuse("unreadable", `its number is not known: ${number.fault}`);
  const after = number === undefined ? content : { ...content, version: number };
  const as = number === undefined ? identity : `${unnumbered(identity)}@${number}`;
  if (as !== identity && declared.has(as)) return null;
  const others = declared.keys().filter((one) => one !== identity && unnumbered(one) === unnumbered(identity));
  if (number !== undefined && others.next().done !== true) {
    const detail = `the target promoted to declares several versions of it: add a manifest of version ${number} by hand`;
    return refuse("not-editable", detail);
  }
  if (addedSecrets(kind.shape, before, after).length > 0)
    return refuse("literal-secret", "a value in live looks like a secret, and would be in git");
  const changes = changesOf(kind, before, after);
  const isUncommitted = uncommitted?.has(file) ?? false;
  return { identity, as, kind: type, file, line, before, after, changes, isUncommitted, from };
}

function changesOf(kind: Kind, before: JsonObject, after: JsonObject): PromotedManifest["changes"] {
  const sides = { shape: kind.shape, manifest: after, live: before };
  const found = differences(kind.shape, contentOf(kind, before), contentOf(kind, after));
  const numbers = { tokens: ["version"], before: before.version, after: after.version, sensitive: false };
  const isRenumbered = kind.hasVersions && !equal(before.version, after.version);
  return [...found, ...(isRenumbered ? [numbers] : [])].map((one) => changeOf(one, "manifest", sides));
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
  const { promoted, files, refused, declared } = await editManifests(changed, source, pass.run);
  if (promoted.length === 0) return { promoted, files, closed: refused, plans: null };
  const { plans, planned } = await plansOf({ promoted, declared }, gates, pass);
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
    changed.filter(({ as }) => promoted.some((one) => one.as === as) && !closed.has(as)),
    source,
    gates,
    pass,
  );
  const shut = promoted.filter(({ as }) => closed.has(as));
  return { ...rest, closed: [...refused, ...shut.map((one) => byGate(one, closed, answers)), ...rest.closed] };
}

function byGate(
  { as, kind, from }: PromotedManifest,
  closed: ReadonlyMap<Identity, string>,
  answers: ReadonlyMap<Identity, readonly GateStepAnswer[]>,
): NotPromoted {
  const detail = `blocked by its gate: ${closed.get(as)}`;
  return { identity: from.identity, kind, why: "gate", detail, gates: [...(answers.get(as) ?? [])] };
}

// The revert is planned as it would be once the promotion is applied: what is promoted is then live and recorded.
async function plansOf(
  { promoted, declared }: Pick<EditedManifests<PromotedManifest>, "promoted" | "declared">,
  gates: AskGates | null,
  { connection: { session }, read, run }: Pass,
): Promise<{ readonly plans: NonNullable<PromotionEvent["plans"]>; readonly planned: LivePlan }> {
  const { desired, rules } = read;
  const records = { heads: await session.heads(), ledger: session.ledger };
  const given = { server: readAccessOf(session), records, rules, run };
  const scope = { ...EVERYTHING, seeksOrphans: false, readsEach: true };
  const part = { ...desired, isWhole: false, diagnostics: [], refused: [] };
  const checks = { creates: "not-needed", guards: null, hasSink: session.sink !== null } as const;
  const planning: Planning = { ...given, checks };
  const all = desired.declared.union(new Set(promoted.map(({ as }) => as)));
  const observed = await observe({ ...part, manifests: declared, declared: all }, { ...given, scope });
  const planned = await planAgainstLive(observed, { ...planning, checks: { ...checks, gates } });
  const old = new Set(promoted.map(({ identity }) => identity));
  const manifests = read.manifests.filter(({ identity }) => old.has(identity));
  const before = await observe({ ...part, manifests }, { ...given, scope });
  const after = new Map(promoted.map((one) => [one.as, one.after]));
  return { plans: { promotion: planned.plan, revert: await revertOf(before, { after, planning }) }, planned };
}

async function revertOf(
  before: Observed,
  { after, planning }: { readonly after: ReadonlyMap<Identity, JsonObject>; readonly planning: Planning },
): Promise<Plan> {
  const live = new Map(before.observation.live);
  const recorded = new Map(before.recorded);
  for (const [identity, manifest] of after) {
    const [one, known] = [live.get(identity), recorded.get(identity)];
    const returned = one?.state === "present" ? { ...one.row.manifest, ...manifest } : null;
    if (one?.state === "present" && returned !== null)
      live.set(identity, { ...one, row: { ...one.row, manifest: returned } });
    if (known === undefined || !isOpened(known)) continue;
    const promoted: Recorded = { ...known, written: manifest, returned };
    recorded.set(identity, promoted);
  }
  const promoted = { ...before, recorded, observation: { ...before.observation, live, dryRuns: new Map() } };
  return (await planAgainstLive(promoted, planning)).plan;
}
