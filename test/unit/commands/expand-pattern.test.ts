import { describe, expect, test } from "vitest";
import { expandPattern, patternFault, type TargetEntry } from "../../../src/commands/targets/expand-pattern.ts";
import { type ExpandOptions, expandTargets } from "../../../src/commands/targets/expand-targets.ts";
import { patternKey } from "../../../src/commands/targets/expansion-record.ts";
import type { PatternItem } from "../../../src/source/read-pattern.ts";

const folder = (path: string): PatternItem => ({
  values: { dir: path.slice(path.lastIndexOf("/") + 1) },
  folder: path,
  file: path,
  line: null,
  column: null,
});

const listed = (values: PatternItem["values"], line = 1): PatternItem => ({
  values,
  folder: null,
  file: "environments.yaml",
  line,
  column: 3,
});

const clusters: TargetEntry = {
  name: "c-{dir}",
  each: "clusters/*",
  server: "{dir}",
  paths: ["clusters/{dir}", "shared"],
};

const summaries = (entry: TargetEntry, items: readonly PatternItem[]) =>
  expandPattern(entry, items).diagnostics.map(({ summary }) => summary);

describe("a pattern", () => {
  test("stands for one target for each item, with its values in name, paths and server", () => {
    const { targets, diagnostics } = expandPattern(clusters, [folder("clusters/eu_1"), folder("clusters/US.2")]);
    expect(diagnostics).toEqual([]);
    expect(targets.map(({ entry }) => entry)).toEqual([
      { name: "c-eu_1", server: "eu_1", paths: ["clusters/eu_1", "shared"] },
      { name: "c-US.2", server: "US.2", paths: ["clusters/US.2", "shared"] },
    ]);
  });

  test("of folders reads the folder itself where it has no paths", () => {
    const { targets } = expandPattern({ name: "{dir}", each: "a/*" }, [folder("a/b")]);
    expect(targets.map(({ entry }) => entry)).toEqual([{ name: "b", paths: ["a/b"] }]);
  });

  test("of a list has {item} for a text, and the keys of an object", () => {
    expect(expandPattern({ name: "{item}", each: { file: "f" } }, [listed({ item: "a" })]).targets).toMatchObject([
      { entry: { name: "a" } },
    ]);
    const entry = { name: "{name}-{region}", each: { file: "f" }, paths: ["env/{name}"] };
    expect(expandPattern(entry, [listed({ name: "prod", region: "eu", owner: "any text" })]).targets).toMatchObject([
      { entry: { name: "prod-eu", paths: ["env/prod"] } },
    ]);
  });

  test.each([["a/b"], [".."], ["."], [""], ["a b"], ["a\n"], ["ä"], ["{dir}"], ["a".repeat(300)]])(
    "refuses the value %j, at the item",
    (value) => {
      const { targets, diagnostics } = expandPattern({ name: "x-{item}", each: { file: "f" } }, [
        listed({ item: value }, 7),
      ]);
      expect(targets).toEqual([]);
      expect(diagnostics).toMatchObject([{ code: "target-pattern", file: "environments.yaml", line: 7, column: 3 }]);
    },
  );

  test("refuses an item without a key that is used, a name that is none, and one name twice, also by case", () => {
    const entry = { name: "{name}", each: { file: "f" } };
    expect(summaries(entry, [listed({ other: "a" })])).toEqual(["the item has no name, which the target {name} uses"]);
    expect(summaries(entry, [listed({ name: "-a" })])).toEqual(['"-a" cannot be the name of a target']);
    expect(summaries(entry, [listed({ name: "a..b" })])).toEqual(['"a..b" cannot be the name of a target']);
    expect(summaries(entry, [listed({ name: "a".repeat(64) })])).toHaveLength(1);
    expect(summaries(entry, [listed({ name: "a" }), listed({ name: "a" })])).toEqual(["a second target is called a"]);
    expect(summaries(entry, [listed({ name: "a" }), listed({ name: "A" })])).toEqual([
      "a second target is called A, which differs from a only by case",
    ]);
  });

  test.each<[string, TargetEntry, string]>([
    ["in another key", { ...clusters, tokenFile: "/run/{dir}" }, "has a placeholder in `tokenFile`"],
    ["in the address of a server", { ...clusters, server: "https://{dir}.example.com" }, "the address in `server`"],
    ["without each", { name: "{dir}" }, "has the placeholder {dir} without `each`"],
    ["nowhere in the name", { ...clusters, name: "prod" }, "has no placeholder"],
    ["that folders do not have", { ...clusters, paths: ["{region}"] }, "{region}, which folders do not have"],
  ])("is refused with a placeholder %s", (_, entry, why) => {
    expect(patternFault(entry)?.why).toContain(why);
  });

  test("is accepted where all of that is right", () => {
    expect(patternFault(clusters)).toBeNull();
    expect(patternFault({ name: "a", paths: ["{literal}"] })).toBeNull();
  });
});

describe("patterns of a configuration", () => {
  const entry: TargetEntry = { name: "{dir}", each: "clusters/*" };
  const recorded = [{ key: patternKey(entry), items: [folder("clusters/a"), folder("clusters/b")], retired: [] }];
  const options = (items: readonly PatternItem[], more: Partial<ExpandOptions> = {}): ExpandOptions => ({
    read: async () => ({ items, diagnostics: [] }),
    recorded,
    placeOf: () => null,
    keepsLast: true,
    allowShrink: false,
    hasState: async () => true,
    ...more,
  });
  const names = (entries: readonly TargetEntry[]) => entries.map(({ name }) => name);

  test("retire what they no longer stand for, keep it as long as its state is there, and take it back", async () => {
    const fewer = await expandTargets([entry], options([folder("clusters/a")]));
    expect([names(fewer.entries), names(fewer.retired), fewer.kept]).toEqual([["a"], ["b"], null]);
    const again = await expandTargets([entry], options([folder("clusters/a")], { recorded: fewer.record }));
    expect(names(again.retired)).toEqual(["b"]);
    const without = options([folder("clusters/a")], { recorded: fewer.record, hasState: async (name) => name !== "b" });
    expect((await expandTargets([entry], without)).retired).toEqual([]);
    const back = options([folder("clusters/a"), folder("clusters/b")], { recorded: fewer.record });
    expect((await expandTargets([entry], back)).retired).toEqual([]);
  });

  test("keep what they stood for where they are emptied, unless that is allowed", async () => {
    const kept = await expandTargets([entry], options([]));
    expect([names(kept.entries), kept.kept?.code]).toEqual([["a", "b"], "refused"]);
    expect(kept.record).toEqual(recorded);
    await expect(expandTargets([entry], options([], { keepsLast: false }))).rejects.toMatchObject({ code: "refused" });
    const allowed = await expandTargets([entry], options([], { allowShrink: true }));
    expect([names(allowed.entries), names(allowed.retired)]).toEqual([[], ["a", "b"]]);
  });

  test("keep what they stood for where they are refused, also because of a name of another target", async () => {
    const wrong = await expandTargets([entry], options([folder("clusters/a"), folder("clusters/x y")]));
    expect([names(wrong.entries), wrong.kept?.code]).toEqual([["a", "b"], "invalid"]);
    const other = { name: "c" };
    const twice = await expandTargets([other, entry], options([folder("clusters/a"), folder("clusters/C")]));
    expect([names(twice.entries), twice.kept?.code]).toEqual([["c", "a", "b"], "invalid"]);
    await expect(
      expandTargets([other, entry], options([folder("clusters/C")], { keepsLast: false })),
    ).rejects.toMatchObject({ code: "invalid", diagnostics: [{ file: "clusters/C" }] });
  });
});
