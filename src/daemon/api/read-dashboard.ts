import type {
  CommitsReply,
  FleetReply,
  FleetTarget,
  HoldEntry,
  ResourceEvent,
  ResourceGraphReply,
  ResourceStateReply,
  TargetReply,
  WhyReply,
} from "../../contract/generated/output.ts";
import { HoldfastError } from "../../core/errors.ts";
import { holdsAt } from "../../core/holds.ts";
import type { Identity } from "../../core/manifest.ts";
import { redactFailureMessage } from "../../core/redact/redact-message.ts";
import type { TargetStatus } from "../../core/report/target-status.ts";
import { conflict, HttpError, notFound } from "../../http/http-error.ts";
import type { TargetStore } from "../../state/target-store.ts";
import type { SeenResources } from "../http/resource-states.ts";
import { machineName } from "../pass-queue.ts";
import type { AskedValue, DashboardSource, DashboardTarget } from "./dashboard-source.ts";
import { nextCommands } from "./next-commands.ts";
import { type GraphQuery, type KnownReferences, resourceGraph } from "./resource-graph.ts";
import { type ResourceTable, resourceRows, resourceTable } from "./resource-table.ts";
import type { TargetActivity } from "./target-activity.ts";

/** What a daemon knows beside the state. */
export type DaemonKnowledge = {
  readonly activity: Pick<TargetActivity, "passOf" | "versionOf">;
  /** The resources that passes of this process found, those that need attention first. */
  readonly resources: (target: string) => SeenResources;
  /** Why the latest configuration is refused; null if it is in force. */
  readonly refusal: () => string | null;
  /** When the database of the state answered last, if it does not now; null while it does, undefined without one. */
  readonly stateLostSince: () => number | null | undefined;
};

/** The replies of the interface that need more than the state of a target. */
export type DashboardReader = {
  /** The target of that name; refuses another name. */
  readonly found: (name: string) => DashboardTarget;
  readonly fleet: () => Promise<FleetReply>;
  /** A target in short. */
  readonly short: (name: string) => Promise<FleetTarget>;
  readonly target: (name: string) => Promise<TargetReply>;
  readonly resources: (name: string) => Promise<ResourceTable>;
  /** Which resources refer to which; refused while too many sources are read. */
  readonly graph: (name: string, query: GraphQuery) => Promise<ResourceGraphReply>;
  /** What the state and the last pass know of a resource. */
  readonly resource: (name: string, identity: Identity) => Promise<ResourceStateReply>;
  /** Where a value comes from; refused while too many are read. */
  readonly why: (name: string, asked: AskedValue) => Promise<WhyReply>;
  /** Author and subject of commits; refused while too much is read. */
  readonly commits: (name: string, ids: readonly string[]) => Promise<CommitsReply>;
  /** Reads from the state of a target. */
  readonly stored: <Result>(name: string, read: (store: TargetStore) => Promise<Result>) => Promise<Result>;
};

/** How long a reply of the fleet, and the resources of a target that others may change, are used again, in milliseconds. */
const FRESH_MS = 500;
const SHARED_MS = 2000;

