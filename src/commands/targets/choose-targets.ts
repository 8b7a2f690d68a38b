// src/commands/targets: the targets of the operator's configuration. See docs/pod.md#targets.

import { normalize } from "node:path/posix";
import { type ApprovalRule, readApprovalRule } from "../../core/approvals/approval-rule.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { ContentGate } from "../../core/gates/content-gate.ts";
import type { FreezeWindow } from "../../core/guards/freeze-windows.ts";
import type { PromotedField } from "../../core/promotion/version-fields.ts";
import type { RequestLimits } from "../../core/request-shares.ts";
import { isUnder } from "../../core/selection/select.ts";
import type { OrderRule } from "../../core/stages/decide-order.ts";
import { durationMs } from "../../schema/duration.ts";
import { cronFields } from "../../schema/schedule.ts";
import type { KeyPlace, OperatorConfig } from "../../source/read-config.ts";
import { isOneRepository } from "../../source/remote/address.ts";
import type { RemoteAccess } from "../../source/remote/remote.ts";
import type { PatchFolders } from "../../source/source-root.ts";
import type { Terminal } from "../terminal.ts";
import { gatesIn } from "./configured-gates.ts";
import { type PlaceOf, placed } from "./configured-places.ts";
import { configuredFile, publishOptions, type SourceChoice, sourceChoice, sourceOf } from "./configured-sources.ts";
import type { TargetEntry } from "./expand-pattern.ts";
import { refusedConfig, requireDistinct } from "./refused-config.ts";

type ServerEntry = NonNullable<OperatorConfig["servers"]>[number];
type WindowEntry = NonNullable<TargetEntry["windows"]>[number];

/** A target of the operator's configuration. */
export type TargetChoice = {
  readonly name: string;
  /** Null for the local folder. */
  readonly source: SourceChoice | null;
  readonly paths: readonly string[] | null;
  readonly rename: NonNullable<TargetEntry["rename"]> | null;
  /** The folders of patch files of this target, and of the others of its repository. */
  readonly patches: PatchFolders;
  /** Where the configuration has these keys. */
  readonly places: { readonly rename: KeyPlace | null; readonly patches: KeyPlace | null };
  readonly server: string | null;
  /** What the control plane is to be spared by all targets that name its entry of `servers`; null without an entry. */
  readonly limits: (RequestLimits & { readonly name: string; readonly url: string }) | null;
  /** Why the target cannot be used, while the others can; null if it can. */
  readonly fault: HoldfastError | null;
  readonly tokenFile: string | null;
  readonly caFile: string | null;
  /** What the daemon may do; null if nothing is written out, which heals and overwrites nothing of others. */
  readonly sync: "report" | "heal" | "off" | null;
  /** Seconds between passes; null for the default. */
  readonly interval: number | null;
  /** Seconds between full passes; null if every pass of the interval is full. */
  readonly driftInterval: number | null;
  /** For how long at most a pull request holds what was changed in live; null where that is written back at once. */
  readonly driftHold: string | null;
  readonly confirm: boolean;
  /** The signatures that plans for it need; null for those of the whole configuration. */
  readonly approvals: ApprovalRule | null;
  /** When nothing may be written. */
  readonly windows: readonly FreezeWindow[];
  /** What must be shown of prompts and models before they are written. */
  readonly gates: readonly ContentGate[];
  readonly order: OrderChoice;
  /** The fields that a promotion to this target copies; null for those that say which version of something is used. */
  readonly promote: readonly PromotedField[] | null;
  /** Where the ref of the last applied commit is pushed; null if it is not published. */
  readonly publish: RemoteAccess | null;
  /** Whether its pattern no longer stands for it, so that it has no pass and its state is kept. */
  readonly isRetired: boolean;
};

/** The place of a target in the order of all. */
export type OrderChoice = OrderRule & {
  /** Patterns for the names of the targets before it; empty if it follows none. */
  readonly after: readonly string[];
  /** The name that the configuration gives its stage; null if it gives none. */
  readonly stage: string | null;
  /** How many targets of its stage may apply a new commit at once; null for all. */
  readonly maxUpdate: number | null;
};

