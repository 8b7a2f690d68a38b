import { expect, test } from "vitest";
import { createResourceStates } from "../../../../src/daemon/http/resource-states.ts";
import { sampleApplyEvent } from "../../../support/sample-apply-event.ts";

test("a pass over a part of the source leaves what it did not look at as it was", () => {
  const states = createResourceStates();
  const { emit } = states.observe("prod");
  const seen = (): readonly string[] =>
    states.of("prod").map(({ identity, state, rollout }) => `${identity} ${state} ${rollout}`);
  const outcome = (identity: string, result: "created" | "failed" | "unchanged" | "updated") =>
    ({ identity, result, rollout: null, error: null }) as const;
  emit(sampleApplyEvent([outcome("a", "failed"), outcome("b", "unchanged")]));
  emit({ ...sampleApplyEvent([outcome("b", "updated"), outcome("c", "created")]), isPart: true });
  expect(seen()).toEqual(["a failed null", "b updated null", "c created null"]);
  emit({ what: "rolled-out", identity: "c", rollout: "failed" });
  expect(seen()).toEqual(["a failed null", "c created failed", "b updated null"]);
  emit(sampleApplyEvent([outcome("a", "unchanged"), outcome("b", "unchanged")]));
  expect(seen()).toEqual(["a unchanged null", "b unchanged null"]);
});

test("invalid manifests come first in every pass, and go with the pass that finds them corrected", () => {
  const states = createResourceStates();
  const { emit } = states.observe("prod");
  const seen = (): readonly string[] =>
    states.of("prod").map(({ identity, state, why }) => `${identity} ${state} ${why}`);
  const well = (identity: string) => ({ identity, result: "unchanged", rollout: null, error: null }) as const;
  const error = { code: "syntax", message: "no YAML" };
  const invalid = (identity: string) =>
    ({ identity, result: "invalid", file: "a.yaml", line: 7, rollout: null, error }) as const;
  emit(sampleApplyEvent([well("a"), well("b")]));
  emit({ ...sampleApplyEvent([invalid("b"), invalid("")]), isPart: true });
  expect(seen()).toEqual(["b invalid a.yaml:7: no YAML", "a.yaml:7 invalid a.yaml:7: no YAML", "a unchanged null"]);
  emit({ ...sampleApplyEvent([well("b")]), isPart: true });
  expect(seen()).toEqual(["a unchanged null", "b unchanged null"]);
});
