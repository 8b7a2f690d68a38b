import { expect, test } from "vitest";
import { alertsAfter, potentialProblems, proposals, summaryOf } from "../../../src/control-plane/findings.ts";

const probe = { config: { type: "http", path: "/", port: 80 } };
const sound = { type: "service", replicas: 2, resources: {}, liveness_probe: probe, readiness_probe: probe };
const names = (manifest: Parameters<typeof potentialProblems>[0]) =>
  potentialProblems(manifest).map(({ name }) => name);

test("problems follow from the manifest", () => {
  expect(names(sound)).toEqual([]);
  expect(names({ ...sound, replicas: 1 })).toEqual(["one-replica"]);
  expect(names({ type: "service" })).toEqual(["no-liveness-probe", "no-readiness-probe", "no-resources"]);
  expect(names({ type: "job", resources: {} })).toEqual([]);
});

test("limits far over their requests are worth a proposal", () => {
  expect(proposals({ resources: { cpu_request: 1, cpu_limit: 4, memory_request: 100, memory_limit: 800 } })).toEqual([
    {
      recommendationType: "memory-request",
      recommendationData: { path: "/resources/memory_request", current: 100, proposed: 200 },
    },
  ]);
  expect(proposals({})).toEqual([]);
});

const application = { applicationId: "a", clusterId: "c", tenantName: "holdfast" };
const status = (name: string, createdAt: string) => ({
  id: "s",
  deploymentId: "d",
  status: name,
  transition: null,
  message: null,
  state: { isTerminalState: true, display: name },
  retryCount: 0,
  createdAt,
  updatedAt: createdAt,
});

test("a failed rollout opens an alert, and the next success closes it", () => {
  const open = alertsAfter([], status("DEPLOY_FAILED", "t1"), application, () => "id");
  expect(open).toMatchObject([{ name: "RolloutFailed", startTime: "t1", resolvedTime: null }]);
  expect(summaryOf(open)).toEqual({ open: 1, byName: { RolloutFailed: 1 } });
  const closed = alertsAfter(open, status("DEPLOY_SUCCESS", "t2"), application, () => "id");
  expect(closed).toMatchObject([{ startTime: "t1", resolvedTime: "t2" }]);
  expect(summaryOf(closed)).toEqual({ open: 0, byName: {} });
});

test("being cancelled is nobody's alert", () => {
  expect(alertsAfter([], status("CANCELLED", "t1"), application, () => "id")).toEqual([]);
});