/** Reads what a dashboard shows, from the state and from what this process knows of its passes. */
export function createDashboardReader(
  { targets, stages, isShared }: DashboardSource,
  { activity, resources, refusal, stateLostSince }: DaemonKnowledge,
  now: () => number,
): DashboardReader {
  const found = (name: string): DashboardTarget => {
    const target = targets().find((one) => one.name === name);
    if (target === undefined) throw notFound(`the target ${name}`);
    return target;
  };
  const stored: DashboardReader["stored"] = async (name, read) => {
    const result = await found(name).read(async (store) => ({ read: await read(store) }));
    if (result === null) throw stateUnavailable();
    return result.read;
  };
  const table = async (target: DashboardTarget): Promise<ResourceTable> => {
    const status = await target.status();
    const recorded = await target.recorded();
    const unsettled = await target.read(unsettledIn);
    if (recorded === null || unsettled === null) throw stateUnavailable();
    const { statuses, isWhole } = resources(target.name);
    const seen = isHere(status) ? statuses : [];
    const isSeenAlone = status.lastPass?.machine === undefined && isWhole;
    return resourceTable(resourceRows({ unsettled, seen, isSeenAlone, recorded }));
  };
  const holdsOf = async ({ read }: DashboardTarget): Promise<readonly HoldEntry[]> => {
    const decisions = await read((store) => store.decisions());
    const holds = holdsAt(decisions ?? { holds: [], released: [] }, now());
    return holds.map(({ what, reason, until, by }) => ({ what, reason, until, ...(by !== undefined && { by }) }));
  };
  let reading = 0;
  const atOnce = async <Read>(read: () => Promise<Read>): Promise<Read> => {
    if (reading >= MOST_AT_ONCE) throw tooMany();
    reading += 1;
    try {
      return await read();
    } finally {
      reading -= 1;
    }
  };
  const explaining = <Read>(read: () => Promise<Read>): Promise<Read> =>
    atOnce(read).catch((error: unknown) => {
      throw error instanceof HoldfastError ? conflict("unexplained", whyNot(error)) : error;
    });
  const referencesOf = async (target: DashboardTarget): Promise<KnownReferences> => {
    // What another process has applied since may refer to other things.
    const last = isHere(await target.status()) ? target.lastReferences() : null;
    if (last !== null) return { manifests: "last-pass", references: last, why: null };
    try {
      const references = await atOnce(() => target.readReferences(activity.versionOf(target.name)));
      return { manifests: "now", references, why: null };
    } catch (error) {
      if (error instanceof HoldfastError) return { manifests: null, references: null, why: whyNot(error) };
      throw error;
    }
  };
  const tables = new Map<string, ReturnType<typeof keptReading<ResourceTable>>>();
  const shortly = (target: DashboardTarget, status: TargetStatus): FleetTarget =>
    fleetTarget(status, target.hasLease(), activity.passOf(target.name));
  const fleetNow = async (): Promise<FleetReply> => {
    const all = targets();
    const statuses = await Promise.all(all.map(({ status }) => status()));
    const shown = all.map((target, at) => {
      const status = statuses[at];
      return status === undefined ? [] : [shortly(target, status)];
    });
    const lost = stateLostSince() ?? null;
    return {
      at: new Date(now()).toISOString(),
      configurationRefused: refusal(),
      stateUnreadableSince: lost === null ? null : new Date(lost).toISOString(),
      ...countsOf(shown.flat()),
      targets: shown.flat(),
      stages: await stages(statuses),
    };
  };
  const versions = (): string =>
    JSON.stringify([refusal(), stateLostSince(), targets().map(({ name }) => [name, activity.versionOf(name)])]);
  const fleet = keptReading(fleetNow, { now, version: versions, freshMs: () => FRESH_MS });
  // What nobody else changes has its version; to read 100,000 resources again takes a second.
  const freshMs = (): number => (isShared() ? SHARED_MS : Number.POSITIVE_INFINITY);
  const resourcesOf = (name: string): Promise<ResourceTable> => {
    found(name);
    for (const known of tables.keys()) if (!targets().some((one) => one.name === known)) tables.delete(known);
    const version = (): string => String(activity.versionOf(name));
    const kept = tables.get(name) ?? keptReading(() => table(found(name)), { now, version, freshMs });
    tables.set(name, kept);
    return kept();
  };
  return {
    found,
    fleet,
    stored,
    short: async (name) => {
      const target = found(name);
      return shortly(target, await target.status());
    },
    target: async (name) => {
      const target = found(name);
      const { status, hasLease } = target;
      const { at, stages: every } = await fleet();
      return {
        at,
        status: await status(),
        holds: await holdsOf(target),
        hasLease: hasLease(),
        pass: activity.passOf(name),
        stages: every.filter((stage) => stage.targets.some(({ target }) => target === name)),
      };
    },
    resources: async (name) => resourcesOf(name),
    graph: async (name, query) => {
      const table = await resourcesOf(name);
      return { target: name, ...resourceGraph(table, await referencesOf(found(name)), query) };
    },
    resource: async (name, identity) => {
      const target = found(name);
      const { resources } = (await resourcesOf(name))({ ...ALL, identity });
      const [resource = null] = resources;
      const hold = (await holdsOf(target)).find(({ what }) => what === identity) ?? null;
      const named = target.isNamed ? name : null;
      return { target: name, identity, resource, hold, commands: nextCommands(identity, { named, resource, hold }) };
    },
    why: async (name, asked) => {
      const { explain } = found(name);
      return explaining(async () => ({ target: name, ...(await explain(asked)) }));
    },
    commits: async (name, ids) => {
      const { commits } = found(name);
      return explaining(async () => ({ target: name, commits: await commits(ids.filter((id) => COMMIT.test(id))) }));
    },
  };
}

