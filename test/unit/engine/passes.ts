import { join } from "node:path";
import { systemClock, systemRandom } from "../../../src/clock/system.ts";
import { isDocumented, type OperationName, operation, operations } from "../../../src/contract/operations.ts";
import { Secret } from "../../../src/contract/secret.ts";
import { resolveGraph } from "../../../src/core/graph.ts";
import type { WriteRefusal } from "../../../src/core/guards/write-refusal.ts";
import type { IgnoreRule } from "../../../src/core/ignore/ignore-rules.ts";
import type { Identity } from "../../../src/core/manifest.ts";
import type { PassEvent } from "../../../src/core/report/events.ts";
import { recover, startRecovery } from "../../../src/engine/apply/recover.ts";
import { apply } from "../../../src/engine/apply.ts";
import { EVERYTHING, observe, type ReadScope } from "../../../src/engine/observe.ts";
import { type LivePlan, planAgainstLive } from "../../../src/engine/plan.ts";
import type { RolloutWaiting, Run } from "../../../src/engine/run.ts";
import { openSession, type ServerSession, type SessionPlace } from "../../../src/engine/session.ts";
import { defaultSink } from "../../../src/engine/sinks/index.ts";
import type { ApplyRules, PlanRules } from "../../../src/engine/target.ts";
import type { SinkType } from "../../../src/engine/token-sink.ts";
import type { SourceManifest } from "../../../src/manifests/source-manifest.ts";
import { cacheFile } from "../../../src/state/sqlite/cache-file.ts";
import type { State } from "../../../src/state/state.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { memoryState } from "../../support/memory-state.ts";

/** Every extension: what a documented-only control plane lacks. */
export const extensions = (Object.keys(operations) as OperationName[]).filter((name) => !isDocumented(operation(name)));

/** How the passes of a test are made. */
export type PassOptions = {
  /** Where one-time tokens go; to files unless told otherwise. */
  readonly sink?: SinkType | null;
  readonly registersModels?: boolean;
  readonly stopping?: AbortSignal;
  readonly stopWaiting?: AbortSignal;
  readonly concurrency?: number;
  readonly failFast?: boolean;
  readonly wait?: boolean;
  readonly now?: () => number;
  /** Whether a plan may recall what earlier looks have seen; on unless told otherwise. */
  readonly recalls?: boolean;
  /** What a pass selects; everything unless told otherwise. */
  readonly only?: readonly Identity[];
  /** What a plan leaves as live has it. */
  readonly ignore?: readonly IgnoreRule[];
  /** Whether a lease keeps other writers apart; it does unless told otherwise. */
  readonly hasLease?: boolean;
  /** Why nothing may be written now; nothing unless told otherwise. */
  readonly refusal?: () => WriteRefusal | null;
  /** Milliseconds after which a lost request is taken for lost. */
  readonly deadline?: number;
  /** The build of the program that makes it. */
  readonly build?: string;
  /** Where values of secrets are. */
  readonly secretSources?: SessionPlace["secrets"]["sources"];
  /** An open session, as a daemon has over many passes; one of its own unless told otherwise. */
  readonly session?: ServerSession;
};

/**
 * Passes over one server with one state, in memory with its caches in files unless another is given, each with a session of
 * its own as separate commands would have it.
 */
