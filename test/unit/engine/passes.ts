import { systemClock, systemRandom } from "../../../src/clock/system.ts";
import { isDocumented, type OperationName, operation, operations } from "../../../src/contract/operations.ts";
import { Secret } from "../../../src/contract/secret.ts";
import { resolveGraph } from "../../../src/core/graph.ts";
import type { IgnoreRule } from "../../../src/core/ignore/ignore-rules.ts";
import type { Identity } from "../../../src/core/manifest.ts";
import type { ProgressEvent } from "../../../src/core/report/events.ts";
import { type ApplyOptions, applyWithRecovery, recoverPending } from "../../../src/engine/apply/apply-with-recovery.ts";
import { EVERYTHING, observe } from "../../../src/engine/observe.ts";
import { type LivePlan, planAgainstLive } from "../../../src/engine/plan.ts";
import { openSession, type ServerSession } from "../../../src/engine/session.ts";
import { defaultSink } from "../../../src/engine/sinks/index.ts";
import type { SinkType } from "../../../src/engine/token-sink.ts";
import type { SourceManifest } from "../../../src/manifests/source-manifest.ts";
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
  /** Milliseconds after which a lost request is taken for lost. */
  readonly deadline?: number;
};

/** Passes over one server with one state, each with a session of its own as separate commands would have it. */
export async function passes(url: string) {
  const folder = await temporaryFolder();
  const state = await memoryState().open({ keyText: null });
  const session = (options: PassOptions) =>
    openSession({
      server: { name: "test", url },
      state,
      folder,
      sink: options.sink === undefined ? defaultSink : options.sink,
      registersModels: options.registersModels ?? false,
      token: () => new Secret("test-token"),
      concurrency: 8,
      requestTimeout: 2_000,
      connectTimeout: 5_000,
      env: {},
      userAgent: "holdfast/test",
      clock: systemClock,
      random: { ...systemRandom, next: () => 0 },
      signal: new AbortController().signal,
    });
  const common = ({ concurrency = 8, now = systemClock.now }: PassOptions) => ({
    concurrency,
    clock: { ...systemClock, now },
    random: systemRandom,
    signal: new AbortController().signal,
    stopping: new AbortController().signal,
  });
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
      diagnostics: [],
    };
  };
  const selected = (manifests: readonly SourceManifest[], { only }: PassOptions) => {
    const whole = desired(manifests);
    if (only === undefined) return whole;
    const chosen = whole.manifests.filter(({ identity }) => only.includes(identity));
    return { ...whole, manifests: chosen, isWhole: false };
  };
  const progress: ProgressEvent[] = [];
  const applyOptions = (options: PassOptions): ApplyOptions => ({
    ...common(options),
    wait: options.wait ?? true,
    failFast: options.failFast ?? false,
    onProgress: (one) => progress.push(one),
    onLeft: () => undefined,
    requestTimeoutMs: options.deadline ?? 50,
    rolloutTimeoutMs: 5_000,
    stopping: options.stopping ?? new AbortController().signal,
    stopWaiting: options.stopWaiting ?? new AbortController().signal,
  });
  const planned = async (
    session: ServerSession,
    manifests: readonly SourceManifest[],
    options: PassOptions,
    kept: Pick<typeof EVERYTHING, "cache" | "needsReceipts">,
  ): Promise<LivePlan> => {
    const { concurrency, ...run } = common(options);
    const given = {
      server: session,
      records: { heads: await session.heads(), ledger: session.ledger },
      rules: { ignore: options.ignore ?? [], guards: {}, allowShrink: true, writers: [], concurrency },
      run,
    };
    const observed = await observe(selected(manifests, options), { ...given, scope: { ...EVERYTHING, ...kept } });
    const checks = { creates: "dry-run", guards: null, hasSink: session.sink !== null } as const;
    return planAgainstLive(observed, { ...given, checks });
  };
  return {
    folder,
    state,
    progress,
    session,
    plan: async (manifests: readonly SourceManifest[], options: PassOptions = {}) => {
      await using one = await session(options);
      const kept = { cache: options.recalls === false ? null : one.cache, needsReceipts: false };
      return await planned(one, manifests, options, kept);
    },
    apply: async (manifests: readonly SourceManifest[], options: PassOptions = {}) => {
      await using one = await session(options);
      const recovered = await recoverPending(one, applyOptions(options));
      const looked = await planned(
        one,
        manifests,
        { ...options, ignore: [] },
        { cache: one.cache, needsReceipts: true },
      );
      const applied = await applyWithRecovery(looked, one, {
        ...applyOptions(options),
        recovered,
        hasLease: options.hasLease ?? true,
      });
      return {
        ...applied,
        recovered,
        plan: looked.plan,
        pending: await one.ledger.pending(),
        facts: one.serverFacts.facts(),
      };
    },
  };
}

/** The results of an apply, by identity. */
export function results({
  outcomes,
}: {
  readonly outcomes: readonly { readonly identity: string; readonly result: string }[];
}) {
  return Object.fromEntries(outcomes.map(({ identity, result }) => [identity, result]));
}
