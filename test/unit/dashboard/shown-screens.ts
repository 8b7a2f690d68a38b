import { systemClock } from "../../../src/clock/system.ts";
import type { CommitSummary, StageStatus } from "../../../src/contract/generated/output.ts";
import type { PassRecord, ResourceStatus, TargetStatus } from "../../../src/core/report/target-status.ts";
import type { ExplainedValue } from "../../../src/daemon/api/dashboard-source.ts";
import { newStatus } from "../../../src/daemon/status-after-pass.ts";
import { plansDaemon, planToSend, signedWith } from "../../support/plans-daemon.ts";
import { sampleChange, samplePlan, sampleStep } from "../../support/sample-plan.ts";
import { referencesOf, serveTargets, storedTarget } from "./shown-daemon.ts";

/** A screen of the dashboard: its address, and texts that it shows once it is whole. */
export type ShownScreen = {
  readonly name: string;
  readonly address: string;
  readonly shows: readonly string[];
  /** What is above in a picture, where that is not the beginning. */
  readonly from?: string;
};

// All times are before it, so that ages never change.
const NOW = Date.parse("2026-11-22T12:00:30.000Z");
const clock = { ...systemClock, now: () => NOW };
const minutesAgo = (minutes: number): string => new Date(NOW - 30_000 - minutes * 60_000).toISOString();

const OLD = "3f2b9c1d7a60e4855a1c0f6d2b9e8c7a6f5d4e3b";
const NEW = "9d01b2c3e4f5061728394a5b6c7d8e9f00112233";

const pass = (minutes: number, fields: Partial<PassRecord> = {}): PassRecord => ({
  ...{ startedAt: minutesAgo(minutes + 0.1), endedAt: minutesAgo(minutes), commit: OLD, result: "applied" },
  ...{ reason: null, message: null, counts: { updated: 3, unchanged: 115 } },
  ...fields,
});

const synced = (name: string, minutes: number): TargetStatus => ({
  ...newStatus(name, "platform"),
  ...{ sync: "Synced", condition: "Ready", reason: null, wantedRevision: NEW, appliedRevision: NEW },
  ...{ counts: { unchanged: 118 }, lastPass: pass(minutes, { commit: NEW }), nextPassAt: "2026-11-22T12:04:00.000Z" },
});

const stalled: TargetStatus = {
  ...newStatus("production", "platform"),
  ...{ sync: "OutOfSync", condition: "Stalled", reason: "InvalidManifests", wantedRevision: NEW, appliedRevision: OLD },
  message: "1 of 120 manifests is invalid; 2 resources failed",
  counts: { updated: 1, unchanged: 116, failed: 2, invalid: 1 },
  lastPass: pass(3, {
    ...{ commit: NEW, result: "incomplete", reason: "InvalidManifests", message: "1 of 120 manifests is invalid" },
    counts: { updated: 1, unchanged: 116, failed: 2, invalid: 1 },
  }),
  nextPassAt: "2026-11-22T12:04:00.000Z",
  oldestUnapplied: { commit: NEW, since: minutesAgo(19) },
  invalid: [
    {
      ...{ identity: "service/c1:search/gateway", file: "search/gateway.yaml", line: 7 },
      message: "/ports/0: there is no field `prot`; did you mean `port`?",
      lastGood: { at: minutesAgo(1500), version: 14 },
    },
  ],
};

const resourceOf = (identity: string, fields: Partial<ResourceStatus> = {}): ResourceStatus => ({
  ...{ identity, state: "unchanged", rollout: null, hasDrifted: false, why: null },
  ...fields,
});

const API = "service/c1:web/api";
const changedBy = { subject: "user:ada@example.com", subjectId: null, at: minutesAgo(45) };
const resources: readonly ResourceStatus[] = [
  resourceOf("service/c1:search/gateway", { state: "invalid", why: "search/gateway.yaml:7: there is no field `prot`" }),
  resourceOf("service/c1:web/checkout", { state: "failed", why: "the control plane refused it: no such volume" }),
  resourceOf(API, { state: "updated", rollout: "progressing", hasDrifted: true, changedBy }),
  ...["admin", "billing", "catalog", "frontend", "mailer", "orders", "search", "stock", "users", "worker"].map((name) =>
    resourceOf(`service/c1:web/${name}`),
  ),
];

const explained: ExplainedValue = {
  ...{ at: minutesAgo(2), manifests: "last-pass" },
  versions: [
    { version: 8, subject: "virtualaccount:holdfast", subjectId: null, at: minutesAgo(3) },
    { version: 7, subject: "user:ada@example.com", subjectId: null, at: minutesAgo(45) },
  ],
  report: {
    ...{ format_version: "2.2", server: "https://control.example.com", identity: API, pointer: "", diagnostics: [] },
    wanted: {
      ...{ value: { replicas: 5, image: "registry.example.com/api:2.1.0" }, file: "web/api.yaml", line: 1 },
      ...{ commit: NEW, author: "Grace <grace@example.com>", at: minutesAgo(19), isOldest: false },
    },
    written: {
      value: { replicas: 3, image: "registry.example.com/api:2.0.4" },
      ...{ at: minutesAgo(180), version: 6, commit: OLD, isUncommitted: false },
    },
    live: {
      ...{ value: { replicas: 2, image: "registry.example.com/api:2.0.4" }, version: 7, isSince: true },
      ...{ subject: "user:ada@example.com", subjectId: null, at: minutesAgo(45), cause: "conflict" },
    },
    changes: [
      {
        ...{ path: "/replicas", label: "replicas", before: 2, after: 5, recorded: 3, cause: "conflict", diff: null },
        ...{ file: "web/api.yaml", line: 8, changedBy },
      },
      {
        ...{ path: "/image", label: "image", before: "registry.example.com/api:2.0.4", cause: "manifest", diff: null },
        ...{ after: "registry.example.com/api:2.1.0", recorded: "registry.example.com/api:2.0.4" },
        ...{ file: "web/api.yaml", line: 4 },
      },
    ],
    gates: [],
  },
};

