import { expect, test } from "vitest";
import { orderFault, stagesOf } from "../../../../src/core/stages/stages.ts";

const follows = "main of https://git.example.com/platform";
const target = (name: string, after: readonly string[] = [], stage: string | null = null) => ({
  ...{ name, after, stage, follows },
});
const fault = (...targets: readonly ReturnType<typeof target>[]) =>
  orderFault(targets, { mayMatchNone: false })?.why ?? null;

test("a stage is the targets with one `after`, in the order in which commits reach them", () => {
  const stages = stagesOf([
    target("prod-eu", ["staging-*"]),
    target("prod-us", ["staging-*"]),
    target("staging-1", ["dev"], "staging"),
    target("staging-2", ["dev"]),
    target("dev"),
  ]);
  expect(stages.map(({ name, targets, earlier }) => [name, targets, earlier])).toEqual([
    ["first", ["dev"], []],
    ["staging", ["staging-1", "staging-2"], ["dev"]],
    ["after-staging-*", ["prod-eu", "prod-us"], ["staging-1", "staging-2"]],
  ]);
});

test("targets with the same patterns are one stage, which has each match once", () => {
  const [, , prod] = stagesOf(
    [target("a-1"), target("a-2", ["a-1"]), target("p", ["a-*", "a-1", "x"]), target("q", ["x", "a-1", "a-*"], "prod")],
    ["a-1-old", "a-2", "b"],
  );
  expect(prod).toEqual({
    ...{ name: "prod", after: ["a-*", "a-1", "x"], targets: ["p", "q"], earlier: ["a-1", "a-2"] },
    ...{ retired: ["a-1-old", "a-2"], unmatched: ["x"] },
  });
});

test("a stage knows the retired targets that its patterns match", () => {
  const stages = stagesOf([target("staging-1"), target("prod", ["staging-*"])], ["staging-2", "dev"]);
  expect(stages.map(({ earlier, retired }) => [earlier, retired])).toEqual([
    [[], []],
    [["staging-1"], ["staging-2"]],
  ]);
});

test.each([
  ["no order", [target("a"), target("b")], null],
  ["an order", [target("a"), target("b", ["a"]), target("c", ["a", "b"])], null],
  ["no match", [target("a"), target("b", ["x*"])], "`after` of target b has x*, which matches no target"],
  ["itself", [target("a"), target("b", ["*"])], "`after` of target b matches the target itself"],
  [
    "its stage",
    [target("a"), target("b", ["c", "a"]), target("c", ["a", "c"])],
    "`after` of target c matches targets of its own stage: c",
  ],
  ["a cycle", [target("a", ["b"]), target("b", ["a"])], "`after` makes a cycle: a comes after b, which comes after it"],
  [
    "two names",
    [target("a"), target("b", ["a"], "x"), target("c", ["a"], "y")],
    "the targets with the `after` of target c have two stage names: x and y",
  ],
  [
    "another branch",
    [{ ...target("a"), follows: "next of https://git.example.com/platform" }, target("b", ["a"])],
    "target b comes after a, which follows next of https://git.example.com/platform and not main of https://git.example.com/platform",
  ],
  [
    "a longer cycle behind what is in order",
    [target("a"), target("b", ["a", "d"]), target("c", ["b"]), target("d", ["c"])],
    "`after` makes a cycle: b comes after d, which comes after it",
  ],
  ["names for some of its stages", [target("a", [], "x"), target("b"), target("c", ["a"], "y")], null],
  ["the same order in other words", [target("a"), target("b"), target("c", ["a", "b"]), target("d", ["b", "a"])], null],
  ["one name twice", [target("a", [], "x"), target("b", ["a"], "x")], "two stages are called x"],
])("a configuration with %s", (_, targets, expected) => {
  expect(fault(...targets)).toBe(expected);
});

test.each([
  [[target("a"), target("b", ["x*"])], "b", "correct it"],
  [[target("a"), target("b", ["*"])], "b", "name only targets that come before it"],
  [[target("a", ["b"]), target("b", ["a"])], "a", "break it"],
  [[target("a"), target("b", ["a"], "x"), target("c", ["a"], "y")], "c", "give them one"],
  [[target("a", [], "x"), target("b", ["a"], "x")], "b", "rename one of them with `stage`"],
  [
    [{ ...target("a"), follows: "other" }, target("b", ["a"])],
    "b",
    "let both follow one ref of one repository, or correct `after`",
  ],
])("a fault names a target, and what to do: %#", (targets, name, hint) => {
  expect(orderFault(targets, { mayMatchNone: false })).toMatchObject({ target: name, hint });
});

test("a stage without a name is called after what is before it, and one of a cycle comes last", () => {
  const stages = stagesOf([target("x", ["y"]), target("y", ["x"]), target("b", ["a", "a*", "none"]), target("a")]);
  expect(stages.map(({ name, earlier, unmatched }) => [name, earlier, unmatched])).toEqual([
    ["first", [], []],
    ["after-a-a*-none", ["a"], ["none"]],
    ["after-y", ["y"], []],
    ["after-x", ["x"], []],
  ]);
});

test("where targets come and go, a pattern may match none", () => {
  expect(orderFault([target("a", ["x*"])], { mayMatchNone: true })).toBeNull();
});