export async function passes(url: string, token = new Secret("test-token"), given: State | null = null) {
  const folder = await temporaryFolder();
  const state = given ?? (await stateWithFiles(folder));
  const session = (options: PassOptions) => {
    const type = options.sink === undefined ? defaultSink : options.sink;
    return openSession({
      server: { name: "test", url },
      state,
      folder,
      sink: type === null ? null : { type, settings: {} },
      secrets: { sources: options.secretSources ?? [], sendsReferences: false, identities: () => null, program: null },
      cwd: folder,
      ...(options.build === undefined ? {} : { build: options.build }),
      registersModels: options.registersModels ?? false,
      token: () => token,
      concurrency: 8,
      requestTimeout: 2_000,
      connectTimeout: 5_000,
      env: {},
      userAgent: "holdfast/test",
      clock: systemClock,
      random: { ...systemRandom, next: () => 0 },
      signal: new AbortController().signal,
    });
  };
  const desired = (manifests: readonly SourceManifest[]) => {
    const { waves } = resolveGraph(manifests);
    const waveOf = ({ identity }: SourceManifest) => waves.get(identity) ?? 0;
    return {
      revision: null,
      manifests: manifests.toSorted((a, b) => waveOf(a) - waveOf(b)),
      waves,
      declared: new Set(manifests.map(({ identity }) => identity)),
      invalid: new Set<string>(),
      refused: [],
      nameless: [],
      isWhole: true,
      base: null,
      applied: null,
      declaredElsewhere: null,
      history: null,
      filesPlace: { source: null, modelRoot: null, cwd: "/" },
      diagnostics: [],
    };
  };
  const selected = (manifests: readonly SourceManifest[], { only }: PassOptions) => {
    const whole = desired(manifests);
    if (only === undefined) return whole;
    const chosen = whole.manifests.filter(({ identity }) => only.includes(identity));
    return { ...whole, manifests: chosen, isWhole: false };
  };
  const progress: PassEvent[] = [];
  const rules = (options: PassOptions): ApplyRules & PlanRules => ({
    concurrency: options.concurrency ?? 8,
    wait: options.wait ?? true,
    failFast: options.failFast ?? false,
    requestTimeoutMs: options.deadline ?? 50,
    rolloutTimeoutMs: 5_000,
    ignore: options.ignore ?? [],
    guards: {},
    allowShrink: true,
    writers: [],
  });
  const runOf = ({ now = systemClock.now, stopping, stopWaiting }: PassOptions): Run & RolloutWaiting => ({
    emit: (one) => progress.push(one),
    clock: { ...systemClock, now },
    random: systemRandom,
    signal: new AbortController().signal,
    stopping: stopping ?? new AbortController().signal,
    stopWaiting: stopWaiting ?? new AbortController().signal,
    onLeft: () => undefined,
  });
  const planned = async (
    session: ServerSession,
    manifests: readonly SourceManifest[],
    options: PassOptions,
    { cache, ...kept }: Partial<ReadScope> & Pick<ServerSession, "cache">,
  ): Promise<LivePlan> => {
    const given = {
      server: session,
      records: { heads: await session.heads(), ledger: session.ledger },
      rules: rules(options),
      // A stop request is for the apply.
      run: { ...runOf(options), stopping: new AbortController().signal },
    };
    const facts = (await cache?.load(given.records.heads)) ?? null;
    const scope = { ...EVERYTHING, ...kept, facts };
    const observed = await observe(selected(manifests, options), { ...given, scope });
    const checks = { creates: "dry-run", guards: null, hasSink: session.sink !== null } as const;
    const plan = await planAgainstLive(observed, { ...given, checks });
    await cache?.keep(plan);
    return plan;
  };
  return {
    folder,
    state,
    progress,
    session,
    plan: async (manifests: readonly SourceManifest[], options: PassOptions = {}) => {
      await using own = options.session === undefined ? await session(options) : null;
      const one = options.session ?? own;
      if (one === null) throw new TypeError("no session");
      const cache = options.recalls === false ? null : one.cache;
      return await planned(one, manifests, options, { cache, needsReceipts: false });
    },
    apply: async (manifests: readonly SourceManifest[], options: PassOptions = {}) => {
      await using one = await session(options);
      const run = runOf(options);
      const open = await one.ledger.pending();
      const recovered = open.length === 0 ? [] : await recover(open, await startRecovery(one, 8, run));
      const values = new Set(recovered.map(({ intent }) => intent.identity));
      const kept = { cache: one.cache, needsReceipts: true, values };
      const looked = await planned(one, manifests, { ...options, ignore: [] }, kept);
      const hasLease = options.hasLease ?? true;
      const refusal = options.refusal ?? (() => null);
      const applying = { session: one, hasLease, rules: rules(options), refusal, recovered, recordsEqual: true, run };
      const applied = await apply(looked, applying);
      return {
        ...applied,
        recovered,
        plan: looked.plan,
        pending: await one.ledger.pending(),
        facts: one.capabilities.facts(),
      };
    },
  };
}

async function stateWithFiles(folder: string): Promise<State> {
  const opened = await memoryState().open({ keyText: null });
  const { key } = opened;
  const cache: State["cache"] = (name, about) =>
    cacheFile(join(folder, "cache", name), { key, about, clock: systemClock });
  return { ...opened, cache };
}

/** The results of an apply, by identity. */
export function results({
  outcomes,
}: {
  readonly outcomes: readonly { readonly identity: string; readonly result: string }[];
}) {
  return Object.fromEntries(outcomes.map(({ identity, result }) => [identity, result]));
}
