import { expect, test } from "vitest";
import type { Json } from "../../../src/contract/json.ts";
import type { Change } from "../../../src/core/plan/plan.ts";
import { changeLines } from "../../../src/render/change.ts";
import { contentLines } from "../../../src/render/created-content.ts";
import { fieldDiff } from "../../../src/render/markdown/field-diff.ts";
import { outcomeLines } from "../../../src/render/outcome.ts";
import { plain } from "../../../src/render/paint.ts";
import { sampleStep } from "../../support/sample-plan.ts";

const change = (label: string, before: Json, after: Json, cause: Change["cause"] = "manifest"): Change => {
  return { path: `/${label}`, label, before, after, cause, diff: null };
};

function role([type, fqn, id]: readonly [string, string, string], isNew: boolean): readonly Change[] {
  const fields = { resource_fqn: fqn, resource_type: type, role_id: id };
  return Object.entries(fields).map(([field, value]) =>
    change(`permissions[${type}:${fqn}:${id}].${field}`, isNew ? null : value, isNew ? value : null),
  );
}

const roles = [
  ...role(["cluster", "prod-eu", "cluster-viewer"], false),
  ...role(["tenant", "holdfast", "tenant-admin"], true),
  change("collaborators[team:ml:workspace-admin].role_id", null, "workspace-admin"),
  change("collaborators[team:ml:workspace-admin].subject", null, "team:ml"),
  change("members[eve@example.com]", null, "eve@example.com"),
];
const grants = [
  "- cluster-viewer on cluster prod-eu",
  "+ tenant-admin on tenant holdfast",
  "+ workspace-admin for team:ml",
  "+ member eve@example.com",
];
const layout = { paint: plain, width: 80 };
const ours = { result: "updated", rollout: null, error: null, attempts: 1, file: "a.yaml" } as const;

test("a grant is one line per item, after the other fields of a step", () => {
  const lines = changeLines([change("tags[a]", null, "b"), ...roles], { ...layout, by: null });
  expect(lines).toEqual(["    manifest   tags[a]  (none) → b", ...grants.map((grant) => `    manifest   ${grant}`)]);
});

test("a grant is one line per item of an outcome, and never among the fields that do not fit", () => {
  const many = Array.from({ length: 30 }, (_, at) => change(`env.SETTING_${at}`, "a long value", "another long value"));
  const step = sampleStep("virtual-account/ci", { action: "update", changes: [...many, ...roles] });
  const lines = outcomeLines(
    { ...ours, identity: "virtual-account/ci", kind: "virtual-account" },
    { ...layout, stepOf: () => step },
  );
  expect(lines.slice(-5, -4)[0]).toMatch(/… and \d+ more fields$/);
  expect(lines.slice(-4)).toEqual(grants.map((grant) => `            ${grant}`));
});

test("what a new resource grants is one line per item, in the plan and in the outcome", () => {
  const content = {
    type: "virtual-account",
    name: "ci",
    permissions: ["prod-eu", "staging-eu"].map((fqn) => ({
      resource_type: "cluster",
      resource_fqn: fqn,
      role_id: "cluster-viewer",
    })),
  };
  const roleLines = ["+ cluster-viewer on cluster prod-eu", "+ cluster-viewer on cluster staging-eu"];
  expect(contentLines(content, "virtual-account/ci", layout)).toEqual(roleLines.map((line) => `    ${line}`));
  const step = sampleStep("virtual-account/ci", {
    action: "create",
    changes: [{ ...change("", null, content), path: "" }],
  });
  const outcome = { ...ours, result: "created", identity: "virtual-account/ci", kind: "virtual-account" } as const;
  expect(outcomeLines(outcome, { ...layout, stepOf: () => step }).slice(1)).toEqual(
    roleLines.map((line) => `            ${line}`),
  );
  expect(fieldDiff(step.changes)).toEqual([
    "+ cluster-viewer on cluster prod-eu",
    "+ cluster-viewer on cluster staging-eu",
    "+ type: virtual-account",
    "+ name: ci",
  ]);
});

test("a grant in a review stands before the fields that may not fit", () => {
  expect(fieldDiff([change("tags[a]", null, "b"), ...roles]).slice(0, 5)).toEqual([
    "@@ grants (manifest) @@",
    ...grants,
  ]);
});

test("a role that is too long for a line is shown on several, with its resource", () => {
  const fqn = `prod-eu:${"w".repeat(60)}`;
  const lines = changeLines(role(["workspace", fqn, "workspace-admin"], true), { ...layout, by: null });
  expect(lines.join("").replaceAll(/\s+/g, "")).toContain(`workspace-adminonworkspace${fqn}`);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
});

test("who wrote live is named once: beside the first field that may have moved, or below the grants", () => {
  const by = () => "by user:ada";
  const moved = roles.map((one) => ({ ...one, cause: "drift" as const }));
  const alone = changeLines(moved, { ...layout, by });
  expect(alone.at(-1)).toBe("               by user:ada");
  expect(alone.join("\n").match(/user:ada/g)).toHaveLength(1);
  const fields = [change("env.A", "1", "2"), change("replicas", 1, 2, "drift"), change("tags[a]", 1, 2, "drift")];
  const beside = changeLines([...fields, ...moved], { ...layout, by });
  expect(beside.filter((line) => line.includes("user:ada"))).toEqual(["    drift      replicas  1 → 2  by user:ada"]);
});