const commits: readonly CommitSummary[] = [
  { commit: NEW, author: "Grace <grace@example.com>", at: minutesAgo(20), subject: "Give the interface five replicas" },
  { commit: OLD, author: "Alan <alan@example.com>", at: minutesAgo(190), subject: "Take checkout into the shop" },
];

const WORKSPACE = "workspace/c1:web";
const references = referencesOf({
  "team/shop": [],
  [WORKSPACE]: [],
  "service/c1:search/gateway": [API],
  "service/c1:web/checkout": [WORKSPACE, "service/c1:web/orders"],
  [API]: [WORKSPACE, "service/c1:web/orders"],
  "service/c1:web/orders": [WORKSPACE],
  "service/c1:web/users": [WORKSPACE],
});

const stages: readonly StageStatus[] = [
  {
    ...{ name: "test", after: [], state: "Healthy" },
    targets: [{ target: "test", state: "Healthy", commit: NEW, message: null }],
  },
  {
    ...{ name: "production", after: ["test"], state: "Failed" },
    targets: [{ target: "production", state: "Failed", commit: OLD, message: "1 of 120 manifests is invalid" }],
  },
];

/** A daemon with a pass in progress, as `docs/dashboard.md` shows it. */
async function servedTargets(): Promise<string> {
  const held: TargetStatus = { ...synced("europe", 12), sync: "OutOfSync", condition: "Held", reason: "Held" };
  const production = await storedTarget(
    { status: newStatus("production", "platform") },
    async () => explained,
    commits,
  );
  const older = [
    pass(1500, { counts: { created: 2, unchanged: 116 } }),
    pass(180),
    pass(45, { result: "incomplete", reason: "Failed", message: "1 failed", counts: { failed: 1, unchanged: 117 } }),
  ];
  await production.read((store) => store.keep({ status: stalled, records: older, resources: null }));
  await production.keep({
    ...{ status: stalled, resources },
    holds: [{ what: "service/c1:web/users", reason: "incident 12", by: "Ada", until: "commit" }],
  });
  const others = [{ ...held, message: "1 resource is held" }, synced("test", 1), synced("tools", 7)];
  const targets = [
    { ...production, lastReferences: () => references },
    ...(await Promise.all(others.map((status) => storedTarget({ status })))),
  ];
  const server = await serveTargets(targets, { clock, stages, token: null });
  const observe = server.observe("test");
  observe.begin?.({ target: "test", scope: "all", cause: "interval" });
  observe.emit({ what: "begun", steps: 4 });
  return server.url;
}

async function servedPlan(): Promise<{ readonly url: string; readonly path: string }> {
  const daemon = await plansDaemon({ clock });
  const plan = samplePlan([
    sampleStep("team/ml", { changes: [sampleChange("members[eve@example.com]", null, "eve@example.com")] }),
    sampleStep(API, { changes: [sampleChange("replicas", 3, 5), sampleChange("image", "api:2.0.4", "api:2.1.0")] }),
    sampleStep("service/c1:web/cart", { action: "create", changes: [sampleChange("replicas", null, 2)] }),
    sampleStep("service/c1:web/old", { causedBy: "drift", changes: [sampleChange("replicas", 2, 7, "drift")] }),
    sampleStep("service/c1:web/mail", { causedBy: "pending", changes: [sampleChange("replicas", 1, 3, "pending")] }),
  ]);
  await daemon.post(planToSend(plan, { pullRequest: 41, name: "test" }));
  const sent = await daemon.post(planToSend(signedWith(daemon.key, plan), { pullRequest: 42, name: "production" }));
  return { url: daemon.url, path: ((await sent.json()) as { path: string }).path };
}

/** Serves daemons whose time stands still, and names the screens of their dashboards. Only some hundred requests are answered. */
export async function shownScreens(): Promise<readonly ShownScreen[]> {
  const url = await servedTargets();
  const plan = await servedPlan();
  const target = `${url}/targets/production`;
  const resource = `${target}/resources/${encodeURIComponent(API)}`;
  return [
    { name: "fleet", address: url, shows: ["4 targets", "A pass writes: 0 of 4"] },
    { name: "target", address: target, shows: ["service/c1:web/checkout", "Last passes that changed something"] },
    {
      name: "graph",
      address: `${target}?view=graph`,
      shows: ["Whole graph", "web/checkout", "Last passes"],
      from: "#resources",
    },
    { name: "resource", address: resource, shows: ["Newest versions", "holdfast why", "updated"] },
    {
      name: "history",
      address: `${target}/history`,
      shows: ["day with drift", "for 42 min", "Give the interface"],
    },
    { name: "reviews", address: `${plan.url}/reviews`, shows: ["Pull request 42"] },
    { name: "review", address: plan.url + plan.path, shows: ["This change"] },
  ];
}
