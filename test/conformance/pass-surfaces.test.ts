import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { applyExitCode } from "../../src/commands/apply/show-apply-result.ts";
import type { Step } from "../../src/core/plan/plan.ts";
import type { ApplyEvent, PassEvent, PlanEvent, ReadEvent } from "../../src/core/report/events.ts";
import type { PassVerdict } from "../../src/core/report/pass-result.ts";
import type { Outcome } from "../../src/core/report/report.ts";
import type { TargetStatus } from "../../src/core/report/target-status.ts";
import { commitStatusOf } from "../../src/daemon/commit-status/status-writer.ts";
import type { EndedPass } from "../../src/daemon/ended-pass.ts";
import { createPassMetrics } from "../../src/daemon/http/pass-metrics.ts";
import { createReadiness } from "../../src/daemon/http/readiness.ts";
import type { NotificationEvent } from "../../src/daemon/notify/notification.ts";
import { passNotifications } from "../../src/daemon/notify/pass-notifications.ts";
import { observers } from "../../src/daemon/pass-observer.ts";
import { createPassRecorder } from "../../src/daemon/pass-recorder.ts";
import { applyLine } from "../../src/render/apply.ts";
import { toWatchEvents } from "../../src/render/watch-events.ts";
import { NO_MEMORY } from "../../src/state/target-store.ts";
import { memoryState } from "../support/memory-state.ts";
import { observedPass } from "../support/observed-pass.ts";
import { parsePrometheus } from "../support/prometheus.ts";
import { sampleApplyEvent } from "../support/sample-apply-event.ts";
import { emptySummary } from "../support/sample-plan.ts";

const refused = { code: "refused", message: "no" };

/** Every outcome that a resource can have, by what it is called here. */
const outcomes: { readonly [name: string]: Partial<Outcome> } = {
  created: { result: "created", rollout: "succeeded" },
  unchanged: { result: "unchanged" },
  rolling: { result: "updated", rollout: "progressing" },
  "failed rollout": { result: "updated", rollout: "failed" },
  "late rollout": { result: "updated", rollout: "timeout" },
  failed: { result: "failed", error: refused },
  unknown: { result: "unknown", error: refused },
  blocked: { result: "blocked", error: { code: "guard", message: "no" } },
  adopts: { result: "blocked", error: { code: "guard", message: "no" } },
  held: { result: "blocked", error: { code: "held", message: "no" } },
  proposed: { result: "blocked", error: { code: "drift-held", message: "no" } },
  skipped: { result: "skipped", error: { code: "dependency", message: "no" } },
  invalid: { result: "invalid", file: "a.yaml", line: 1, error: { code: "schema", message: "no" } },
};
const good = new Set(["created", "unchanged", "rolling"]);

/** Every set of at most three outcomes. */
const names = Object.keys(outcomes);
const sets = names.flatMap((one, at) => [
  [one],
  ...names
    .slice(at + 1)
    .flatMap((other, beside) => [[one, other], ...names.slice(at + 2 + beside).map((third) => [one, other, third])]),
]);

function appliedOf(set: readonly string[]): ApplyEvent {
  const all = set.map((name) => ({
    identity: `team/${name}`,
    kind: "team",
    rollout: null,
    error: null,
    attempts: 1,
    file: null,
    ...outcomes[name],
  }));
  const adopting: Partial<Step> = { identity: "team/adopts", action: "block", risks: ["adopts"], changes: [] };
  return sampleApplyEvent(all as readonly Outcome[], set.includes("adopts") ? [adopting] : []);
}

const read = { what: "read", isRefused: true, files: 1, knownFiles: 0, documents: 1 } as ReadEvent;
const kept = (reason: string): PassEvent => ({
  what: "kept",
  reason,
  message: reason,
  hint: null,
  revision: "good",
  diagnostics: [],
});
const planned = (complete: boolean, invalid: readonly unknown[] = []): PlanEvent => {
  const summary = { ...emptySummary, invalid: invalid.length };
  const plan = { summary, steps: [], diagnostics: [], complete, revision: "c0ffee" };
  return { what: "planned", plan, details: new Map(), invalid } as unknown as PlanEvent;
};
const invalid = { identity: "team/invalid", kind: "team", ...outcomes.invalid };

type Case = { readonly is: string; readonly reports: readonly (PassEvent | Error)[]; readonly verdict: PassVerdict };

const whatElse: readonly (Omit<Case, "verdict"> & { readonly verdict: PassVerdict | null })[] = [
  { is: "nothing else", reports: [], verdict: null },
  { is: "fails", reports: [new Error("unreachable")], verdict: "failed" },
  { is: "keeps the last applied commit", reports: [kept("SourceRefused")], verdict: "failed" },
  { is: "keeps it for a hold", reports: [kept("Held")], verdict: "held" },
  { is: "keeps it while the newest one waits for other targets", reports: [kept("Waiting")], verdict: "held" },
  { is: "keeps it because another target has failed", reports: [kept("Halted")], verdict: "failed" },
  { is: "stands by", reports: [{ what: "standing-by", message: "another" }], verdict: "superseded" },
];