/** Whether this process has run the last pass of a target. */
function isHere({ lastPass }: TargetStatus): boolean {
  return lastPass?.machine === undefined || lastPass.machine === machineName;
}

/** How many replies are made at once that need the control plane or a process of git. */
const MOST_AT_ONCE = 4;

const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

function tooMany(): HttpError {
  return new HttpError(503, "busy", "too much is being read for others", {
    headers: { "retry-after": "1" },
  });
}

function whyNot({ message, hint }: HoldfastError): string {
  return redactFailureMessage(hint === null ? message : `${message} (${hint})`);
}

const ALL = { state: [], kind: [], attention: false, search: null, sort: "identity", offset: 0, limit: 1 } as const;

/** Reads again only when something has happened since, or after some time. */
function keptReading<Read>(
  read: () => Promise<Read>,
  {
    now,
    version,
    freshMs,
  }: { readonly now: () => number; readonly version: () => string; readonly freshMs: () => number },
): () => Promise<Read> {
  let last: { readonly at: number; readonly version: string; readonly reading: Promise<Read> } | null = null;
  return () => {
    const [at, known] = [now(), version()];
    if (last === null || last.version !== known || Math.abs(at - last.at) > freshMs()) {
      const reading = read();
      last = { at, version: known, reading };
      // A failure is not kept.
      reading.catch(() => {
        if (last?.reading === reading) last = null;
      });
    }
    return last.reading;
  };
}

const PAGE = 10_000;

async function unsettledIn(store: TargetStore): Promise<readonly ResourceEvent[]> {
  const found: ResourceEvent[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page = await store.unsettled({}, { limit: PAGE, ...(after === undefined ? {} : { after }) });
    found.push(...page.entries);
    after = page.next;
  }
  return found;
}

function fleetTarget(status: TargetStatus, hasLease: boolean, pass: FleetTarget["pass"]): FleetTarget {
  const { target, source, sync, condition, reason, message, wantedRevision, appliedRevision, counts } = status;
  const { frozen, oldestUnapplied, lastPass, nextPassAt } = status;
  return {
    ...{ target, source, sync, condition, reason, message, wantedRevision, appliedRevision, counts },
    // The status lists a thousand of them.
    invalid: Math.max(status.invalid.length, counts.invalid ?? 0),
    held: status.held.length,
    unknown: status.unknown.length,
    closedGates: (status.gates?.failed ?? 0) + (status.gates?.unanswered ?? 0),
    ...{ frozen, oldestUnapplied, lastPass, nextPassAt },
    hasLease,
    pass,
  };
}

function countsOf(targets: readonly FleetTarget[]): Pick<FleetReply, "sync" | "condition" | "oldestUnapplied"> {
  const sync = { Synced: 0, OutOfSync: 0, Unknown: 0 };
  const condition = { Ready: 0, Reconciling: 0, Held: 0, Stalled: 0, Retired: 0 };
  for (const target of targets) {
    condition[target.condition] += 1;
    if (target.condition !== "Retired") sync[target.sync] += 1;
  }
  const waiting = targets.flatMap(({ target, oldestUnapplied }) =>
    oldestUnapplied === null ? [] : [{ target, ...oldestUnapplied }],
  );
  const [oldestUnapplied = null] = waiting.toSorted((a, b) => Date.parse(a.since) - Date.parse(b.since));
  return { sync, condition, oldestUnapplied };
}

/** 503: the state cannot be read now. */
export function stateUnavailable(): HttpError {
  return new HttpError(503, "state-unavailable", "the database of the state does not answer", {
    headers: { "retry-after": "5" },
  });
}
