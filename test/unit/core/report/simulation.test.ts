import { expect, test } from "vitest";
import type { Json } from "../../../../src/contract/json.ts";
import { PSEUDONYM_PREFIX } from "../../../../src/core/redact/pseudonymise-manifest.ts";
import type { Outcome } from "../../../../src/core/report/report.ts";
import { makeSimulation, UNKNOWN_TO_SIMULATION } from "../../../../src/core/report/simulation.ts";
import { kindsByType } from "../../../../src/kinds/index.ts";
import { sampleApplyEvent } from "../../../support/sample-apply-event.ts";
import { sampleChange, sampleStep } from "../../../support/sample-plan.ts";

const outcome = (identity: string, result: Outcome["result"], fields: Partial<Outcome> = {}): Partial<Outcome> => {
  return { identity, result, rollout: null, ...fields };
};
const updated = (...identities: readonly string[]) => identities.map((identity) => outcome(identity, "updated"));
const simulated = (change: Partial<Parameters<typeof makeSimulation>[0]["change"]>, ...reverted: readonly string[]) => {
  const phases = { base: sampleApplyEvent([]), change: { ...sampleApplyEvent([]), ...change } };
  return makeSimulation(
    { ...phases, revert: sampleApplyEvent(updated(...reverted)) },
    { unseen: ["team/x"], kinds: kindsByType },
  );
};

const none = { created: [], updated: [], rollouts: [], refused: [] };

test("a simulation says of each phase what it wrote, rolled out and was refused", () => {
  const { report } = sampleApplyEvent([
    outcome("team/a", "created"),
    outcome("service/c1:ws1/api", "updated", { rollout: "succeeded" }),
    outcome("team/b", "unchanged"),
    outcome("team/c", "blocked", { error: { code: "guard", message: "a guard" } }),
    outcome("team/d", "failed"),
    outcome("team/e", "skipped"),
    outcome("team/f", "unknown"),
    outcome("team/g", "invalid"),
  ]);
  expect(simulated({ report })).toEqual({
    ...{ format_version: "2.2", simulation: true, base: none, revert: none },
    change: {
      ...{ created: ["team/a"], updated: ["service/c1:ws1/api"], rollouts: ["service/c1:ws1/api"] },
      refused: [
        { identity: "team/c", why: "a guard" },
        { identity: "team/d", why: "failed" },
        { identity: "team/e", why: "skipped" },
        { identity: "team/f", why: "unknown" },
      ],
    },
    stays: [
      { identity: "team/a", what: "resource" },
      { identity: "service/c1:ws1/api", what: "update" },
    ],
    ...{ notComparable: [], unknown: UNKNOWN_TO_SIMULATION, unseen: ["team/x"], diagnostics: [] },
  });
});

test("what stays after a revert is what it does not write back, the versions of what it does, and tokens", () => {
  const { report } = sampleApplyEvent(updated("team/a", "team/b", "service/c1:ws1/api", "chat_prompt/r/p", "x/y"));
  const token = { identity: "virtual-account/ci", location: "file" };
  const back = ["team/b", "service/c1:ws1/api", "chat_prompt/r/p", "x/y"];
  expect(simulated({ report, tokens: [token, token] }, ...back).stays).toEqual([
    { identity: "team/a", what: "update" },
    { identity: "service/c1:ws1/api", what: "versions" },
    { identity: "chat_prompt/r/p", what: "versions" },
    { identity: "virtual-account/ci", what: "token" },
  ]);
});

test("what changes a text that the snapshot holds a digest of cannot be compared", () => {
  const step = (identity: string, before: Json) =>
    sampleStep(identity, { changes: [sampleChange("a", 1, `${PSEUDONYM_PREFIX}1`), sampleChange("b", before, 2)] });
  const steps = [
    step("team/a", `${PSEUDONYM_PREFIX}0`),
    step("team/b", "plain"),
    step("team/c", { d: [`${PSEUDONYM_PREFIX}0`] }),
  ];
  const { plan } = sampleApplyEvent([], steps);
  expect(simulated({ plan }).notComparable).toEqual(["team/a", "team/c"]);
});
