import { expect, test } from "vitest";
import type { RecordedRequests } from "../../../src/client/recorded-requests.ts";
import type { KeptEvent, ReadEvent } from "../../../src/core/report/events.ts";
import type { Outcome } from "../../../src/core/report/report.ts";
import { type AnsweredRequest, type SettledPass, settledEvents } from "../../../src/core/report/settled-pass.ts";
import { recordPass, unchangedPass } from "../../../src/daemon/settled-pass.ts";
import type { Target } from "../../../src/engine/target.ts";
import { SourceError } from "../../../src/source/source-error.ts";
import { sampleApplyEvent } from "../../support/sample-apply-event.ts";

const HOUR = 3_600_000;
const NOW = Date.parse("2026-11-30T12:00:00Z");

const lists: readonly AnsweredRequest[] = [
  { operation: "listTeams", path: {}, query: { limit: 1000 }, status: 200, digest: "d1" },
];
const read: ReadEvent = {
  what: "read",
  revision: "c0ffee",
  diagnostics: [],
  selected: [],
  otherDocuments: { documents: 1, types: new Map([["ConfigMap", 1]]), filesOfOurTypes: [], diagnostics: [] },
  paths: null,
  files: 1,
  leftOut: new Map([[".holdfastignore", 2]]),
  knownFiles: 1,
  manifests: 1,
  documents: 1,
  isRefused: false,
};
const team: Partial<Outcome> = { identity: "team/ml", kind: "team", result: "unchanged", rollout: null };

/** What a pass is made from; each test changes one part of it. */
const world = () => ({
  now: NOW,
  commit: "c0ffee",
  settings: "s1",
  lock: 7,
  cause: "interval",
  asked: lists as readonly AnsweredRequest[] | null,
  isSame: true,
  holds: [] as readonly object[],
  isFrozen: false,
  hasOthers: false,
  askedOthers: false,
  isUnreachable: false,
  read: read as ReadEvent | null,
  applied: { ...sampleApplyEvent([team]), plan: { ...sampleApplyEvent([]).plan, complete: true } },
});

type World = ReturnType<typeof world>;

const targetIn = ({ commit, isUnreachable, holds, isFrozen, hasOthers }: World): Target =>
  ({
    source: {
      commits: {
        resolve: async () => (isUnreachable ? raise(new SourceError("FetchFailed", "no", { hint: "" })) : commit),
      },
    },
    order: { hasOthers },
    freezes: { at: () => (isFrozen ? { until: null, reason: "release" } : null), next: () => null },
    state: { target: async () => ({ decisions: async () => ({ holds, released: [] }) }) },
    declaredElsewhere: async () => new Set(),
  }) as unknown as Target;

const contextIn = ({ now, settings }: World) =>
  ({
    clock: { now: () => now, timeout: () => new AbortController().signal },
    stopping: new AbortController().signal,
    settingsDigest: () => settings,
  }) as unknown as Parameters<typeof unchangedPass>[3];

const turnIn = ({ lock, asked, isSame }: World, settled?: SettledPass) => ({
  claim: undefined,
  settled,
  lock,
  isOwn: false,
  requests: {
    begin: () => undefined,
    sinceBegin: () => asked,
    haveSameAnswers: async () => isSame,
  } as RecordedRequests,
});

const made = (given: World) => {
  const { read, applied, now, askedOthers } = given;
  const recorded = recordPass(targetIn(given), turnIn(given), now);
  if (askedOthers) void recorded.target.declaredElsewhere?.([]);
  // A pass that continues with another commit than it has read says so after it.
  for (const event of read === null ? [world().read, kept] : [read]) if (event !== null) recorded.onEvent(event);
  return recorded.settled(applied, contextIn(given));
};

/** Whether the next pass is not made, after a pass in the first world. */
const isSpared = async (before: World, after: Partial<World>) => {
  const settled = JSON.parse(JSON.stringify(await made(before)));
  const next = { ...before, lock: before.lock + 1, ...after };
  const job = { target: "a", scope: "all", cause: next.cause } as Parameters<typeof unchangedPass>[2];
  return (await unchangedPass(targetIn(next), turnIn(next, settled), job, contextIn(next))) !== null;
};

test("a pass is not made again while everything that it is made from is as it was", async () => {
  expect(await isSpared(world(), {})).toBe(true);
  expect(await isSpared(world(), { cause: "request", now: NOW + HOUR - 1 })).toBe(true);
});

