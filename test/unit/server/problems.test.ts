import { expect, test } from "vitest";
import {
  alertsAfterDeployment,
  summariseAlerts,
} from "../../../src/server/resources/application/alerts-after-deployment.ts";
import {
  isApplied,
  potentialProblems,
  proposeRecommendations,
} from "../../../src/server/resources/application/problems.ts";

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
  expect(
    proposeRecommendations({ resources: { cpu_request: 1, cpu_limit: 4, memory_request: 100, memory_limit: 800 } }),
  ).toEqual([
    {
      recommendationType: "memory-request",
      recommendationData: { path: "/resources/memory_request", current: 100, proposed: 200 },
    },
  ]);
  expect(proposeRecommendations({})).toEqual([]);
});

test("a proposal is applied by a manifest that requests as much", () => {
  const [recommendation = { recommendationData: {} }] = proposeRecommendations({
    resources: { cpu_request: 0.1, cpu_limit: 4 },
  });
  expect(isApplied(recommendation.recommendationData, { resources: { cpu_request: 1 } })).toBe(true);
  expect(isApplied(recommendation.recommendationData, { resources: { cpu_request: 0.5 } })).toBe(false);
  expect(isApplied(recommendation.recommendationData, { resources: null })).toBe(false);
  expect(isApplied({}, {})).toBe(false);
});

const application = { applicationId: "a", clusterId: "c", tenantName: "holdfast" };
const status = (name: string, createdAt: string) => ({
  id: "s",
  deploymentId: "d",
  status: name,
  transition: "",
  state: { isTerminalState: true, display: name },
  retryCount: 0,
  createdAt,
  updatedAt: createdAt,
});

test("a failed rollout opens an alert, and the next success closes it", () => {
  const open = alertsAfterDeployment([], status("DEPLOY_FAILED", "t1"), application, () => "id");
  expect(open).toMatchObject([{ name: "RolloutFailed", startTime: "t1" }]);
  expect(open[0]).not.toHaveProperty("resolvedTime");
  expect(summariseAlerts(open)).toEqual({ open: 1, byName: { RolloutFailed: 1 } });
  const closed = alertsAfterDeployment(open, status("DEPLOY_SUCCESS", "t2"), application, () => "id");
  expect(closed).toMatchObject([{ startTime: "t1", resolvedTime: "t2" }]);
  expect(summariseAlerts(closed)).toEqual({ open: 0, byName: {} });
});

test("failing again is one more time of the same alert, until a success ends it", () => {
  const once = alertsAfterDeployment([], status("DEPLOY_FAILED", "t1"), application, () => "a1");
  const info = { ...application, applicationDebugInfoId: "i2" };
  const twice = alertsAfterDeployment(once, status("DEPLOY_FAILED", "t2"), info, () => "a2");
  expect(twice).toMatchObject([{ id: "a1", timestamps: ["t1", "t2"], startTime: "t1", applicationDebugInfoId: "i2" }]);
  const other = alertsAfterDeployment(twice, status("BUILD_FAILED", "t3"), application, () => "a3");
  expect(other.map(({ name }) => name)).toEqual(["BuildFailed", "RolloutFailed"]);
  const closed = alertsAfterDeployment(other, status("DEPLOY_SUCCESS", "t4"), application, () => "a4");
  const reopened = alertsAfterDeployment(closed, status("DEPLOY_FAILED", "t5"), application, () => "a5");
  expect(reopened.map(({ id, resolvedTime }) => [id, resolvedTime])).toEqual([
    ["a5", undefined],
    ["a3", "t4"],
    ["a1", "t4"],
  ]);
});

test("a cancelled deployment causes no alert", () => {
  expect(alertsAfterDeployment([], status("CANCELLED", "t1"), application, () => "id")).toEqual([]);
});
