import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/contract/json.ts";
import {
  type ContentGate,
  closedGates,
  closedGatesText,
  type GateReceipt,
  gateAnswerText,
  gateName,
  gatesOf,
  gateText,
  judgedBy,
  namedByGate,
} from "../../../../src/core/gates/content-gate.ts";
import { judgeMetric, newestVersion } from "../../../../src/core/gates/judge-metric.ts";
import { judgeReply } from "../../../../src/core/gates/judge-reply.ts";
import { judgeRun } from "../../../../src/core/gates/judge-run.ts";
import { requireKind } from "../../../../src/core/kind.ts";
import { kinds, kindsByType } from "../../../../src/kinds/index.ts";

type MetricGate = Extract<ContentGate, { readonly is: "metric" }>;
const accuracy: MetricGate = {
  is: "metric",
  metric: "accuracy",
  atLeast: 0.9,
  atMost: null,
  from: null,
  match: null,
  place: null,
};
const versionWith = (metrics: Json | undefined) => ({ name: "r/m@3", registeredAt: 1_000, metrics });
const measured = (value: Json, step: Json = 1, timestamp: Json = 1) => ({ key: "accuracy", value, step, timestamp });

describe("a gate over a metric", () => {
  test.each<[string, Json | undefined, string, string]>([
    ["a value that is large enough passes", [measured(0.9)], "pass", "0.9 for r/m@3"],
    ["a smaller one fails", [measured(0.89)], "fail", "0.89 for r/m@3, below 0.9"],
    ["the greatest step counts", [measured(0.95, 1, 9), measured(0.5, 2, 1)], "fail", "0.5 for r/m@3, below 0.9"],
    ["then the newest time", [measured(0.5, 2, 1), measured(0.95, 2, 5)], "pass", "0.95 for r/m@3"],
    [
      "two values of the last step answer nothing",
      [measured(0.95), measured(0.2)],
      "unanswered",
      "r/m@3 has several values of accuracy at its last step",
    ],
    ["equal ones do", [measured(0.95), measured(0.95)], "pass", "0.95 for r/m@3"],
    ["an absent metric answers nothing", [], "unanswered", "r/m@3 has no metric accuracy: it has none"],
    [
      "the others are named",
      [{ key: "loss", value: 1, step: 1, timestamp: 1 }],
      "unanswered",
      "r/m@3 has no metric accuracy: it has loss",
    ],
    [
      "no more than ten of them are, each once",
      [..."lkjihgfedcba", "a"].map((key) => ({ key, value: 1, step: 1, timestamp: 1 })),
      "unanswered",
      "r/m@3 has no metric accuracy: it has a, b, c, d, e, f, g, h, i, j …",
    ],
    [
      "ten are",
      [..."jihgfedcba"].map((key) => ({ key, value: 1, step: 1, timestamp: 1 })),
      "unanswered",
      "r/m@3 has no metric accuracy: it has a, b, c, d, e, f, g, h, i, j",
    ],
    ["what is no metric is none", ["accuracy", { key: 7 }], "unanswered", "r/m@3 has no metric accuracy: it has none"],
    ["null has no metrics", null, "unanswered", "r/m@3 has no metrics"],
    ["a step that is no number is before all", [measured(0.5, "9"), measured(0.95, -1)], "pass", "0.95 for r/m@3"],
    ["the least time is before all", [measured(0.95, 2, 5), measured(0.5, 2, null)], "pass", "0.95 for r/m@3"],
    ["a text is no number", [measured("0.95")], "unanswered", "the metric accuracy of r/m@3 is not a number"],
    ["null is no number", [measured(null)], "unanswered", "the metric accuracy of r/m@3 is not a number"],
    ["NaN is no number", [measured(Number.NaN)], "unanswered", "the metric accuracy of r/m@3 is not a number"],
    [
      "infinity is no number",
      [measured(Number.POSITIVE_INFINITY)],
      "unanswered",
      "the metric accuracy of r/m@3 is not a number",
    ],
    ["a kind without metrics answers nothing", undefined, "unanswered", "r/m@3 has no metrics"],
    ["what is no list answers nothing", { accuracy: 1 }, "unanswered", "the metrics of r/m@3 are not a list"],
  ])("%s", (_, metrics, verdict, summary) => {
    expect(judgeMetric(accuracy, versionWith(metrics))).toMatchObject({ verdict, summary });
  });

  test("has an upper bound too", () => {
    const gate = { ...accuracy, atLeast: null, atMost: 0.1 };
    expect(judgeMetric(gate, versionWith([measured(0.1)])).verdict).toBe("pass");
    expect(judgeMetric(gate, versionWith([measured(-1)])).verdict).toBe("pass");
    expect(judgeMetric(gate, versionWith([measured(0.2)]))).toMatchObject({
      verdict: "fail",
      score: 0.2,
      summary: "0.2 for r/m@3, above 0.1",
    });
  });

  test("judges the version that was registered last", () => {
    const [old, young] = [versionWith([]), { ...versionWith([]), name: "q/m@1", registeredAt: 2_000 }];
    expect(newestVersion([young, old])).toBe(young);
    expect(newestVersion([old, { ...young, registeredAt: Number.NaN }])).toBe(old);
    expect(newestVersion([])).toBeNull();
    const oldest = { ...old, registeredAt: 500 };
    for (const all of [
      [old, young],
      [oldest, young, old],
      [old, oldest, young],
    ])
      expect(newestVersion(all)).toBe(young);
  });
});

