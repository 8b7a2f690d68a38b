import { expect, test } from "vitest";
import type { Step } from "../../../../src/core/plan/plan.ts";
import type { PassEvent } from "../../../../src/core/report/events.ts";
import type { Outcome } from "../../../../src/core/report/report.ts";
import type { Notification } from "../../../../src/daemon/notify/notification.ts";
import { passNotifications } from "../../../../src/daemon/notify/pass-notifications.ts";
import { observedPass } from "../../../support/observed-pass.ts";
import { sampleApplyEvent } from "../../../support/sample-apply-event.ts";

function observed() {
  const told: Notification[] = [];
  const observer = passNotifications("prod", (notification) => told.push(notification));
  // A pass that reports this, or fails for this reason, and ends.
  const pass = (what: PassEvent | Error): void => void observedPass(observer, [what]);
  return { ...observer, pass, events: () => told.splice(0).map(({ event }) => event), told };
}

const kept: PassEvent = {
  what: "kept",
  reason: "invalid",
  revision: "c0ffee",
  message: "it is empty",
  hint: null,
  diagnostics: [],
};

test("a condition is reported once, and again when it changes", () => {
  const { pass, events } = observed();
  pass(new Error("unreachable"));
  pass(new Error("unreachable"));
  expect(events()).toEqual(["stalled"]);
  pass(new Error("another reason"));
  pass(kept);
  pass(kept);
  expect(events()).toEqual(["stalled", "stalled"]);
});

test("S11 a failure is told without the credentials that its message quotes", () => {
  const { pass, told } = observed();
  const token = `ghp_${"a1B2".repeat(9)}`;
  pass(new Error(`fetch of https://me:CANARY-7d1f0a@git.example.com/x failed: Authorization: Bearer ${token}`));
  pass({ ...kept, message: `the remote quotes ${token}` });
  expect(told.map(({ summary }) => summary)).toEqual([
    "fetch of https://(sensitive)@git.example.com/x failed: Authorization: Bearer (sensitive)",
    "the source is refused: the remote quotes (sensitive)",
  ]);
});

test("a rollout that fails or times out after its pass is a failure", () => {
  const { emit, told } = observed();
  emit({ what: "rolled-out", identity: "service/dev:web/api", rollout: "failed" });
  emit({ what: "rolled-out", identity: "service/dev:web/web", rollout: "succeeded" });
  emit({ what: "rolled-out", identity: "service/dev:web/job", rollout: "timeout" });
  expect(told).toMatchObject([
    { event: "failure", summary: "a rollout failed", details: ["service/dev:web/api"] },
    { event: "failure", summary: "a rollout has not ended in time", details: ["service/dev:web/job"] },
  ]);
});

const CANARY = "CANARY-7d1f0a";

const failed: Partial<Outcome> = {
  identity: "service/dev:web/api",
  result: "failed",
  error: { code: "response-refused", message: `bad value ${CANARY}` },
};

test("S6 failed resources are told by name and code, without what the control plane says of them, until they succeed", () => {
  const { pass, told, events } = observed();
  pass(sampleApplyEvent([failed]));
  expect(told).toMatchObject([
    { event: "failure", revision: "c0ffee", details: ["service/dev:web/api: failed (response-refused)"] },
    { event: "stalled", revision: "c0ffee", summary: "1 failed" },
  ]);
  expect(JSON.stringify(told)).not.toContain(CANARY);
  expect(events()).toEqual(["failure", "stalled"]);
  pass(sampleApplyEvent([failed]));
  expect(events()).toEqual([]);
  pass(sampleApplyEvent([{ ...failed, result: "updated", error: null }]));
  pass(sampleApplyEvent([]));
  expect(events()).toEqual(["recovery"]);
  pass(sampleApplyEvent([failed]));
  expect(events()).toEqual(["failure", "stalled"]);
});

test("a hold is told with the commit that waits for it, and is neither trouble nor its end", () => {
  const { pass, told, events } = observed();
  const held = (message: string) =>
    sampleApplyEvent([{ identity: "team/ml", result: "blocked", error: { code: "held", message } }]);
  pass(held("until 16:00: incident 12"));
  pass(held("until 16:00: incident 12"));
  pass(held("until 16:00: incident 12; commit bbbbbbb waits"));
  expect(told).toMatchObject([
    { event: "held", summary: "1 resource on hold", details: ["team/ml: until 16:00: incident 12"] },
    { event: "held", details: ["team/ml: until 16:00: incident 12; commit bbbbbbb waits"] },
  ]);
  events();
  pass(sampleApplyEvent([]));
  pass({ ...kept, reason: "Held", message: "commit bbbbbbb is held until 16:00: waits" });
  expect(told).toMatchObject([{ event: "held", summary: "commit bbbbbbb is held until 16:00: waits" }]);
});

test("that other targets halt a target is told once, and is no fault of its source", () => {
  const { pass, told } = observed();
  const halted = { ...kept, reason: "Halted", message: "target prod is halted: staging: commit bbbbbbb failed there" };
  pass(halted);
  pass(halted);
  expect(told).toMatchObject([{ event: "stalled", summary: halted.message }]);
});

test("drift and what needs adoption are told by name, once for as long as they last", () => {
  const { emit, events, told } = observed();
  const drifted = { identity: "team/ml", action: "update", changes: [{ path: "/members", cause: "drift" }], risks: [] };
  const unadopted = { identity: "cluster/c", action: "block", changes: [], risks: ["adopts"] };
  const event = sampleApplyEvent([], [drifted, unadopted] as unknown as readonly Partial<Step>[]);
  emit(event);
  expect(told).toMatchObject([
    { event: "drift", details: ["team/ml"] },
    { event: "adopt-needed", details: ["cluster/c"] },
  ]);
  events();
  emit(event);
  expect(events()).toEqual([]);
  emit(sampleApplyEvent([]));
  emit(event);
  expect(events()).toEqual(["drift", "adopt-needed"]);
});

test("a target that only reports tells what needs adoption too", () => {
  const { emit, told } = observed();
  const guard = { flags: ["--allow-adopt"], dangers: [{ risk: "adopts", path: null, text: "replicas" }] };
  const step = { identity: "service/c:w/api", action: "update", changes: [], risks: ["adopts"], guard };
  const { plan } = sampleApplyEvent([], [step] as unknown as readonly Partial<Step>[]);
  emit({ what: "planned", plan } as unknown as PassEvent);
  expect(told).toMatchObject([{ event: "adopt-needed", details: ["service/c:w/api"] }]);
});
