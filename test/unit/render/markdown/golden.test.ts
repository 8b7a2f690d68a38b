import { join } from "node:path";
import { expect, test } from "vitest";
import { groupOf } from "../../../../src/core/kind.ts";
import type { Plan } from "../../../../src/core/plan/plan.ts";
import type { DriftReport } from "../../../../src/core/report/report.ts";
import { kindsByType } from "../../../../src/kinds/index.ts";
import { driftMarkdown } from "../../../../src/render/markdown/drift.ts";
import { planMarkdown } from "../../../../src/render/markdown/plan.ts";
import { sampleChange, samplePlan, sampleStep } from "../../../support/sample-plan.ts";

const view = {
  groupOf: (one: { readonly identity: string }) => groupOf(one, kindsByType),
  detailOf: () => "secret tenant:group:absent-key does not exist",
  subject: "pull request" as const,
  target: null,
  most: 60_000,
  whole: "All of them: `holdfast plan -o json`.",
};

const ada = { subject: "user:ada@example.com", subjectId: "ada", at: "2026-11-22T11:56:00.000Z" };
const content = {
  type: "service",
  name: "summarizer",
  image: { type: "image", image_uri: "registry.example.com/summarizer:1.0.0" },
  ports: [{ port: 8080 }],
  env: { API_TOKEN: "(sensitive)" },
};
const drifted = {
  ...sampleStep("service/prod-eu:support/assistant"),
  changedBy: ada,
  changes: [sampleChange("replicas", 5, 2, "drift")],
};

const review = samplePlan(
  [
    sampleStep("service/prod-eu:support/summarizer", {
      action: "create",
      changes: [{ path: "", label: "", before: null, after: content, cause: "manifest", diff: null }],
      notChecked: { reason: "skipped" },
    }),
    sampleStep("team/ml", {
      risks: ["privilege-growth"],
      changes: [sampleChange("members[eve@example.com]", null, "eve@example.com")],
    }),
    sampleStep("chat_prompt/registry/greeting", {
      changes: [sampleChange("messages[0].content", "Be kind.\n```\nand brief.\n", "Be kind.\n````\nand thorough.\n")],
    }),
    { ...drifted, identity: "service/prod-eu:support/both", causedBy: "mixed", risks: ["reverts"] },
    sampleStep("service/prod-eu:support/broken", { action: "block", reason: "refused", file: "new.yaml", line: 11 }),
    sampleStep("service/prod-us:web/shop", {
      causedBy: "pending",
      changes: [sampleChange("replicas", 1, 2, "pending")],
    }),
    { ...drifted, causedBy: "drift", risks: ["reverts"] },
    sampleStep("team/gone", { action: "orphan", file: null, line: null, causedBy: null }),
  ],
  {
    diagnostics: [
      {
        severity: "warning",
        code: "behind",
        summary: "the branch is behind main",
        detail: null,
        file: null,
        line: null,
        column: null,
      },
    ],
  },
);

const registryOnly = [
  { kind: "chat_prompt", count: 12, identities: ["chat_prompt/registry/fare`well@1", "chat_prompt/registry/<b>@2"] },
  { kind: "model-version", count: null, identities: [] },
];

const plans: { readonly [name: string]: Plan } = {
  review,
  "nothing to do": samplePlan([]),
  "without a record": samplePlan([
    sampleStep("service/prod-eu:support/a", { changes: [sampleChange("replicas", 1, 2)] }),
    sampleStep("service/prod-eu:support/b", {
      causedBy: "unrecorded",
      changes: [sampleChange("replicas", 3, 1, "unrecorded")],
    }),
  ]),
  "with gates": samplePlan(
    [
      sampleStep("chat_prompt/registry/greeting", {
        ...{ action: "block", reason: "gate", file: "prompts/greeting.yaml", line: 3 },
        gates: [
          answer("url https://evaluation.example.com/a", "pass", "good"),
          answer("job job/c1:ws/check", "fail", "run `7` | failed\n@ada"),
        ],
      }),
      sampleStep("model-version/ranking/main", {
        gates: [answer("metric accuracy at least 0.9", "pass", "accuracy is 0.95")],
        changes: [sampleChange("description", "old", "new")],
      }),
    ],
    { registryOnly },
  ),
  incomplete: samplePlan([], {
    ...{ complete: false, revision: null },
    notWritable: [{ role: "workspace-editor on workspace dev:web", identities: ["service/dev:web/a"] }],
    hardware: {
      total: { replicas: 0, cpu: 0, memory: 0, storage: 0, devices: [] },
      workspaces: [
        {
          workspace: "dev:ml",
          difference: {
            ...{ replicas: 2, cpu: 0.5, memory: 128_000, storage: 0 },
            devices: [
              { name: "A100_80GB", count: 4 },
              { name: "T4|<b>", count: -1 },
            ],
          },
        },
        { workspace: "dev:web", difference: { replicas: -1, cpu: 0, memory: 0, storage: 0, devices: [] } },
      ],
    },
    interrupted: [
      { identity: "team/ml", found: "unknown", next: "report", token: null, arrivesUntil: "2026-11-22T11:56:00Z" },
      { identity: "team/web", found: "made", next: "record", token: null, arrivesUntil: null },
    ],
  }),
};

const drift: DriftReport = {
  registryOnly,
  format_version: "2.2",
  server: "https://control.example.com",
  complete: true,
  summary: { drifted: 1, unrecorded: 0, absent: 1, unchanged: 30, unknown: 0, orphan: 0, invalid: 0 },
  drift: [
    {
      ...place("service/prod-eu:support/assistant"),
      state: "drifted",
      changes: [sampleChange("replicas", 2, 5, "drift")],
      changedBy: ada,
    },
    { ...place("team/ml"), state: "absent", changes: [] },
  ],
  diagnostics: [],
};

function answer(name: string, verdict: "pass" | "fail", summary: string) {
  return { name, gate: "sha256:0", place: { file: "targets.yaml", line: 12 }, verdict, score: null, summary };
}

function place(identity: string) {
  const { kind, file, line } = sampleStep(identity);
  return { identity, kind, file, line };
}

test.each(Object.keys(plans))("the plan “%s” is the Markdown that is written down", async (name) => {
  const plan = plans[name] ?? review;
  await expect(planMarkdown(plan, view)).toMatchFileSnapshot(golden(name));
});

test("a drift report is the Markdown that is written down", async () => {
  await expect(driftMarkdown(drift, { ...view, target: "prod" })).toMatchFileSnapshot(golden("drift"));
});

function golden(name: string): string {
  return join(import.meta.dirname, "golden", `${name.replaceAll(" ", "-")}.md`);
}
