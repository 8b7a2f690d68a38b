import type { RouteProbe } from "../../client/route-probe.ts";
import type { NotChecked } from "../../contract/generated/output.ts";
import type { DryRunReply } from "../../core/decide/decision.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { Kind } from "../../core/kind.ts";
import { exists, type Live, type LiveView } from "../../core/live.ts";
import { type Identity, type Manifest, requireRead } from "../../core/manifest.ts";
import { parentOf } from "../../core/parent.ts";
import { type Action, writes } from "../../core/plan/plan.ts";
import type { PlanWithDecisions } from "../../core/plan/plan-input.ts";
import { readManifest } from "../../manifests/read-manifests.ts";
import type { KnownServer } from "../known-server.ts";
import type { DryRun, DryRunResult } from "./dry-run.ts";
import { isResourceError, type Observation, unreadableDiagnostic, type WavedSource } from "./observe.ts";
import { refuseAbsentSecrets, type SecretContext } from "./refuse-absent-secrets.ts";

/** What dry runs need of their surroundings. */
export type Preflight = SecretContext & {
  readonly kindOf: (type: string) => Kind | undefined;
  readonly serverFacts: KnownServer;
  readonly probeRoute: RouteProbe;
  readonly dryRun: DryRun;
  /** Whether creates are dry-run: `skipped` where the user leaves that out, `pointless` where nobody looks at them. */
  readonly creates: "dry-run" | "skipped" | "pointless";
  /** Whether the token sees a part of the tenant at most; null where the control plane does not tell. */
  readonly seesPart: boolean | null;
  /** Takes what the dry runs left open. */
  readonly unclear: Diagnostic[];
};

/** What there is to check. */
export type Unchecked = LiveView &
  PlanWithDecisions & {
    readonly waved: readonly WavedSource[];
    /** What dry runs have told already. */
    readonly answered: ReadonlyMap<Identity, DryRunReply>;
  };

/** What the server says of a plan. */
export type Checked = {
  readonly dryRuns: ReadonlyMap<Identity, DryRunReply>;
  /** The steps that no dry run has checked, and why. */
  readonly notChecked: ReadonlyMap<Identity, NotChecked>;
};

type Job = { readonly kind: Kind; readonly manifest: Manifest; readonly action: Action };

/** How many unchanged applications are dry-run at most to prove that a dry run changes nothing. */
const PROOFS = 3;

/**
 * Asks the server, by dry run, what it would make of a plan. Of manifests that seem to differ: its defaults and rewrites
 * are no differences. Of new ones: whether it would take them, at most one request each, and only where a dry run is
 * proven to change nothing. The first manifest of a kind whose write is an extension also shows whether the server has
 * it, or a probe of the route does, where there is no dry run.
 */