describe("a gate over a job", () => {
  const registeredAt = 1_800_000_000_000;
  const version = { name: "r/m@3", registeredAt, metrics: [] };
  const run = (after: number, more: object = {}): Json => ({
    name: `run-${after}`,
    status: "FINISHED",
    exitCode: 0,
    createdAt: registeredAt + after,
    endTime: registeredAt + after + 10,
    ...more,
  });
  test.each<[string, readonly Json[], string, string]>([
    ["a run after the registration passes", [run(5)], "pass", "run run-5 since r/m@3: FINISHED, exit code 0"],
    ["the newest finished one counts", [run(5), run(9, { status: "FAILED", exitCode: 2 })], "fail", "FAILED"],
    [
      "of two of one second each must have succeeded",
      [run(9), run(9, { name: "run-10", status: "FAILED", exitCode: 2 })],
      "fail",
      "run-10",
    ],
    ["one in progress does not", [run(5), run(9, { status: "RUNNING", endTime: null })], "pass", "run-5"],
    ["an earlier one does not", [run(-5)], "unanswered", "no run of job/c:w/check has begun since r/m@3"],
    ["nor one of the same moment", [run(0)], "unanswered", "no run of job/c:w/check has begun since r/m@3"],
    ["none at all answers nothing", [], "unanswered", "no run of job/c:w/check has begun since r/m@3 was registered"],
    ["one without an end answers nothing", [run(5, { endTime: 0 })], "unanswered", "has not ended"],
    ["one that ended before it began", [run(5, { endTime: registeredAt })], "unanswered", "before it began"],
    ["one without a beginning", [run(5, { createdAt: null })], "unanswered", "does not say when it began"],
    ["an unknown status fails", [run(5, { status: "SUPERSEDED" })], "fail", "SUPERSEDED"],
    ["an exit code fails", [run(5, { exitCode: 1 })], "fail", "exit code 1"],
    ["none does not", [run(5, { exitCode: null })], "pass", "run run-5 since r/m@3: FINISHED"],
    ["no status fails", [run(5, { status: null })], "fail", "run run-5 since r/m@3: no status, exit code 0"],
    [
      "the newest one that runs is named",
      [run(5, { endTime: 0 }), run(9, { endTime: 0 })],
      "unanswered",
      "run run-9 of job/c:w/check has not ended",
    ],
    ["one without a name", [run(5, { name: null })], "pass", "run without a name since r/m@3"],
    [
      "how many were before is told",
      [run(-5), run(-9)],
      "unanswered",
      "was registered; the newest of 2 began before that",
    ],
    ["an older one that failed does not count", [run(5, { status: "FAILED" }), run(9)], "pass", "run-9"],
    ["what is no run is none", [7, run(5)], "pass", "run-5"],
    [
      "times in seconds are understood",
      [run(5, { createdAt: registeredAt / 1000 + 60, endTime: registeredAt / 1000 + 70 })],
      "pass",
      "run-5",
    ],
  ])("%s", (_, rows, verdict, summary) => {
    const answer = judgeRun("job/c:w/check", version, rows);
    expect(answer.verdict).toBe(verdict);
    expect(answer.summary).toContain(summary);
  });

  test("answers nothing where the registry does not say when the version was registered", () => {
    const answer = judgeRun("job/c:w/check", { ...version, registeredAt: Number.NaN }, [run(5)]);
    expect(answer).toEqual({
      ...{ verdict: "unanswered", score: null },
      summary: "the registry does not say when r/m@3 was registered",
    });
  });

  test.each<[object, string, string]>([
    [{ exitCode: null }, "pass", "run run-5 since r/m@3: FINISHED"],
    [{ exitCode: "1" }, "pass", "run run-5 since r/m@3: FINISHED"],
    [{ endTime: registeredAt + 5 }, "pass", "run run-5 since r/m@3: FINISHED, exit code 0"],
  ])("judges a run with %j", (more, verdict, summary) => {
    expect(judgeRun("job/c:w/check", version, [run(5, more)])).toEqual({ verdict, score: null, summary });
  });

  test("tells no more where no run has begun at all", () => {
    expect(judgeRun("job/c:w/check", version, []).summary).toBe(
      "no run of job/c:w/check has begun since r/m@3 was registered",
    );
  });
});

