import { expect, onTestFinished, test } from "vitest";
import { systemClock, systemRandom } from "../../../../src/clock/system.ts";
import type { ReadEvent } from "../../../../src/core/report/events.ts";
import type { Outcome } from "../../../../src/core/report/report.ts";
import { nothingShown } from "../../../../src/daemon/api/dashboard-source.ts";
import { startDaemonServer } from "../../../../src/daemon/http/daemon-server.ts";
import type { TargetOverview } from "../../../../src/daemon/http/status-route.ts";
import { newStatus } from "../../../../src/daemon/status-after-pass.ts";
import { createLog } from "../../../../src/log/log.ts";
import { observedPass } from "../../../support/observed-pass.ts";
import { parsePrometheus } from "../../../support/prometheus.ts";
import { sampleApplyEvent } from "../../../support/sample-apply-event.ts";

const NOW = Date.parse("2026-11-22T12:00:00Z");
const hostile = 'prod"} 1\nforged{a="b';

const overview: TargetOverview = {
  status: {
    ...newStatus(hostile, "platform"),
    unknown: ["prompt/one", "prompt/other"],
    held: ["service/dev:web/api until tomorrow"],
    oldestUnapplied: { commit: "c0ffee", since: "2026-11-22T11:45:00Z" },
  },
  passes: [],
  hasLease: true,
};

const read: ReadEvent = {
  what: "read",
  revision: "c0ffee",
  diagnostics: [],
  selected: [],
  paths: null,
  files: 10,
  knownFiles: 7,
  leftOut: new Map(),
  manifests: 10,
  documents: 10,
  otherDocuments: { documents: 0, types: new Map(), filesOfOurTypes: [], diagnostics: [] },
  isRefused: false,
};

const outcome = (identity: string, rest: Partial<Outcome>): Outcome => ({
  identity,
  kind: "team",
  result: "unchanged",
  file: null,
  rollout: null,
  error: null,
  attempts: 0,
  ...rest,
});

async function started() {
  let clock = NOW;
  let collected = 0;
  const log = createLog({ level: "silent", format: "json", stream: { write: () => {} } });
  const server = await startDaemonServer({
    dashboard: nothingShown,
    host: "127.0.0.1",
    port: 0,
    log,
    clock: { ...systemClock, now: () => clock },
    random: systemRandom,
    stopping: new AbortController().signal,
    hookOf: () => undefined,
    token: () => null,
    build: { version: "1.2.3", commit: null },
    gates: async () => ({}),
    targets: async () => {
      collected += 1;
      return [overview];
    },
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const scrape = async () => parsePrometheus(await (await fetch(`${server.url}/metrics`)).text());
  const value = async (name: string, labels: object = {}) => {
    const family = (await scrape()).get(name);
    const found = family?.metrics.find((one) =>
      Object.entries(labels).every(([label, expected]) => one.labels?.[label] === expected),
    );
    return found?.value === undefined ? null : Number(found.value);
  };
  return {
    server,
    scrape,
    value,
    collected: () => collected,
    jump: (ms: number) => {
      clock += ms;
    },
  };
}

test("S19 metrics count passes by cause and result, writes, requests, fetches and lookups, whatever a target is called", async () => {
  const { server, value, scrape } = await started();
  const applied = sampleApplyEvent([outcome("team/a", { result: "updated", attempts: 2 }), outcome("team/b", {})]);
  observedPass(server.observe(hostile), [read, applied], { cause: "webhook" });
  server.meter.request("putTeam", 40, true);
  server.meter.request("putTeam", 30_000, false);
  server.meter.count("fetches", "platform", "failed");
  const target = { target: expect.stringContaining("forged") };
  const passes = (await scrape()).get("holdfast_passes_total")?.metrics.filter((one) => one.value !== "0");
  expect(passes).toEqual([{ value: "1", labels: { ...target, trigger: "webhook", result: "applied" } }]);
  expect(await value("holdfast_writes_total", { result: "sent" })).toBe(2);
  expect(await value("holdfast_writes_total", { result: "skipped-equal" })).toBe(1);
  expect(await value("holdfast_cache_lookups_total", { result: "hit" })).toBe(7);
  expect(await value("holdfast_api_requests_unanswered_total", { operation: "putTeam" })).toBe(1);
  expect(await value("holdfast_git_fetches_total", { source: "platform", result: "failed" })).toBe(1);
  expect(await value("holdfast_unknown_resources")).toBe(2);
  expect(await value("holdfast_held")).toBe(1);
  expect(await value("holdfast_target_info", { condition: "Reconciling", reason: "Starting" })).toBe(1);
  expect(await value("holdfast_lease_held")).toBe(1);
  expect(await value("process_heap_bytes")).toBeGreaterThan(1e6);
  expect((await scrape()).has("forged")).toBe(false);
  server.watch({ targets: [], sources: [], receivers: [] });
  expect((await scrape()).get("holdfast_passes_total")?.metrics).toEqual([]);
});

test("every series of a target and of a source exists before its first pass, and none of one that is not watched any more", async () => {
  const { server, scrape } = await started();
  server.observe("prod");
  server.watch({ targets: ["prod"], sources: ["platform"], receivers: ["oncall"] });
  const series = async () =>
    [...(await scrape())].flatMap(([name, { metrics }]) =>
      metrics
        .map(({ labels = {}, value }) => ({ name, labels, value }))
        .filter(({ labels }) =>
          [labels.target, labels.source, labels.receiver].some((name) =>
            ["prod", "platform", "oncall"].includes(name ?? ""),
          ),
        ),
    );
  const before = await series();
  expect(before.map(({ value }) => value).filter((value) => value !== "0")).toEqual([]);
  const applied = sampleApplyEvent([outcome("team/a", { result: "updated", attempts: 1 })]);
  observedPass(server.observe("prod"), [read, applied]);
  server.meter.count("fetches", "platform", "fetched");
  server.meter.fetched("platform", 40);
  server.observe("prod").applied?.(1000);
  server.meter.count("notifications", "oncall", "dropped");
  server.meter.count("refPushes", "prod", "published");
  const names = (all: typeof before) => all.map(({ name, labels }) => JSON.stringify([name, labels]));
  expect(names(await series())).toEqual(names(before));
  server.watch({ targets: [], sources: [], receivers: [] });
  expect(await series()).toEqual([]);
});

test("a clock that jumps back shows no negative age", async () => {
  const { value, jump } = await started();
  expect(await value("holdfast_oldest_unapplied_seconds")).toBe(900);
  jump(-3_600_000);
  expect(await value("holdfast_oldest_unapplied_seconds")).toBe(0);
});

test("a flood of scrapes and probes is answered, and reads the targets no more than twice a second", async () => {
  const { server, collected, scrape } = await started();
  await scrape();
  const startedAt = performance.now();
  const paths = Array.from({ length: 600 }, (_, at) => (at % 3 === 0 ? "/healthz" : "/metrics"));
  const statuses = await Promise.all(paths.map(async (path) => (await fetch(server.url + path)).status));
  expect(new Set(statuses)).toEqual(new Set([200]));
  const most = 2 + Math.ceil(((performance.now() - startedAt) / 1000) * 2);
  expect(collected()).toBeLessThanOrEqual(most);
  expect(most).toBeLessThan(400);
});
