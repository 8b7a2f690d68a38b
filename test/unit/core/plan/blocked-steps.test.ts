import { expect, test } from "vitest";
import type { Decision } from "../../../../src/core/decide/decision.ts";
import { type BlockedStep, blockDiagnostics, blockedSteps } from "../../../../src/core/plan/blocked-steps.ts";
import { reasonText } from "../../../../src/core/plan/plan.ts";
import { declare, service } from "../given.ts";

const identity = "service/c1:ws1/api";
const position = { file: "api.yaml", line: 3, column: 5 };
const manifest = declare(service({ env: { DB: "secret://t:db:password", A: "1" } }));

/** The step that such a decision blocks. */
function blockedBy(decision: Partial<Decision>, others: readonly string[] = []) {
  const block = { action: "block", reason: null, detail: null, pointer: null } as unknown as Decision;
  const decisions = new Map([...others, identity].map((one) => [one, { ...block, ...decision }]));
  return blockedSteps([{ manifest, position }], decisions);
}

const refusedSecret = { reason: "refused", detail: "/env/DB: no such secret", pointer: "/env/DB" } as const;

test.each<[Partial<Decision>, Pick<BlockedStep, "message" | "needs">]>([
  [{ reason: "read-only" }, { message: null, needs: null }],
  [
    { reason: "dependency", detail: "team/ml" },
    { message: null, needs: "team/ml" },
  ],
  [
    { reason: "reference-absent", detail: "team/ml" },
    { message: null, needs: "team/ml" },
  ],
  [
    { reason: "refused", detail: "no" },
    { message: "no", needs: null },
  ],
  [
    { reason: "refused", pointer: "/env/DB" },
    { message: null, needs: null },
  ],
  [
    { reason: "refused", detail: "/env/A: no", pointer: "/env/A" },
    { message: "no", needs: null },
  ],
  [refusedSecret, { message: "no such secret", needs: "secret t:db:password" }],
  [
    { ...refusedSecret, reason: "guard" },
    { message: refusedSecret.detail, needs: null },
  ],
  [
    { ...refusedSecret, reason: "gate" },
    { message: refusedSecret.detail, needs: null },
  ],
  [
    { ...refusedSecret, reason: "policy" },
    { message: refusedSecret.detail, needs: null },
  ],
  [
    { reason: "held", detail: "until Monday" },
    { message: "until Monday", needs: null },
  ],
])("a step that is blocked by %j says so without the field, and what it waits for", (decision, cause) => {
  const { reason, detail = null } = decision;
  expect(blockedBy(decision)).toEqual([{ identity, kind: "service", reason, detail, ...cause, ...position }]);
});

test("a step that waits for one on hold needs that one", () => {
  const waiting = { reason: "held", detail: "team/ml" } as const;
  expect(blockedBy(waiting, ["team/ml"])).toMatchObject([{ message: null, needs: "team/ml" }]);
  expect(blockedBy(waiting)).toMatchObject([{ message: "team/ml", needs: null }]);
  expect(blockedBy({ reason: "refused", detail: "team/ml" }, ["team/ml"])).toMatchObject([{ needs: null }]);
});

test("what is not blocked, or without a reason, is none", () => {
  expect(blockedBy({ action: "update", reason: "refused" })).toEqual([]);
  expect(blockedBy({})).toEqual([]);
  expect(blockedSteps([{ manifest, position }], new Map())).toEqual([]);
});

test("there is one diagnostic for each cause, at the step that has it or else at the first that waits for it", () => {
  const step = (name: string, fields: Partial<BlockedStep> = {}): BlockedStep => ({
    ...{ identity: name, kind: "team", reason: "dependency", detail: fields.needs ?? null, message: null, needs: null },
    ...{ file: `${name}.yaml`, line: 1, column: 1, ...fields },
  });
  const forbidden = { reason: "forbidden", detail: "workspace-viewer" } as const;
  const place = (name: string) => ({ file: `${name}.yaml`, line: 1, column: 1 });
  const warning = (
    name: string,
    code: "dependency" | "forbidden" | "read-only",
    more: string,
    detail: string | null,
  ) => ({
    ...{ severity: "warning", code, summary: `${name} is blocked${more}: ${reasonText[code]}`, detail, ...place(name) },
  });
  const steps = [
    step("c", { needs: "b" }),
    step("b", { needs: "a" }),
    step("a", { reason: "read-only" }),
    step("d", { needs: "elsewhere" }),
    step("e", { needs: "elsewhere" }),
    step("f", forbidden),
    step("g", forbidden),
    step("h", { reason: "forbidden" }),
    step("i", { reason: "read-only", detail: "workspace-viewer" }),
  ];
  expect(blockDiagnostics(steps)).toEqual([
    { ...warning("a", "read-only", ", and 2 more for the same cause", null), related: [place("c"), place("b")] },
    { ...warning("d", "dependency", ", and 1 more for the same cause", "elsewhere"), related: [place("e")] },
    { ...warning("f", "forbidden", ", and 1 more for the same cause", "workspace-viewer"), related: [place("g")] },
    warning("h", "forbidden", "", null),
    warning("i", "read-only", "", "workspace-viewer"),
  ]);
});