export async function preflight(plan: Unchecked, context: Preflight): Promise<Checked> {
  const { decisions, answered } = plan;
  const jobs = plan.waved.flatMap(({ manifest }): Job[] => {
    const [kind, action] = [context.kindOf(manifest.kind), decisions.get(manifest.identity)?.action];
    return kind === undefined || action === undefined || !writes({ action })
      ? []
      : [{ kind, manifest: requireRead(manifest), action }];
  });
  const isNew = ({ action }: Job): boolean => action !== "update";
  const creating = new Set(jobs.filter(isNew).map(({ manifest }) => manifest.identity));
  const dependsOn = ({ manifest }: Job): readonly Identity[] =>
    manifest.references.flatMap(({ identity }) => (creating.has(identity) ? [identity] : []));
  const open = jobs.filter(({ manifest }) => !answered.has(manifest.identity));
  const updates = open.filter((job) => !isNew(job) && dependsOn(job).length === 0);
  const first = await ask(new Set([...probesAmong(open, context.serverFacts), ...updates]), dependsOn, context);
  const creates = jobs.filter(isNew);
  if (context.creates === "pointless") {
    return { dryRuns: new Map([...first, ...hiddenAmong(plan, first, context)]), notChecked: new Map() };
  }
  const uncheckedUpdates = jobs.flatMap((job) => {
    const { identity } = job.manifest;
    const why = isNew(job)
      ? null
      : reasonNotUpdated(job, answered.get(identity) ?? first.get(identity), dependsOn(job), context);
    return why === null ? [] : [[identity, why] as const];
  });
  if (creates.length === 0) {
    const hidden = hiddenAmong(plan, first, context);
    return { dryRuns: new Map([...first, ...hidden]), notChecked: new Map(uncheckedUpdates) };
  }
  const dependent = (job: Job): NotChecked | null => reasonNot(job.kind, dependsOn(job), context);
  const isWaiting = ({ manifest: { identity } }: Job): boolean => !answered.has(identity) && !first.has(identity);
  const waiting = creates.filter((job) => isWaiting(job) && dependent(job) === null);
  const unwritable = waiting.length === 0 ? new Set<Identity>() : await prove(plan, context);
  const isProven = context.serverFacts.dryRun === "proven";
  const asked = new Map([...first, ...(isProven ? await ask(new Set(waiting), () => [], context) : [])]);
  const notChecked = new Map([
    ...uncheckedUpdates,
    ...creates.flatMap((job) => {
      const { identity } = job.manifest;
      // What a probe of the route was answered tells nothing of the manifest until dryRun is proven.
      const reply = answered.get(identity) ?? (isProven ? asked.get(identity) : undefined);
      const why = reply === undefined ? (dependent(job) ?? unasked(job, isProven, unwritable)) : whyNot(reply);
      return why === null ? [] : [[identity, why] as const];
    }),
  ]);
  const unchecked = creates.flatMap(({ manifest }) => (notChecked.has(manifest.identity) ? [manifest] : []));
  // Whoever may not write it plans for somebody who does, and who may see more.
  const isForOthers = (identity: Identity): boolean => {
    const why = notChecked.get(identity);
    return why?.reason === "needs-write" || (why?.on ?? []).some(isForOthers);
  };
  const refused = await refuseAbsentSecrets(unchecked, { ...context, isForOthers });
  const hidden = hiddenAmong(plan, new Map([...asked].filter(([identity]) => !notChecked.has(identity))), context);
  return { dryRuns: new Map([...asked, ...refused, ...hidden]), notChecked };
}

// Of what lies in nothing but the tenant only a dry run tells that it is not there, hidden from this token. One that is
// refused for permission tells what the token is where the control plane does not.
function hiddenAmong(
  { waved, answered, live }: Unchecked,
  asked: ReadonlyMap<Identity, DryRunReply>,
  { seesPart }: Preflight,
): ReadonlyMap<Identity, DryRunReply> {
  if (seesPart === false) return new Map();
  const ofTenant = waved.flatMap(({ manifest }) => (parentOf(manifest) === null ? [manifest.identity] : []));
  const replyTo = (identity: Identity): DryRunReply | undefined => answered.get(identity) ?? asked.get(identity);
  const isPart = seesPart ?? ofTenant.some((identity) => replyTo(identity)?.state === "forbidden");
  const isHidden = (identity: Identity): boolean =>
    isPart && live.get(identity)?.state === "absent" && replyTo(identity) === undefined;
  return new Map(ofTenant.filter(isHidden).map((identity) => [identity, { state: "forbidden" }]));
}

/** The same observation, telling of what cannot be read that it is there, where its dry run answered an id. */
export function withExisting(observation: Observation, dryRuns: ReadonlyMap<Identity, DryRunReply>): Observation {
  const found = [...dryRuns].flatMap(([identity, reply]): (readonly [Identity, Live])[] => {
    const live = observation.live.get(identity);
    const isExisting = live?.state === "unknown" && reply.state === "answered" && reply.row?.id;
    return isExisting ? [[identity, { ...live, exists: true }]] : [];
  });
  return found.length === 0 ? observation : { ...observation, live: new Map([...observation.live, ...found]) };
}

/** Why a create is not dry-run, whatever the server has proven; null where it is. */
function reasonNot(
  kind: Kind,
  dependencies: readonly Identity[],
  { creates, serverFacts }: Preflight,
): NotChecked | null {
  if (!hasDryRun(kind, serverFacts)) return { reason: "unsupported" };
  if (creates === "skipped") return { reason: "skipped" };
  return dependencies.length === 0 ? null : { reason: "depends-on", on: dependencies };
}