describe("a gate over a service", () => {
  const json = "application/json; charset=utf-8";
  test.each<[string, number, string | null, string | null, string, string]>([
    ["passes", 200, json, '{"pass":true,"summary":"12 of 12"}', "pass", "12 of 12"],
    ["fails", 200, json, '{"pass":false,"summary":"3 of 12","score":0.25}', "fail", "3 of 12"],
    ["with another status answers nothing", 201, json, '{"pass":true,"summary":"x"}', "unanswered", "it answered 201"],
    ["that redirects is not followed", 302, json, "", "unanswered", "it redirects (302), which is not followed"],
    ["that answers a page", 200, "text/html", "<p>pass</p>", "unanswered", "its answer is not application/json"],
    ["without a type", 200, null, '{"pass":true,"summary":"x"}', "unanswered", "its answer is not application/json"],
    ["that is too long", 200, json, null, "unanswered", "its answer is longer than 64 KiB"],
    ["that answers no JSON", 200, json, "{", "unanswered", "its answer is not a JSON object"],
    ["that answers a list", 200, json, "[true]", "unanswered", "its answer is not a JSON object"],
    ["whose pass is a text", 200, json, '{"pass":"true","summary":"x"}', "unanswered", "no pass that is true or false"],
    ["without summary", 200, json, '{"pass":true}', "unanswered", "no summary"],
    ["whose score is a text", 200, json, '{"pass":true,"summary":"x","score":"1"}', "unanswered", "score"],
    ["whose answer is whatever is before it", 299, json, "", "unanswered", "it answered 299"],
    ["that redirects in any way", 300, json, "", "unanswered", "it redirects (300), which is not followed"],
    ["that is not found", 400, json, "", "unanswered", "it answered 400"],
    ["of JSON in capitals", 200, "Application/JSON ;a=b", '{"pass":true,"summary":"x"}', "pass", "x"],
    ["of JSON alone", 200, "application/json", '{"pass":true,"summary":"x"}', "pass", "x"],
    ["of another JSON", 200, "application/json-seq", "{}", "unanswered", "its answer is not application/json"],
    [
      "of what only ends like JSON",
      200,
      "x-application/json",
      "{}",
      "unanswered",
      "its answer is not application/json",
    ],
    ["with several lines", 200, json, '{"pass":true,"summary":" a\\n  b "}', "pass", "a b"],
    ["with a long summary", 200, json, `{"pass":true,"summary":"${"x".repeat(500)}"}`, "pass", "x".repeat(500)],
    [
      "with a longer one",
      200,
      json,
      `{"pass":true,"summary":"${"x".repeat(501)}"}`,
      "unanswered",
      "no summary of at most 500",
    ],
    ["with an endless score", 200, json, '{"pass":true,"summary":"x","score":1e999}', "unanswered", "score"],
    ["with another field", 200, json, '{"pass":true,"summary":"x","ok":false}', "unanswered", "fields other than"],
  ])("%s", (_, status, contentType, body, verdict, summary) => {
    const answer = judgeReply({ status, contentType, body });
    expect(answer.verdict).toBe(verdict);
    expect(answer.summary).toContain(summary);
  });

  test("has the score of the answer, and none without it", () => {
    const scored = (body: string) => judgeReply({ status: 200, contentType: json, body });
    expect(scored('{"pass":true,"summary":"x","score":0.5}')).toEqual({ verdict: "pass", score: 0.5, summary: "x" });
    expect(scored('{"pass":true,"summary":"x"}')).toEqual({ verdict: "pass", score: null, summary: "x" });
    expect(scored("{")).toMatchObject({ verdict: "unanswered", score: null });
    expect(scored('{"pass":true,"summary":" two\\n  lines "}').summary).toBe("two lines");
  });
});