/** What the targets of a configuration are chosen from. */
export type ChosenSources = {
  readonly sources: readonly SourceChoice[];
  readonly servers: readonly ServerEntry[];
  /** The entries of targets, patterns not expanded; empty if the configuration names neither targets nor a source. */
  readonly entries: readonly TargetEntry[];
  readonly placeOf: PlaceOf;
};

/** The sources, servers and entries of targets of a configuration. */
export function chooseSources(
  { sources, servers, targets }: OperatorConfig,
  terminal: Terminal,
  placeOf: PlaceOf,
): ChosenSources {
  const known = (sources ?? []).map((entry) => sourceChoice(entry, terminal));
  requireDistinct("source", known);
  requireDistinct("server", servers ?? []);
  const entries = entriesOf(known, targets ?? []);
  requireDistinct("target", entries);
  return { sources: known, servers: servers ?? [], entries, placeOf };
}

/** The target of an entry without a pattern. */
export function chooseTarget(entry: TargetEntry, chosen: ChosenSources, terminal: Terminal): TargetChoice {
  const { name, paths, sync, interval, driftInterval, confirm } = entry;
  const { sources, placeOf } = chosen;
  const file = configuredFile(terminal.cwd);
  const at = (key: keyof TargetEntry) => placeOf(name, key);
  const source = sourceOf(entry, sources, placeOf);
  requireWithin(name, paths ?? [], { allowed: source?.paths ?? null, place: at("paths") });
  return {
    name,
    source,
    paths: paths ?? source?.paths ?? null,
    rename: entry.rename ?? null,
    patches: patchFolders(entry, source, chosen),
    places: { rename: at("rename"), patches: at("patches") },
    ...serverOf(entry, chosen, file),
    sync: sync ?? null,
    interval: interval ?? null,
    driftInterval: driftInterval ?? null,
    driftHold: driftHold(entry, at("driftHold")),
    confirm: confirm ?? false,
    approvals: approvalsIn(entry, at("approvals")),
    windows: (entry.windows ?? []).map(freezeWindow),
    gates: gatesIn(entry, file, (item) => placeOf(name, "gate", item)),
    order: orderChoice(entry),
    promote: entry.promote?.map((one) => (typeof one === "string" ? { path: one } : one)) ?? null,
    publish: entry.publishRef ? publishOptions(entry, { source, at }, terminal) : null,
    isRetired: false,
  };
}

/** The signatures that an entry of the configuration demands of plans; null for none. */
export function approvalsIn(
  { approvals }: Pick<TargetEntry, "approvals"> | Pick<OperatorConfig, "approvals">,
  place: KeyPlace | null = null,
): ApprovalRule | null {
  if (!approvals) return null;
  const rule = readApprovalRule({ keys: [...approvals.keys], atLeast: approvals.atLeast ?? null });
  if (typeof rule === "string")
    throw refusedConfig(rule, "correct it; docs/approvals.md shows the forms of keys", place);
  return rule;
}

/** A pull request holds nothing for longer. */
const MOST_HELD = "7d";

function driftHold({ name, drift, driftHold: given }: TargetEntry, place: KeyPlace | null): string | null {
  if (drift === "propose") return given ?? MOST_HELD;
  if (!given) return null;
  const why = `target ${name} has \`driftHold\`, and nothing holds what it writes back`;
  throw refusedConfig(why, "add `drift: propose`, or leave `driftHold` out", place);
}

// No target of a repository reads the patch files of another one.
function patchFolders(
  entry: TargetEntry,
  source: SourceChoice | null,
  { sources, entries, placeOf }: ChosenSources,
): PatchFolders {
  const own = patchFolder(entry, placeOf);
  const same = entries.filter((other) => other.patches && isSameSource(sourceOf(other, sources, placeOf), source));
  const others = new Set(same.flatMap((other) => patchFolder(other, placeOf) ?? []));
  if (own !== null) others.delete(own);
  return { own, others: [...others] };
}

function isSameSource(one: SourceChoice | null, other: SourceChoice | null): boolean {
  return one === other || (one !== null && other !== null && isOneRepository(one.address, other.address));
}