test.for<readonly [string, Partial<World>]>([
  ["another commit", { commit: "beef" }],
  ["a source that cannot be read", { isUnreachable: true }],
  ["another configuration, or another build", { settings: "s2" }],
  ["another holder of the lock, who may have written", { lock: 9 }],
  ["another answer of the control plane", { isSame: false }],
  ["a hold", { holds: [{ what: "team/ml", until: "commit", reason: "x" }] }],
  ["a freeze", { isFrozen: true }],
  ["other targets before or after it", { hasOthers: true }],
  ["a push", { cause: "webhook" }],
  ["a changed source", { cause: "change" }],
  ["an hour", { now: NOW + HOUR }],
  ["a clock that was set back", { now: NOW - 1 }],
])("it is made after %s", async ([, change]) => {
  expect(await isSpared(world(), change)).toBe(false);
});

test.for<readonly [string, (world: World) => Partial<World>]>([
  ["that wrote", () => applied([{ ...team, result: "updated" }])],
  ["with a rollout in progress", () => applied([{ ...team, rollout: "progressing" }])],
  ["with a failed rollout", () => applied([{ ...team, rollout: "failed" }])],
  ["over a part", ({ applied: event }) => ({ applied: { ...event, isPart: true } })],
  [
    "with an incomplete plan",
    ({ applied: event }) => ({ applied: { ...event, plan: { ...event.plan, complete: false } } }),
  ],
  ["that found drift", ({ applied: event }) => ({ applied: withSummary(event, { drift: 1, orphan: 0 }) })],
  ["that found an orphan", ({ applied: event }) => ({ applied: withSummary(event, { drift: 0, orphan: 1 }) })],
  [
    "with an error",
    ({ applied: event }) => ({ applied: { ...event, report: { ...event.report, diagnostics: [error] } } }),
  ],
  ["that continued with another commit", () => ({ read: null })],
  ["without a commit", () => ({ read: { ...read, revision: null } })],
  ["whose requests cannot be made again", () => ({ asked: null })],
  ["that depended on what other targets declare", () => ({ askedOthers: true })],
  [
    "that delivered a token",
    ({ applied: event }) => ({ applied: { ...event, tokens: [{ identity: "a/b", location: "x" }] } }),
  ],
  [
    "that told too much",
    ({ applied: event }) => ({ applied: { ...event, notUsed: Array(5000).fill("a long text of it") } }),
  ],
  ["that asked nothing", () => ({ asked: [] })],
  ["that read lists beside digests", () => ({ asked: [...lists, digestOf(200)] })],
  ["beside a hold", () => ({ holds: [{ what: "team/ml", until: "commit", reason: "x" }] })],
])("nothing is kept of a pass %s", async ([, change]) => {
  const before = world();
  expect(await made({ ...before, ...change(before) })).toBe(null);
});

test("what it reported is told again as it was, but for its resources", async () => {
  const before = world();
  const settled = JSON.parse(JSON.stringify(await made(before)));
  const { outcomes, ...report } = before.applied.report;
  expect(outcomes).toHaveLength(1);
  expect(settledEvents(settled.end, true)).toEqual([
    { what: "unchanged", isOwn: true },
    read,
    {
      ...before.applied,
      isPart: true,
      report: { ...report, outcomes: [] },
      plan: { ...before.applied.plan, steps: [] },
    },
  ]);
});

test("lists are read again where digests are refused, and are not where they are told", async () => {
  expect(await made({ ...world(), asked: [...lists, digestOf(403)] })).not.toBe(null);
  expect(await made({ ...world(), asked: [digestOf(200)] })).not.toBe(null);
});

const kept: KeptEvent = {
  what: "kept",
  revision: null,
  reason: "Unreachable",
  message: "",
  hint: null,
  diagnostics: [],
};

const error = {
  severity: "error",
  code: "x",
  summary: "x",
  detail: null,
  file: null,
  line: null,
  column: null,
} as const;

function withSummary(event: World["applied"], summary: object): World["applied"] {
  return { ...event, plan: { ...event.plan, summary: { ...event.plan.summary, ...summary } } };
}

function applied(outcomes: readonly Partial<Outcome>[]): Partial<World> {
  const event = sampleApplyEvent(outcomes);
  return { applied: { ...event, plan: { ...event.plan, complete: true } } };
}

function raise(error: Error): never {
  throw error;
}

function digestOf(status: number): AnsweredRequest {
  return { operation: "getDigest", path: {}, query: {}, status, digest: status === 200 ? "d" : null };
}