// Updates are dry-run with or without proof, for what the server makes of them.
function reasonNotUpdated(
  { kind }: Job,
  reply: DryRunReply | undefined,
  dependencies: readonly Identity[],
  { serverFacts }: Preflight,
): NotChecked | null {
  if (reply !== undefined) return whyNot(reply);
  if (!hasDryRun(kind, serverFacts)) return { reason: "unsupported" };
  return dependencies.length === 0 ? { reason: "unanswered" } : { reason: "depends-on", on: dependencies };
}

// Where the token may not ask for an application, it may not for another one beside it.
function unasked({ kind, manifest }: Job, isProven: boolean, unwritable: ReadonlySet<Identity>): NotChecked {
  if (isProven) return { reason: "unanswered" };
  const parent = kind.rollsOut === true ? parentOf(manifest) : null;
  return { reason: parent !== null && unwritable.has(parent) ? "needs-write" : "unproven" };
}

function whyNot({ state }: DryRunReply): NotChecked | null {
  return state === "forbidden" ? { reason: "needs-write" } : null;
}

function hasDryRun({ writeRoutes }: Kind, serverFacts: KnownServer): boolean {
  return writeRoutes.some(({ operation, dryRun }) => dryRun !== undefined && serverFacts.has(operation));
}

// The first of each kind whose write nobody knows yet.
function probesAmong(jobs: readonly Job[], serverFacts: KnownServer): readonly Job[] {
  const unknown = jobs.filter(({ kind }) => isUnknown(kind, serverFacts));
  return [...Map.groupBy(unknown, ({ kind }) => kind).values()].flatMap((group) => group.slice(0, 1));
}

async function ask(
  jobs: ReadonlySet<Job>,
  dependsOn: (job: Job) => readonly Identity[],
  context: Preflight,
): Promise<ReadonlyMap<Identity, DryRunReply>> {
  const asked = new Map<Identity, DryRunReply>();
  await Promise.all(
    [...jobs].map(async (job) => {
      const { kind, manifest } = job;
      if (isUnknown(kind, context.serverFacts)) await orPass(probe(kind, context), context);
      const tried = await orPass(context.dryRun(kind, manifest, context), context);
      // A probe that is refused for what does not exist yet tells of the route alone.
      if (tried.state !== "impossible" && dependsOn(job).length === 0) asked.set(manifest.identity, tried);
    }),
  );
  return asked;
}

// One that is live as it is declared would make a version that equals the newest one, were the dry run to do more than that.
// Answers the workspaces where the token may not ask.
async function prove({ waved, decisions, ...live }: Unchecked, context: Preflight): Promise<ReadonlySet<Identity>> {
  const unwritable = new Set<Identity>();
  let remaining = PROOFS;
  for (const { manifest } of waved) {
    if (context.serverFacts.dryRun === "proven" || remaining === 0) break;
    const kind = context.kindOf(manifest.kind);
    const action = decisions.get(manifest.identity)?.action ?? "keep";
    if (kind?.rollsOut !== true || action !== "keep" || !exists(live, manifest.identity)) continue;
    remaining -= 1;
    const read = await readManifest(manifest, context);
    const { state } = await orPass(context.dryRun(kind, read, context), context);
    const parent = parentOf(manifest);
    if (state === "forbidden" && parent !== null) unwritable.add(parent);
  }
  return unwritable;
}

// A dry run tells of the route too, where there is one.
async function probe({ writeRoutes: [first] }: Kind, context: Preflight): Promise<DryRunResult> {
  if (first !== undefined && first.dryRun === undefined) await context.probeRoute(first.operation, context);
  return { state: "impossible" };
}

// Without the server's word on its defaults the schema's stand; the plan itself does not hang on it. Whether there is a
// way to write decides what is planned.
async function orPass(asking: Promise<DryRunResult>, { unclear }: Preflight): Promise<DryRunResult> {
  return asking.catch((error: unknown) => {
    if (!isResourceError(error)) throw error;
    const isNew = !unclear.some(({ summary }) => summary.includes(error.message));
    if (error.reason === "route-unclear" && isNew) {
      unclear.push(unreadableDiagnostic(error.operation, error, "the plan is not complete: this may not be writable"));
    }
    return { state: "impossible" };
  });
}

function isUnknown({ writeRoutes: [first] }: Kind, serverFacts: KnownServer): boolean {
  return first !== undefined && !serverFacts.knows(first.operation);
}
