import { systemClock, systemRandom } from "../../../src/clock/system.ts";
import { isDocumented, type OperationName, operation, operations } from "../../../src/contract/operations.ts";
import { Secret } from "../../../src/contract/secret.ts";
import { resolveGraph } from "../../../src/core/graph.ts";
import type { IgnoreRule } from "../../../src/core/ignore/ignore-rules.ts";
import type { Identity } from "../../../src/core/manifest.ts";
import type { ProgressEvent } from "../../../src/core/report/events.ts";
import { type ApplyOptions, applyWithRecovery, recoverPending } from "../../../src/engine/apply/apply-with-recovery.ts";
import { type PlanContext, planAgainstLive } from "../../../src/engine/plan-against-live.ts";
import { openSession } from "../../../src/engine/session.ts";
import { defaultSink } from "../../../src/engine/sinks/index.ts";
import type { SinkType } from "../../../src/engine/token-sink.ts";
import { kindsByType } from "../../../src/kinds/index.ts";
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
      connectTimeout: 500,
      env: {},
      userAgent: "holdfast/test",
      clock: systemClock,
      random: { ...systemRandom, next: () => 0 },
      signal: new AbortController().signal,
    });
  const common = ({ concurrency = 8, now = systemClock.now }: PassOptions) => ({
    kinds: kindsByType,
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
  return {
    folder,
    state,
    progress,
    session,
    plan: async (manifests: readonly SourceManifest[], options: PassOptions = {}) => {
      await using one = await session(options);
      const looking: PlanContext = {
        ...one,
        ...common(options),
        recorded: await one.heads(),
        records: false,
        cache: options.recalls === false ? null : one.cache,
        ignore: options.ignore ?? [],
        guards: null,
        creates: "dry-run",
        writers: [],
        hasSink: one.sink !== null,
      };
      return await planAgainstLive(selected(manifests, options), looking);
    },
    apply: async (manifests: readonly SourceManifest[], options: PassOptions = {}) => {
      await using one = await session(options);
      const recovered = await recoverPending(one, applyOptions(options));
      const recorded = await one.heads();
      const looking: PlanContext = {
        ...one,
        ...common(options),
        recorded,
        records: true,
        ignore: [],
        hasSink: one.sink !== null,
        guards: null,
        creates: "dry-run",
        writers: [],
      };
      const looked = await planAgainstLive(selected(manifests, options), looking);
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
