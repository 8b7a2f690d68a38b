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
  ["one name twice", [target("a", [], "x"), target("b", ["a"], "x")], "two stages are called x"],
])("a configuration with %s", (_, targets, expected) => {
  expect(fault(...targets)).toBe(expected);
});

test("where targets come and go, a pattern may match none", () => {
  expect(orderFault([target("a", ["x*"])], { mayMatchNone: true })).toBeNull();
});