/** Every way in which a pass can end: with each set of outcomes alone, and with each other fact beside it. */
function* cases(): Generator<Case> {
  for (const set of sets) {
    const left = set.filter((name) => !good.has(name));
    const isHeldAlone = left.every((name) => name === "held" || name === "proposed");
    const own = left.length === 0 ? "succeeded" : isHeldAlone ? "held" : "failed";
    for (const { is, reports, verdict } of whatElse)
      yield { is: `${set.join(", ")}; ${is}`, reports: [...reports, appliedOf(set)], verdict: verdict ?? own };
  }
  for (const { is, reports, verdict } of whatElse) {
    yield { is: `a refused source; ${is}`, reports: [read, ...reports], verdict: verdict ?? "failed" };
    yield { is: `a report; ${is}`, reports: [...reports, planned(true)], verdict: verdict ?? "succeeded" };
    yield { is: `a report of a part; ${is}`, reports: [...reports, planned(false)], verdict: verdict ?? "failed" };
    const leftOut = planned(false, [invalid]);
    yield { is: `a report without a manifest; ${is}`, reports: [...reports, leftOut], verdict: verdict ?? "failed" };
    yield { is: `no end; ${is}`, reports, verdict: verdict ?? "failed" };
  }
}

const conditions: { readonly [verdict in PassVerdict]: readonly TargetStatus["condition"][] } = {
  succeeded: ["Ready", "Reconciling"],
  held: ["Held"],
  failed: ["Stalled"],
  superseded: ["Reconciling"],
};

/** The commit status of a commit that is not applied yet, because of other targets. */
const waiting: { readonly [reason in string]?: string } = { Waiting: "pending", Halted: "failure" };

/** Lets every surface of a new daemon see one pass. */
async function surfacesOf({ reports }: Case) {
  const state = memoryState();
  const metrics = createPassMetrics(async () => []);
  const registry = new Registry();
  metrics.register(registry);
  const readiness = createReadiness();
  const told: NotificationEvent[] = [];
  const recorder = createPassRecorder({
    target: "prod",
    source: null,
    state: { folder: "state", onForgotten: () => undefined, target: state.target },
    now: () => 0,
    standsBy: () => null,
    between: async () => [],
    machine: null,
  });
  const all = observers([
    metrics.observe("prod"),
    readiness.observe("prod"),
    passNotifications("prod", ({ event }) => told.push(event)),
  ]);
  const pass = observedPass(all, reports, { cause: "start" });
  await recorder.onPassEnd(pass, NO_MEMORY);
  return {
    pass,
    told,
    status: await recorder.status(),
    scrape: parsePrometheus(await registry.metrics()),
    readiness: readiness.now(),
    history: (await (await state.target()).passes({ limit: 1 })).entries[0],
  };
}

test("every surface says the same of a pass, however it ends", async () => {
  let nth = 0;
  for (const one of cases()) {
    nth += 1;
    const { pass, told, status, scrape, readiness, history } = await surfacesOf(one);
    const { result, verdict, reasons, left } = pass.conclusion;
    const { reason } = reasons[0] ?? { reason: null };
    const sample = (name: string) => scrape.get(name)?.metrics.filter(({ value }) => value !== "0") ?? [];
    const succeeded = verdict === "succeeded";
    expect
      .soft({
        is: one.is,
        verdict,
        history: [history?.result, history?.reason],
        lastPass: [status.lastPass?.result, status.lastPass?.reason],
        condition: conditions[verdict].includes(status.condition) ? "as it should be" : status.condition,
        counted: sample("holdfast_passes_total").map(({ labels }) => labels?.result),
        success: sample("holdfast_last_success_timestamp_seconds").length,
        stalled: told.includes("stalled"),
        serves: readiness.is !== "not-ready",
        appliedRevision: status.appliedRevision,
        commit: commitStatusOf(pass, "prod")?.state ?? null,
      })
      .toEqual({
        is: one.is,
        verdict: one.verdict,
        history: [result, reason],
        lastPass: [result, reason],
        condition: "as it should be",
        counted: [result],
        success: succeeded ? 1 : 0,
        stalled: verdict === "failed",
        serves: true,
        appliedRevision: left?.length === 0 ? "c0ffee" : null,
        commit: waiting[reason ?? ""] ?? (left === null ? null : left.length === 0 ? "success" : "failure"),
      });
    expectSameOfApply(one, pass);
  }
  expect(nth).toBeGreaterThan(1500);
});

/** The command and the log tell of an apply by itself. */
function expectSameOfApply({ is, verdict }: Case, { seen: { applied }, conclusion: { left } }: EndedPass): void {
  if (applied === null || left === null) return;
  const isWhole = left.length === 0;
  expect
    .soft([is, applyExitCode(applied) === 0, applyLine(applied.report).startsWith("Applied")])
    .toEqual([is, isWhole, isWhole]);
  const logged = toWatchEvents(applied).map(({ event }) => event);
  expect.soft([is, logged.includes("applied"), logged.includes("incomplete")]).toEqual([is, isWhole, !isWhole]);
  // What is proposed for git is held, and no part of the commit.
  const isApplied = verdict === "succeeded" || (verdict === "held" && !/\bheld\b/.test(is));
  if (is.endsWith("nothing else")) expect.soft([is, isWhole]).toEqual([is, isApplied]);
}
