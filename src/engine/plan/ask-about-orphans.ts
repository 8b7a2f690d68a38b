// src/engine/plan: the phase that decides what is to be done. See docs/architecture.md#whose-change-it-is.

import { forEachConcurrently } from "../../client/for-each-concurrently.ts";
import type { Stop } from "../../clock/clock.ts";
import type { JsonObject } from "../../contract/json.ts";
import type { DryRunReply } from "../../core/decide/decision.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { Live } from "../../core/live.ts";
import { type Identity, splitIdentity } from "../../core/manifest.ts";
import type { OrphanInput } from "../../core/plan/plan-input.ts";
import { isOpened } from "../../core/recorded.ts";
import { kindOf } from "../../kinds/index.ts";
import type { Desired } from "../load/desired.ts";
import { isResourceError, type Observation } from "../observe/read-live.ts";
import { type Asking, type PreflightInput, proveDryRun } from "./preflight.ts";

/** At most this many are asked about, since each costs a request in every pass. */
const MAX_ASKED = 50;

/** What the dry runs of old manifests show of orphans. */
export type OrphanAnswers = {
  readonly live: ReadonlyMap<Identity, Live>;
  readonly dryRuns: ReadonlyMap<Identity, DryRunReply>;
  /** The routes that dry runs could not determine. */
  readonly unclear: readonly Diagnostic[];
};

/** What may be an orphan, and how its old manifest is found. */
type Question = {
  readonly mayBe: Iterable<Identity>;
  readonly live: OrphanInput["live"];
  readonly declared: OrphanInput["declared"];
  readonly elsewhere: OrphanInput["elsewhere"];
  readonly recorded: OrphanInput["recorded"];
  readonly history: Desired["history"];
};

/**
 * Dry-runs the last known manifest of orphans that nothing else reads, to see whether they still live: the reply has the id
 * of what exists. Only where a dry run is proven to change nothing, since it would bring them back.
 */
export async function askAboutOrphans(
  question: Question,
  unchecked: PreflightInput,
  asking: Asking,
): Promise<OrphanAnswers> {
  const { mayBe, live, declared, elsewhere } = question;
  const { server, dryRun, creates, concurrency, signal } = asking;
  const { capabilities } = server;
  const found = { live: new Map<Identity, Live>(), dryRuns: new Map<Identity, DryRunReply>() };
  const isUnread = (identity: Identity): boolean => {
    const one = live.get(identity);
    return one?.state === "unknown" && one.reason === "no-read" && one.exists !== true;
  };
  const unread = [...mayBe]
    .filter((identity) => !declared.has(identity) && !elsewhere.has(identity) && isUnread(identity))
    .slice(0, MAX_ASKED);
  if (unread.length === 0 || creates === "skipped") return { ...found, unclear: [] };
  const { unclear } = capabilities.dryRun === "proven" ? { unclear: [] } : await proveDryRun(unchecked, asking);
  if (capabilities.dryRun !== "proven") return { ...found, unclear };
  const manifests = await lastManifests(unread, { ...question, signal });
  await forEachConcurrently([...manifests], concurrency, async ([identity, value]) => {
    const { kind: type } = splitIdentity(identity);
    const kind = kindOf(type);
    if (kind === undefined) return;
    const manifest = { kind: type, identity, file: "", line: 1, references: [], value };
    const reply = await dryRun(kind, manifest, { signal }).catch((error: unknown) => {
      // What cannot be asked about stays unknown.
      if (!isResourceError(error)) throw error;
      return { state: "impossible" } as const;
    });
    if (reply.state !== "answered" || reply.row === null) return;
    found.dryRuns.set(identity, { state: "answered", row: reply.row });
    const exists = { state: "unknown", reason: "no-read", exists: true } as const;
    found.live.set(identity, reply.row.id === null ? { state: "absent" } : exists);
  });
  return { ...found, unclear };
}

/** The same observation, with what dry runs showed of orphans. */
export function withAnswers(observation: Observation, { live, dryRuns }: OrphanAnswers): Observation {
  if (dryRuns.size === 0) return observation;
  return {
    ...observation,
    live: new Map([...observation.live, ...live]),
    dryRuns: new Map([...observation.dryRuns, ...dryRuns]),
  };
}

async function lastManifests(
  identities: readonly Identity[],
  { recorded, history, signal }: Question & Stop,
): Promise<ReadonlyMap<Identity, JsonObject>> {
  const manifests = new Map<Identity, JsonObject>();
  for (const identity of identities) {
    const receipt = recorded.get(identity);
    if (receipt !== undefined && isOpened(receipt)) manifests.set(identity, receipt.written);
  }
  const unrecorded = new Set(identities.filter((identity) => !recorded.has(identity)));
  if (unrecorded.size === 0) return manifests;
  const line = await history?.declared();
  const found = await line?.manifestsOf(unrecorded, { signal });
  for (const [identity, [newest]] of found ?? []) if (newest !== undefined) manifests.set(identity, newest);
  return manifests;
}