function patchFolder({ name, patches }: TargetEntry, placeOf: PlaceOf): string | null {
  if (!patches) return null;
  const folder = normalize(patches).replace(/\/+$/, "");
  if (folder !== "." && folder !== ".." && !folder.startsWith("../")) return folder;
  const why = `the folder ${patches} of target ${name} is not below the root of its source`;
  throw refusedConfig(why, "correct `patches`", placeOf(name, "patches"));
}

// A single source needs no target entry.
function entriesOf(sources: readonly SourceChoice[], targets: readonly TargetEntry[]): readonly TargetEntry[] {
  const [only, other] = sources;
  if (targets.length > 0 || only === undefined) return targets;
  if (other === undefined) return [{ name: only.name }];
  throw refusedConfig("there are several sources and no targets", "give each source a target");
}

type ServerPart = Pick<TargetChoice, "server" | "limits" | "fault" | "tokenFile" | "caFile">;

function serverOf(
  { name, server, tokenFile, caFile }: TargetEntry,
  { servers, placeOf }: ChosenSources,
  file: ReturnType<typeof configuredFile>,
): ServerPart {
  const own = { limits: null, fault: null, tokenFile: file(tokenFile), caFile: file(caFile) };
  if (!server || isAddress(server)) return { server: server ?? null, ...own };
  const extra = Object.entries({ tokenFile, caFile }).find(([, value]) => value);
  if (extra !== undefined) {
    throw refusedConfig(
      `target ${name} has ${extra[0]} beside the name of a server`,
      `write it in the entry ${server} of \`servers\``,
      placeOf(name, extra[0] === "caFile" ? "caFile" : "tokenFile"),
    );
  }
  const found = servers.find((entry) => entry.name === server);
  if (found === undefined) {
    const why = `target ${name} names the server ${server}, which is no entry of \`servers\``;
    return { server: null, ...own, fault: unknownServer(placed(why, placeOf(name, "server")), servers) };
  }
  const { concurrency, requestsPerSecond } = found;
  return {
    server: found.url,
    limits: {
      ...{ name: server, url: found.url },
      ...{ concurrency: concurrency ?? null, requestsPerSecond: requestsPerSecond ?? null },
    },
    fault: null,
    tokenFile: file(found.tokenFile),
    caFile: file(found.caFile),
  };
}

function isAddress(server: string): boolean {
  return /^https?:\/\//.test(server);
}

function unknownServer(why: string, servers: readonly ServerEntry[]): HoldfastError {
  const hint =
    servers.length === 0
      ? "add the entry to `servers`, or write an address that starts with https://"
      : `correct it, or add the entry; there are: ${servers.map((entry) => entry.name).join(", ")}`;
  return new HoldfastError("invalid", why, { hint });
}

// The rules of the configuration have checked it.
function freezeWindow({ deny, allow, duration, timeZone, reason }: WindowEntry): FreezeWindow {
  const cron = cronFields(deny ?? allow ?? "") ?? "";
  const effect = deny ? "deny" : "allow";
  return { effect, cron, durationMs: durationMs(duration), timeZone, reason: reason ?? null };
}

function orderChoice({ after, when, soak, maxUpdate, stage }: TargetEntry): OrderChoice {
  return {
    after: [...new Set(after)],
    when: when ?? "healthy",
    soakMs: soak ? durationMs(soak) : 0,
    stage: stage ?? null,
    maxUpdate: maxUpdate ?? null,
  };
}

function requireWithin(
  name: string,
  paths: readonly string[],
  { allowed, place }: { readonly allowed: readonly string[] | null; readonly place: KeyPlace | null },
): void {
  const leaving = paths.find((path) => normalize(path).split("/")[0] === "..");
  if (leaving !== undefined) {
    const why = `the path ${leaving} of target ${name} leads out of its source`;
    throw refusedConfig(why, "paths are relative to the root of the source", place);
  }
  const outside = paths.find((path) => allowed !== null && !allowed.some((each) => isUnder(each, path)));
  if (outside === undefined) return;
  const why = `the path ${outside} of target ${name} lies outside the paths of its source`;
  throw refusedConfig(why, "correct one of them", place);
}
