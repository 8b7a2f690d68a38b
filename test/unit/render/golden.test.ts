import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { Json } from "../../../src/contract/json.ts";
import { textDiff } from "../../../src/core/diff/text-diff.ts";
import { groupOf } from "../../../src/core/kind.ts";
import { splitIdentity } from "../../../src/core/manifest.ts";
import type { BlockedStep } from "../../../src/core/plan/blocked-steps.ts";
import { type Change, type Plan, type Step, summarise } from "../../../src/core/plan/plan.ts";
import {
  type ApplyReport,
  type DriftReport,
  type Outcome,
  summariseOutcomes,
} from "../../../src/core/report/report.ts";
import { kindsByType } from "../../../src/kinds/index.ts";
import { applyText } from "../../../src/render/apply.ts";
import { driftText } from "../../../src/render/drift.ts";
import { coloured, type Paint, plain } from "../../../src/render/paint.ts";
import { planText } from "../../../src/render/plan.ts";
import { columnsOf } from "../../../src/render/text-width.ts";

const NOW = Date.UTC(2026, 10, 22, 12);

function change(label: string, before: Json, after: Json, cause: Change["cause"] = "manifest"): Change {
  return { path: `/${label.replaceAll(".", "/")}`, label, before, after, cause, diff: textDiff(before, after) };
}

function step(identity: string, fields: Partial<Step> = {}): Step {
  const { kind } = splitIdentity(identity);
  const place = { file: `${kind}s/platform.yaml`, line: 12, wave: 1 };
  return {
    action: "update",
    kind,
    identity,
    ...place,
    changes: [],
    patch: [],
    reason: null,
    risks: [],
    causedBy: null,
    ...fields,
  };
}

function planOf(steps: readonly Step[], kept = 31): Plan {
  const keep = Array.from({ length: kept }, (_, at) => step(`team/t${at}`, { action: "keep" }));
  const all = [...steps, ...keep];
  const moved = (cause: Change["cause"]) =>
    steps.filter(({ changes }) => changes.some((one) => one.cause === cause)).length;
  return {
    format_version: "2.2",
    revision: "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d",
    server: "https://control.example.com",
    complete: true,
    summary: summarise(all, moved("drift")),
    steps: all,
    diagnostics: [],
    checksum: "sha256:0",
  };
}

const image = (name: string, tag: string) => `registry.example.com/platform/${name}:${tag}`;
const ada = { subject: "user:ada@example.com", subjectId: "ada", at: new Date(NOW - 4 * 60_000).toISOString() };
const prompt = (line: string) =>
  Array.from({ length: 400 }, (_, at) => (at === 200 ? line : `Rule ${at}: stay on topic.`)).join("\n");
const content = {
  type: "service",
  name: "summarizer",
  workspace_fqn: "prod-eu:support",
  image: { type: "image", image_uri: image("summarizer", "1.0.0") },
  replicas: 1,
  ports: [{ port: 8080 }],
  env: { LOG_LEVEL: "info", API_TOKEN: "(sensitive)" },
};
const create = step("service/prod-eu:support/summarizer", {
  action: "create",
  changes: [{ path: "", label: "", before: null, after: content, cause: "manifest", diff: null }],
});
const risky = (risk: Step["risks"][number], changes: readonly Change[]) =>
  step(`service/prod-eu:support/${risk}`, {
    risks: [risk],
    changes,
    ...(risk === "reverts" ? { changedBy: ada } : {}),
  });

const blockedStep = (identity: string, reason: NonNullable<Step["reason"]>) =>
  step(identity, { action: "block", reason, notChecked: { reason: "unproven" } });

function blockedBy({ action, identity, kind, reason }: Step): readonly BlockedStep[] {
  if (action !== "block" || reason === null) return [];
  const secret = "secret tenant:search:db-password";
  const at = { identity, kind, reason, file: "new.yaml", line: 14, column: 16 };
  if (reason === "dependency") return [{ ...at, detail: null, message: null, needs: "workspace/prod-us:ads" }];
  if (reason !== "refused") return [{ ...at, detail: null, message: null, needs: null }];
  return identity.endsWith("/broken")
    ? [{ ...at, detail: null, message: "a request is above its limit", needs: null }]
    : [{ ...at, detail: null, message: `the ${secret} does not exist`, needs: secret }];
}

