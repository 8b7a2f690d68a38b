// src/engine/gates: asks gates about the content of prompts and models. See docs/environments.md#gates.

import { forEachConcurrently } from "../../client/for-each-concurrently.ts";
import type { Clock, Stop } from "../../clock/clock.ts";
import { errorMessage } from "../../contract/error-message.ts";
import { canonical, type Json, type JsonObject } from "../../contract/json.ts";
import { HoldfastError } from "../../core/errors.ts";
import {
  type ContentGate,
  type GateAnswer,
  type GatedContent,
  type GateReceipt,
  gateName,
  gatesOf,
  gateText,
} from "../../core/gates/content-gate.ts";
import { judgeMetric, newestVersion, type RegisteredVersion, unanswered } from "../../core/gates/judge-metric.ts";
import { judgeRun } from "../../core/gates/judge-run.ts";
import type { Kind } from "../../core/kind.ts";
import type { Identity } from "../../core/manifest.ts";
import { jsonDigest } from "../../core/plan/sign-plan.ts";
import { jobRuns } from "../job-runs.ts";
import type { ServerSession } from "../session.ts";
import { askUrl } from "./ask-url.ts";
import type { GateRegistry, TargetGates } from "./gate-access.ts";
import { registeredVersions } from "./registered-versions.ts";

/** A resource that is about to be written: exactly the manifest that would be sent. */
export type GateSubject = { readonly kind: Kind; readonly identity: Identity; readonly manifest: JsonObject };

/** A resource with gates, and what they said of its content. */
export type AskedContent = { readonly gated: GatedContent; readonly receipts: readonly GateReceipt[] };

/** Asks the gates of resources; what has no gates is left out of the result. */
export type AskGates = (subjects: readonly GateSubject[], stop: Stop) => Promise<readonly AskedContent[]>;

/** What gates are asked with. */
type Asking = Pick<TargetGates, "gates" | "registryOf" | "readSecret"> & {
  /** Stores the receipts durably; null for a pass that writes nothing. */
  readonly keep: TargetGates["keep"] | null;
  /** The control plane of the target itself. */
  readonly own: GateRegistry;
  readonly clock: Clock;
};

/**
 * Creates what asks the gates of a target. It keeps the answers, so it is created anew for each pass: a gate that has turned
 * red since the last pass then stops what has not started. Whether a content may be written is decided by `closedGates` of
 * its receipts alone, and no receipt of an earlier pass counts.
 */
function createGateAsker(asking: Asking): AskGates {
  const known = new Map<string, Promise<GateReceipt>>();
  const read = readingOnce();
  return async (subjects, { signal }) => {
    const gated = subjects.flatMap((subject) => {
      const gates = gatesOf(asking.gates, subject.identity, subject.kind);
      return gates.length === 0 ? [] : [{ subject, gated: gatedContent(subject, gates) }];
    });
    const asked: AskedContent[] = [];
    await forEachConcurrently(gated, AT_ONCE, async (one) => {
      const receipts = [...one.gated.gates].map(([digest, gate]) =>
        once(known, canonical([one.gated.identity, one.gated.content, digest]), () =>
          receiptOf(gate, { ...one, digest }, { ...asking, ...read, signal }),
        ),
      );
      asked.push({ gated: one.gated, receipts: await Promise.all(receipts) });
    });
    const receipts = asked.flatMap((one) => one.receipts);
    if (receipts.length > 0) await asking.keep?.(receipts);
    return asked;
  };
}

/** How many resources are asked about at once. */
const AT_ONCE = 8;

/** The session with the control plane of a target, and whether receipts are stored. */
type GateAsking = {
  readonly session: Pick<ServerSession, "reader" | "heads">;
  readonly clock: Clock;
  readonly keeps: boolean;
};

/**
 * Creates what asks the gates of the target of a pass; null where it has none. With `keeps` the receipts are stored: an
 * apply does, a plan does not.
 */
export async function gateAskerOf(
  gates: TargetGates | null,
  { session, clock, keeps }: GateAsking,
): Promise<AskGates | null> {
  if (gates === null || gates.gates.length === 0) return null;
  const heads = await session.heads();
  const own = { reader: session.reader, recordedId: (job: Identity) => heads.get(job)?.id ?? null };
  return createGateAsker({ ...gates, keep: keeps ? gates.keep : null, own, clock });
}

function gatedContent({ identity, manifest }: GateSubject, gates: readonly ContentGate[]): GatedContent {
  const byDigest = gates.map((gate) => [jsonDigest(gateText(gate)), gate] as const);
  return { identity, content: jsonDigest(manifest), gates: new Map(byDigest) };
}

type Asked = { readonly subject: GateSubject; readonly gated: GatedContent; readonly digest: string };
type Reading = ReturnType<typeof readingOnce> & Asking & Stop;

async function receiptOf(gate: ContentGate, asked: Asked, reading: Reading): Promise<GateReceipt> {
  const { identity, content } = asked.gated;
  const answer = await answerOf(gate, asked, reading);
  const at = new Date(reading.clock.now()).toISOString();
  return { identity, content, gate: asked.digest, name: gateName(gate), at, ...answer };
}

async function answerOf(gate: ContentGate, { subject, gated }: Asked, reading: Reading): Promise<GateAnswer> {
  if (gate.is === "url") return askUrl(gate, gated, reading);
  try {
    const registry = gate.from === null ? reading.own : await reading.registryOf(gate.from);
    const version = newestVersion(await reading.versions(gate.from, registry, subject, reading));
    if (version === null) return unanswered(`no version with this content is registered${placeText(gate.from)}`);
    if (gate.is === "metric") return judgeMetric(gate, version);
    const runs = await reading.runs(gate, registry, reading);
    return typeof runs === "string" ? unanswered(runs) : judgeRun(gate.job, version, runs);
  } catch (error) {
    if (reading.signal.aborted) throw error;
    if (!(error instanceof HoldfastError || error instanceof TypeError)) throw error;
    return unanswered(`it cannot be asked${placeText(gate.from)}: ${errorMessage(error)}`);
  }
}

function placeText(from: string | null): string {
  return from === null ? "" : ` in target ${from}`;
}

type JobGate = Extract<ContentGate, { readonly is: "run" }>;

// What several gates need is read once.
function readingOnce(): {
  readonly versions: (
    from: string | null,
    registry: GateRegistry,
    subject: GateSubject,
    stop: Stop,
  ) => Promise<readonly RegisteredVersion[]>;
  readonly runs: (gate: JobGate, registry: GateRegistry, stop: Stop) => Promise<readonly Json[] | string>;
} {
  const versions = new Map<string, Promise<readonly RegisteredVersion[]>>();
  const runs = new Map<string, Promise<readonly Json[] | string>>();
  return {
    versions: (from, registry, { kind, identity, manifest }, { signal }) =>
      once(versions, canonical([from, identity, manifest]), () =>
        registeredVersions(kind, manifest, { registry, signal }),
      ),
    runs: ({ job, from }, registry, { signal }) =>
      once(runs, canonical([from, job]), () => jobRuns(job, { registry, signal })),
  };
}

function once<Value>(known: Map<string, Promise<Value>>, key: string, read: () => Promise<Value>): Promise<Value> {
  const value = known.get(key) ?? read();
  known.set(key, value);
  return value;
}
