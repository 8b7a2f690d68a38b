import { describe, expect, test } from "vitest";
import { type GraphNode, requirementsOf, resolveGraph, transitiveDependantsOf } from "../../../src/core/graph.ts";

const node = (identity: string, ...targets: string[]): GraphNode => ({
  identity,
  references: targets.map((target) => ({ identity: target, pointer: "" })),
});

describe("the reference graph", () => {
  test("puts everything after what it refers to and counts waves from 0", () => {
    const graph = resolveGraph([
      node("service", "workspace"),
      node("workspace", "cluster"),
      node("team"),
      node("cluster"),
    ]);
    expect(graph.order).toEqual(["cluster", "team", "workspace", "service"]);
    expect(Object.fromEntries(graph.waves)).toEqual({ cluster: 0, team: 0, workspace: 1, service: 2 });
    expect(graph.cycles).toEqual([]);
  });

  test("is the same whatever the order of its nodes", () => {
    const nodes = [node("a", "b", "c"), node("b", "c"), node("c"), node("d", "a")];
    expect(resolveGraph(nodes)).toEqual(resolveGraph(nodes.toReversed()));
  });

  test("takes references to what is not declared as carrying no order", () => {
    expect(resolveGraph([node("a", "elsewhere")]).order).toEqual(["a"]);
  });

  test("names a shortest path of each cycle and leaves its members out", () => {
    const graph = resolveGraph([
      node("a", "b"),
      node("b", "c", "a"),
      node("c", "a"),
      node("x", "x"),
      node("free"),
      node("after", "a"),
    ]);
    expect(graph.cycles).toEqual([
      ["a", "b", "a"],
      ["x", "x"],
    ]);
    expect([...graph.cyclic].toSorted()).toEqual(["a", "b", "c", "x"]);
    expect(graph.order).toEqual(["after", "free"]);
  });

  test("orders each wave by identity, whatever made its members ready first", () => {
    const graph = resolveGraph([node("a", "z"), node("b", "y", "y"), node("y"), node("z"), node("c", "a", "z")]);
    expect([...graph.waves]).toEqual([
      ["y", 0],
      ["z", 0],
      ["a", 1],
      ["b", 1],
      ["c", 2],
    ]);
  });

  test("tells cycles apart that refer to one another, and orders what refers to them without them", () => {
    const graph = resolveGraph([
      ...[node("a", "b", "c"), node("b", "a"), node("c", "d"), node("d", "c")],
      ...[node("e", "a", "f"), node("f", "e"), node("free"), node("user", "free", "d"), node("last", "user", "e")],
    ]);
    expect(graph).toEqual({
      order: ["free", "user", "last"],
      waves: new Map([
        ["free", 0],
        ["user", 1],
        ["last", 2],
      ]),
      cycles: [
        ["a", "b", "a"],
        ["c", "d", "c"],
        ["e", "f", "e"],
      ],
      cyclic: new Set(["a", "b", "c", "d", "e", "f"]),
    });
  });

  test("names a shortest path through a larger cycle, from its first node by name", () => {
    const graph = resolveGraph([node("d", "a"), node("a", "b", "c"), node("b", "c"), node("c", "d"), node("e", "a")]);
    expect([graph.cycles, graph.order]).toEqual([[["a", "c", "d", "a"]], ["e"]]);
  });

  test("finds what depends on an identity and what it needs, through others", () => {
    const nodes = [node("a", "b"), node("b", "c"), node("c"), node("d")];
    expect([...transitiveDependantsOf(nodes, ["c"])].toSorted()).toEqual(["a", "b"]);
    expect([...requirementsOf(nodes, ["a"])].toSorted()).toEqual(["b", "c"]);
    // What is not declared is no requirement, and what was asked about is not found.
    expect([...requirementsOf([node("a", "b", "x"), node("b", "a")], ["a"])]).toEqual(["b"]);
    const users = [node("a", "x"), node("b", "x"), node("c", "a", "b")];
    expect(transitiveDependantsOf(users, ["x", "b"])).toEqual(new Set(["a", "c"]));
    expect([...requirementsOf(nodes, ["x"])]).toEqual([]);
  });

  test("orders a chain of 100,000 without exhausting the stack", () => {
    const nodes = Array.from({ length: 100_000 }, (_, index) => node(`n${index}`, `n${index - 1}`));
    const graph = resolveGraph(nodes);
    expect(graph.waves.get("n99999")).toBe(99_999);
  });

  test("stays linear on a wide graph", () => {
    const nodes = [node("root"), ...Array.from({ length: 50_000 }, (_, index) => node(`n${index}`, "root"))];
    expect(resolveGraph(nodes).order).toHaveLength(50_001);
  });
});