const plans: { readonly [name: string]: Plan } = {
  "nothing to do": planOf([]),
  "one change": planOf([
    step("service/prod-eu:support/assistant", {
      risks: ["reverts"],
      changedBy: ada,
      changes: [
        change("replicas", 5, 2, "drift"),
        change("image.image_uri", image("assistant", "5.0.1"), image("assistant", "5.1.0")),
      ],
    }),
  ]),
  "sixty equal changes": planOf(
    Array.from({ length: 60 }, (_, at) =>
      step(`service/prod-eu:ws${at % 7}/service-${at}`, {
        changes: [change("image.image_uri", image(`service-${at}`, "5.0.1"), image(`service-${at}`, "5.1.0"))],
      }),
    ),
  ),
  "one changed line in a prompt of 400": planOf([
    step("chat_prompt/registry/greeting", {
      changes: [change("messages[0].content", prompt("Be kind and brief."), prompt("Be kind and thorough."))],
    }),
  ]),
  "a create": planOf([create]),
  "blocked steps": planOf([
    create,
    blockedStep("service/prod-eu:support/broken", "refused"),
    ...["api", "gateway", "worker"].map((name) => blockedStep(`service/prod-eu:search/${name}`, "refused")),
    blockedStep("workspace/prod-us:ads", "read-only"),
    ...["api", "ui"].map((name) => blockedStep(`service/prod-us:ads/${name}`, "dependency")),
    step("team/ml", {
      risks: ["privilege-growth"],
      changes: [change("members[eve@example.com]", null, "eve@example.com")],
    }),
  ]),
  "every risk mark": planOf([
    step("team/unharmed", { changes: [change("tags[a]", null, "a")] }),
    risky("scale-to-zero", [change("replicas", 2, 0)]),
    risky("exposure", [change("ports[8080:TCP].expose", false, true)]),
    risky("secret-removed", [change("env.KEY", "secret://tenant:group:key", null)]),
    risky("adopts", [change("replicas", 1, 2, "unrecorded")]),
    risky("reverts", [change("replicas", 5, 2, "drift")]),
    step("team/ml", {
      risks: ["privilege-growth"],
      changes: [change("members[eve@example.com]", null, "eve@example.com")],
    }),
    step("chat_prompt/registry/greeting@1", { action: "block", reason: "immutable", risks: ["version-immutable"] }),
  ]),
  "long and hostile values": planOf([
    step(`service/prod-eu:support/${"long-name-".repeat(12)}`, {
      file: `${"folder/".repeat(20)}service.yaml`,
      changes: [
        change("env.GREETING", `\u001b[31m${"x".repeat(300)}`, `\u202e${"x".repeat(300)}y`),
        change("description", "::error::a\nb `c`\n", "::error::a\n\u001b]0;title\u0007\n"),
        change(`labels["${"k".repeat(90)}"]`, "漢字".repeat(40), "漢字".repeat(41)),
        change("image.image_uri", `${"a".repeat(2 ** 20)}b`, `${"a".repeat(2 ** 20)}c`),
      ],
    }),
  ]),
};

const driftReport: DriftReport = {
  format_version: "2.2",
  server: "https://control.example.com",
  complete: true,
  summary: { drifted: 1, unrecorded: 0, absent: 1, unchanged: 30, unknown: 0, orphan: 0, invalid: 0 },
  drift: [
    {
      identity: "service/prod-eu:support/assistant",
      kind: "service",
      file: "services.yaml",
      line: 1,
      state: "drifted",
      changes: [change("replicas", 2, 5, "drift")],
      changedBy: ada,
    },
    { identity: "team/ml", kind: "team", file: "teams.yaml", line: 9, state: "absent", changes: [] },
  ],
  diagnostics: [],
};

