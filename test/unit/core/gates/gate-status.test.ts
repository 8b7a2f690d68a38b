import { expect, test } from "vitest";
import { type ContentGate, type GateReceipt, gateText } from "../../../../src/core/gates/content-gate.ts";
import { gateStatus, receiptsOf } from "../../../../src/core/gates/gate-status.ts";
import { requireKind } from "../../../../src/core/kind.ts";
import { jsonDigest } from "../../../../src/core/plan/sign-plan.ts";
import { kindsByType } from "../../../../src/kinds/index.ts";

const gate: ContentGate = {
  is: "run",
  job: "job/c1:w/check",
  from: null,
  match: null,
  place: { file: "targets.yaml", line: 7 },
};
const receipt = (more: Partial<GateReceipt>): GateReceipt => ({
  ...{ identity: "chat_prompt/r/p", content: "c1", gate: jsonDigest(gateText(gate)), name: "job job/c1:w/check" },
  ...{ verdict: "pass", score: null, summary: "fine", at: "2026-11-28T12:00:00.000Z" },
  ...more,
});
const red = receipt({ verdict: "fail", summary: "3 of 12", at: "2026-11-28T13:00:00.000Z" });

test("the last answer about a resource counts, whatever its content", () => {
  const other = receipt({ identity: "chat_prompt/r/other", verdict: "unanswered" });
  const status = gateStatus([gate], [red, receipt({ content: "c2" }), other]);
  expect(status).toMatchObject({ passed: 0, failed: 1, unanswered: 1 });
  expect(status.closed.map(({ identity }) => identity)).toEqual(["chat_prompt/r/p", "chat_prompt/r/other"]);
});

test("the newest answer is named first, whatever the order in which they were recorded", () => {
  const at = (identity: string, time: string, more: Partial<GateReceipt> = {}) =>
    receipt({ identity, verdict: "fail", at: `2026-11-28T${time}:00.000Z`, ...more });
  const given = [at("chat_prompt/r/b", "15:00"), at("chat_prompt/r/a", "14:00"), at("chat_prompt/r/c", "16:00")];
  const late = [at("chat_prompt/r/a", "13:00", { verdict: "pass" }), ...given, at("chat_prompt/r/c", "12:00")];
  const { failed, passed, closed } = gateStatus([gate], late);
  expect([failed, passed]).toEqual([3, 0]);
  expect(closed).toEqual(
    ["c", "b", "a"].map((name, index) => ({
      ...{ identity: `chat_prompt/r/${name}`, name: "job job/c1:w/check", verdict: "fail", score: null },
      ...{ summary: "fine", at: `2026-11-28T${16 - index}:00:00.000Z`, place: gate.place },
    })),
  );
});

test("a resource that has passed is counted, and not named among those that have not", () => {
  const passed = receipt({ identity: "chat_prompt/r/other" });
  expect(gateStatus([gate], [red, passed])).toMatchObject({
    passed: 1,
    failed: 1,
    closed: [{ identity: red.identity }],
  });
  expect(gateStatus([gate], [red, passed]).closed).toHaveLength(1);
});

test("a gate that stands in another line is the same gate, and is named there", () => {
  const place = { file: "targets.yaml", line: 8 };
  expect(gateStatus([{ ...gate, place }], [red])).toMatchObject({ failed: 1, closed: [{ place }] });
});

test("answers to a gate that is defined otherwise do not count", () => {
  expect(gateStatus([{ ...gate, from: "staging" }], [red])).toMatchObject({ passed: 0, failed: 0, closed: [] });
});

test("no more than ten that are not green are named, and all are counted", () => {
  const many = Array.from({ length: 25 }, (_, at) => ({ ...red, identity: `chat_prompt/r/p${at}` }));
  const { failed, closed } = gateStatus([gate], many);
  expect([failed, closed.length]).toEqual([25, 10]);
});

test("a receipt explains exactly its content", () => {
  const kind = requireKind(kindsByType, "chat_prompt");
  const about = (content: string) => receiptsOf({ identity: "chat_prompt/r/p", kind, content }, [gate], [red]);
  const { place } = gate;
  const name = "job job/c1:w/check";
  expect(about("c1")).toEqual([{ name, place, verdict: "fail", score: null, summary: "3 of 12", at: red.at }]);
  const later = receipt({ at: "2026-11-28T14:00:00.000Z" });
  const others = [later, receipt({ identity: "chat_prompt/r/q" }), receipt({ gate: "other" })];
  expect(receiptsOf({ identity: "chat_prompt/r/p", kind, content: "c1" }, [gate], [red, ...others])).toMatchObject([
    { verdict: "pass", at: later.at },
  ]);
  expect(about("c2")).toEqual([
    { name: "job job/c1:w/check", place, verdict: null, score: null, summary: null, at: null },
  ]);
  const service = requireKind(kindsByType, "service");
  expect(receiptsOf({ identity: "service/c:w/s", kind: service, content: "c1" }, [gate], [red])).toEqual([]);
});
