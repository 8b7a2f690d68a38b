import { expect, test } from "vitest";
import { createResourceStates } from "../../../../src/daemon/http/resource-states.ts";
import { sampleApplyEvent } from "../../../support/sample-apply-event.ts";

test("a pass over a part of the source leaves what it did not look at as it was", () => {
  const states = createResourceStates();
  const { emit } = states.observe("prod");
  const seen = (): readonly string[] =>
    states.of("prod").statuses.map(({ identity, state, rollout }) => `${identity} ${state} ${rollout}`);
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

test("after a pass of another process that is not made again, nothing is said that an earlier one here has found", () => {
  const states = createResourceStates();
  const { emit } = states.observe("prod");
  emit(sampleApplyEvent([{ identity: "a", result: "created", rollout: null, error: null }]));
  emit({ what: "unchanged", isOwn: true });
  expect(states.of("prod").statuses.map(({ identity }) => identity)).toEqual(["a"]);
  emit({ what: "unchanged", isOwn: false });
  emit({ ...sampleApplyEvent([]), isPart: true });
  expect(states.of("prod").statuses).toEqual([]);
});

test("invalid manifests come first in every pass, and go with the pass that finds them corrected", () => {
  const states = createResourceStates();
  const { emit } = states.observe("prod");
  const seen = (): readonly string[] =>
    states.of("prod").statuses.map(({ identity, state, why }) => `${identity} ${state} ${why}`);
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

test("of targets whose passes were longest ago, only what is not as declared is kept where there is too much", () => {
  const states = createResourceStates(5);
  const outcome = (
    identity: string,
    result: "created" | "failed" | "unchanged",
    rollout: "progressing" | null = null,
  ) => ({ identity, result, rollout, error: null }) as const;
  const seen = (target: string) => {
    const { statuses, isWhole } = states.of(target);
    return { isWhole, seen: statuses.map(({ identity, rollout }) => `${identity} ${rollout}`) };
  };
  const [one, two, three] = ["one", "two", "three"].map((target) => states.observe(target).emit);
  one?.(sampleApplyEvent([outcome("a", "failed"), outcome("b", "unchanged"), outcome("c", "created", "progressing")]));
  two?.(sampleApplyEvent([outcome("d", "unchanged"), outcome("e", "unchanged")]));
  expect(seen("one")).toMatchObject({ isWhole: true, seen: { length: 3 } });
  three?.(sampleApplyEvent([outcome("f", "unchanged")]));
  expect(seen("one")).toEqual({ isWhole: false, seen: ["a null", "c progressing"] });
  expect(seen("two")).toMatchObject({ isWhole: true, seen: { length: 2 } });
  // What is found later of what was left, and of the rest, is shown.
  one?.({ what: "rolled-out", identity: "c", rollout: "failed" });
  one?.({ ...sampleApplyEvent([outcome("b", "failed")]), isPart: true });
  expect(seen("one").seen.toSorted()).toEqual(["a null", "b null", "c failed"]);
  // The last one is whole, however large it is.
  one?.(sampleApplyEvent(Array.from({ length: 9 }, (_, nth) => outcome(`g${nth}`, "unchanged"))));
  expect([seen("one").seen.length, seen("two"), seen("three")]).toEqual([
    9,
    { isWhole: false, seen: [] },
    { isWhole: false, seen: [] },
  ]);
});