const failure = (code: string, message: string, more: object = {}) => ({ code, message, ...more });
const made = (identity: string, fields: Partial<Outcome> = {}): Outcome => {
  const { kind } = splitIdentity(identity);
  return {
    identity,
    kind,
    result: "updated",
    file: `${kind}s.yaml`,
    rollout: null,
    error: null,
    attempts: 1,
    ...fields,
  };
};
const failedSteps = [
  create,
  step("service/prod-eu:support/assistant", {
    changes: [
      change("replicas", 5, 2, "drift"),
      change("image.image_uri", image("assistant", "5.0.1"), image("assistant", "5.1.0")),
    ],
  }),
  step("chat_prompt/registry/greeting", {
    changes: [
      change("messages[0].content", prompt("Be kind and brief."), prompt("Be kind and thorough.")),
      change("model_configuration.parameters.temperature", 0.25, 0.75),
      change("tags[support]", null, "support"),
    ],
  }),
];
const outcomes: readonly Outcome[] = [
  made("team/ml", {
    result: "failed",
    error: failure("refused", "members[0]: there is no user eve@example.com", { status: 422, pointer: "/members/0" }),
  }),
  made("service/prod-eu:support/summarizer", { result: "created", rollout: "succeeded" }),
  made("service/prod-eu:support/assistant", { rollout: "succeeded" }),
  made("chat_prompt/registry/greeting"),
  made("service/prod-eu:support/inbox", { rollout: "failed" }),
  made("workspace/prod-eu:late", {
    result: "blocked",
    error: failure("dependency", "something it refers to was not written"),
  }),
  made("virtual-account/ci", {
    result: "unknown",
    error: failure("outcome-unknown", "no reply came, and it cannot be read whether it was written"),
  }),
  ...["a", "b", "c"].map((name) =>
    made(`team/${name}`, {
      result: "skipped",
      error: failure("stopped", "not sent: another step has failed, and --fail-fast ends the apply there"),
    }),
  ),
  made("cluster/prod-eu", { result: "unchanged" }),
];
const applied: ApplyReport = {
  format_version: "2.2",
  revision: null,
  server: "https://control.example.com",
  summary: summariseOutcomes(outcomes),
  outcomes,
  diagnostics: [],
};

type Layout = { readonly paint: Paint; readonly width: number; readonly now: number | null };

function rendered(name: string, layout: Layout): string {
  if (name === "drift with who and when") return driftText(driftReport, layout, null);
  if (name === "a failed apply") {
    const steps = new Map(failedSteps.map((one) => [one.identity, one]));
    return applyText(applied, {
      ...layout,
      rows: 40,
      stepOf: ({ identity }) => steps.get(identity),
      placeOf: ({ error }) => (error?.pointer === undefined ? null : "teams/platform.yaml:14:5"),
      wasShown: () => false,
    });
  }
  const plan = plans[name];
  if (plan === undefined) throw new Error(`no plan ${name}`);
  return planText(plan, {
    ...layout,
    rows: 40,
    groupOf: (one) => groupOf(one, kindsByType),
    showUnchanged: false,
    folds: true,
    ignored: 0,
    next: "holdfast apply",
    ...(name === "one change" ? { branch: "main" } : {}),
    detailOf: () => null,
    blocked: plan.steps.flatMap(blockedBy),
  });
}

const names = [...Object.keys(plans), "drift with who and when", "a failed apply"];

test.each(names.flatMap((name) => [80, 120].map((width) => [name, width] as const)))(
  "%s reads in %i columns as it is written down",
  async (name, width) => {
    const text = rendered(name, { paint: plain, width, now: NOW });
    for (const line of text.split("\n")) expect([line, columnsOf(line) <= width]).toEqual([line, true]);
    const painted = rendered(name, { paint: coloured, width, now: NOW });
    expect(stripVTControlCharacters(painted)).toBe(text);
    const file = join(import.meta.dirname, "golden", `${name.replaceAll(" ", "-")}.${width}`);
    await expect(text).toMatchFileSnapshot(`${file}.txt`);
    await expect(painted.replaceAll("\u001b", "\\e")).toMatchFileSnapshot(`${file}.colour.txt`);
  },
);

test.each(names.flatMap((name) => [40, 50, 60, 70].map((width) => [name, width] as const)))(
  "%s is not wider than %i columns",
  (name, width) => {
    const lines = rendered(name, { paint: coloured, width, now: NOW }).split("\n").map(stripVTControlCharacters);
    expect(lines.filter((line) => columnsOf(line) > width)).toEqual([]);
  },
);

test("times are shown where there is no terminal", () => {
  expect(rendered("one change", { paint: plain, width: 80, now: null })).toContain("2026-11-22T11:56:00.000Z");
});
