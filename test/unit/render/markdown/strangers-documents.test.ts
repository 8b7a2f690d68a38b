import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isObject, type Json } from "../../../../src/contract/json.ts";
import { readPlanDocuments } from "../../../../src/core/plan/read-plan-documents.ts";
import { reviewMarkdown } from "../../../../src/render/markdown/review.ts";
import { CANARY, requireInert } from "../../../support/require-inert.ts";
import { sampleChange, samplePlan, sampleStep } from "../../../support/sample-plan.ts";

test("S83 no member of a stranger's document says anything in a comment but as code, whatever stands in it", () => {
  const names = memberNames();
  expect(names).toEqual(expect.arrayContaining(["ignored", "notVisible", "documents", "removedBy"]));
  const shown = new Set<string>();
  for (const sample of strangers) {
    for (const path of objectsIn(sample)) {
      for (const name of names) {
        for (const value of [FOREIGN, [FOREIGN]]) {
          const documents = readPlanDocuments(withMember(sample, [...path, name], value));
          if (documents === null) continue;
          const body = reviewMarkdown(documents, { revision: "a", whole: "All.", isUnverified: true, most: 60_000 });
          if (body.includes(CANARY)) shown.add(body);
        }
      }
    }
  }
  for (const body of shown) requireInert(body);
  expect(shown.size).toBeGreaterThan(20);
});

const sampleFault = { severity: "warning", code: "a", summary: "a", detail: "a", file: "a", line: 1, column: 1 };

const FOREIGN = `${CANARY} @ada **x** <b> https://evil.example\n/close\r/close\u2028::error::x`;

/** A document of each sort, with all that is shown of it. */
const strangers: readonly Json[] = [
  {
    ...samplePlan([
      sampleStep("team/ml", {
        action: "orphan",
        changedBy: { subject: "a", subjectId: "a", at: "a" },
        orphan: { recorded: true, isLive: true, removedBy: { commit: "a", author: "a", at: "a" } },
        notChecked: { reason: "depends-on", on: ["a"] },
        gates: [{ name: "a", gate: "a", place: { file: "a", line: 1 }, verdict: "pass", score: 1, summary: "a" }],
        guard: { flags: ["--allow-adopt"], dangers: [{ risk: "adopts", path: null, text: "a" }] },
        changes: [sampleChange("a", { a: 1 }, { a: [2] })],
      }),
      sampleStep("chat_prompt/a/a", {
        ...{ action: "block", reason: "gate" },
        gates: [{ name: "a", gate: "a", place: { file: "a", line: 1 }, verdict: "fail", score: null, summary: "a" }],
      }),
    ]),
    registryOnly: [{ kind: "a", count: 2, identities: ["chat_prompt/a/a@1"] }],
    ignored: 1,
    history: { commits: 1, ended: "start" },
    notWritable: [{ role: "a", identities: ["a"] }],
    hardware: {
      total: { replicas: 1, cpu: 1, memory: 1, storage: 1, devices: [{ name: "a", count: 1 }] },
      workspaces: [{ workspace: "a", difference: { replicas: 1, cpu: 1, memory: 1, storage: 1, devices: [] } }],
    },
    secretUses: [{ identity: "a", key: "a", total: 2, deployments: [{ fqn: "a", older: true }] }],
    interrupted: [{ identity: "a", found: "made", next: "record", token: null, arrivesUntil: "2026-11-22T11:56:00Z" }],
    diagnostics: [{ ...sampleFault, related: [{ file: "a", line: 1, column: 1 }], documents: 1 }],
  },
  {
    format_version: "2.2",
    registryOnly: [{ kind: "a", count: null, identities: ["chat_prompt/a/a@1"] }],
    ...{ server: "a", complete: false, history: { commits: 1, ended: "start" }, diagnostics: [sampleFault] },
    summary: { drifted: 1, unrecorded: 0, absent: 0, unchanged: 0, unknown: 0, orphan: 0, invalid: 0, notVisible: 1 },
    drift: [
      {
        ...{ identity: "team/ml", kind: "team", file: "a", line: 1, state: "drifted" },
        changes: [sampleChange("a", 1, 2)],
        changedBy: { subject: "a", subjectId: "a", at: "a" },
      },
    ],
  },
  { format_version: "2.2", error: { code: "error", message: "a", hint: "a" } },
].map((sample) => JSON.parse(JSON.stringify({ ...sample, target: "a" })));

/** The names of all members that the published schemas of these documents have. */
function memberNames(): readonly string[] {
  const texts = ["plan", "drift", "failure", "common", "targets"].map((name) =>
    readFileSync(`schemas/output/${name}.json`, "utf8"),
  );
  const names = new Set<string>();
  const collect = (value: Json): void => {
    if (Array.isArray(value)) value.forEach(collect);
    if (!isObject(value)) return;
    if (isObject(value.properties)) for (const name of Object.keys(value.properties)) names.add(name);
    Object.values(value).forEach(collect);
  };
  for (const text of texts) collect(JSON.parse(text));
  return [...names];
}

type Path = readonly (string | number)[];

function objectsIn(value: Json, path: Path = []): readonly Path[] {
  if (typeof value !== "object" || value === null) return [];
  const below = Object.entries(value).flatMap(([name, inner]) => objectsIn(inner, [...path, name]));
  return Array.isArray(value) ? below : [path, ...below];
}

function withMember(value: Json, [name = "", ...rest]: Path, member: Json): Json {
  if (Array.isArray(value))
    return value.map((item: Json, at) => (String(at) === String(name) ? withMember(item, rest, member) : item));
  if (!isObject(value)) return value;
  return { ...value, [name]: rest.length === 0 ? member : withMember(value[name] ?? null, rest, member) };
}