describe("gates", () => {
  const kindOf = (type: string) => requireKind(kindsByType, type);

  test.each([
    [null, "model-version/r/m@3", "model-version", true],
    [null, "chat_prompt/r/p", "chat_prompt", true],
    [null, "service/c:w/s", "service", false],
    ["model-version/**", "chat_prompt/r/p", "chat_prompt", false],
    ["model-version/r/m", "model-version/r/m@3", "model-version", true],
    ["model-version/r/m@3", "model-version/r/m@4", "model-version", false],
    ["service/**", "service/c:w/s", "service", false],
  ])("with match %s concern %s: %s is %s", (match, identity, type, isGated) => {
    const gate: ContentGate = { is: "run", job: "job/c1:w/check", from: null, match, place: null };
    expect(gatesOf([gate], identity, kindOf(type)).length > 0).toBe(isGated);
  });

  test("over a metric concern models alone, since prompts have none", () => {
    expect(gatesOf([accuracy], "model-version/r/m", kindOf("model-version"))).toEqual([accuracy]);
    expect(gatesOf([accuracy], "chat_prompt/r/p", kindOf("chat_prompt"))).toEqual([]);
  });

  test.each([
    [null, true],
    ["**", true],
    ["**/ranker", true],
    ["*/r/*", true],
    ["model**", true],
    ["mo**@3", true],
    ["mo**/x/y", true],
    ["model-version/r/m@3", true],
    ["chat_prompt/**", false],
    ["chat**", false],
    ["model-version", false],
    ["*", false],
    ["service/**", false],
  ])("over a metric with match %s can judge something: %s", (match, isAny) => {
    expect(judgedBy({ is: "metric", match }, kinds).isAnyMatched).toBe(isAny);
  });

  test.each<[string | null, readonly string[]]>([
    ["model-version/r/*", ["model-version/r/m@3", "model-version/r/m"]],
    ["**", ["model-version/r/m@3", "model-version/r/m"]],
    ["chat_prompt/**", []],
    ["model-version", []],
  ])("over a metric with match %s are compared with the models that are declared", (match, names) => {
    const declared = ["model-version/r/m@3", "chat_prompt/r/p@1", "service/c:w/s", "nothing/x"];
    expect(namedByGate({ ...accuracy, match: match ?? "" }, declared, (type) => kindsByType.get(type))).toEqual(names);
  });

  test("over a job are compared with models and prompts", () => {
    const gate = { is: "run", job: "job/c1:w/check", from: null, match: "**", place: null } as const;
    expect(namedByGate(gate, ["chat_prompt/r/p@1", "service/c:w/s"], (type) => kindsByType.get(type))).toEqual([
      "chat_prompt/r/p@1",
      "chat_prompt/r/p",
    ]);
    expect(judgedBy({ is: "run", match: null }, kinds).types).toEqual(
      expect.arrayContaining(["chat_prompt", "model-version"]),
    );
    expect(judgedBy({ is: "metric", match: null }, kinds).types).toEqual(["model-version"]);
    expect(judgedBy({ is: "run", match: "chat_prompt/**" }, kinds).isAnyMatched).toBe(true);
  });

  test("are named by what they ask, and where they are configured", () => {
    expect(gateName({ ...accuracy, atMost: 1 })).toBe("metric accuracy at least 0.9 and at most 1");
    expect(gateName({ ...accuracy, atLeast: null, atMost: 0.1 })).toBe("metric accuracy at most 0.1");
    expect(gateName(accuracy)).toBe("metric accuracy at least 0.9");
    expect(gateName({ is: "run", job: "job/c1:w/check", from: null, match: null, place: null })).toBe(
      "job job/c1:w/check",
    );
    const place = { file: "targets.yaml", line: 7 };
    const answer = { name: "job j", summary: "not asked" };
    expect(gateAnswerText({ ...answer, place: null })).toBe("job j: not asked");
    expect(gateAnswerText({ ...answer, place })).toBe("job j (targets.yaml:7): not asked");
  });

  test("that are the same but for where they are configured have one definition", () => {
    const place = { file: "targets.yaml", line: 7 };
    expect(gateText({ ...accuracy, place })).toBe(gateText(accuracy));
    expect(gateText({ ...accuracy, atMost: 1 })).not.toBe(gateText(accuracy));
  });

  test("are named without what may be secret in an address", () => {
    const url = "https://ada:key@example.com/gate?token=t";
    expect(gateName({ is: "url", url, secretFile: "/key", match: null, place: null })).toBe(
      "url https://example.com/gate",
    );
  });

  test("are open only with a receipt that passes, of exactly this content and this definition", () => {
    const gated = { identity: "model-version/r/m", content: "c1", gates: new Map([["g1", accuracy]]) };
    const receipt: GateReceipt = {
      ...{ identity: gated.identity, content: "c1", gate: "g1", name: gateName(accuracy), at: "2026-01-01T00:00:00Z" },
      ...{ verdict: "pass", score: 0.95, summary: "0.95" },
    };
    expect(closedGates(gated, [receipt])).toEqual([]);
    const others: readonly Partial<GateReceipt>[] = [
      { identity: "model-version/r/other" },
      { content: "c2" },
      { gate: "g2" },
      { verdict: "fail" },
      { verdict: "unanswered" },
    ];
    for (const other of others) expect(closedGates(gated, [{ ...receipt, ...other }])).toHaveLength(1);
    // The last word counts.
    expect(closedGates(gated, [receipt, { ...receipt, verdict: "fail", summary: "0.5, below 0.9" }])).toHaveLength(1);
    expect(closedGatesText(closedGates(gated, []))).toBe("metric accuracy at least 0.9: not asked");
    const both = { ...gated, gates: new Map([...gated.gates, ["g2", { ...accuracy, atMost: 1 }] as const]) };
    const failed = { ...receipt, verdict: "fail", summary: "0.5, below 0.9" } as const;
    expect(closedGatesText(closedGates(both, [failed]))).toBe(
      "metric accuracy at least 0.9: 0.5, below 0.9; metric accuracy at least 0.9 and at most 1: not asked",
    );
  });
});
