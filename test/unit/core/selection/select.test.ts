import { describe, expect, test } from "vitest";
import { isUnder, type Selection, select, selectNamed, unmatched } from "../../../../src/core/selection/select.ts";
import { declare, service } from "../given.ts";

const whole: Selection = { paths: [], only: [], kinds: [], exclude: [] };
const manifests = [
  declare({ type: "cluster", name: "c1" }, { file: "base/c1.yaml" }),
  declare({ type: "workspace", name: "ws1", cluster_fqn: "c1" }, { file: "base/ws1.yaml" }),
  declare(service(), { file: "apps/api.yaml" }),
  declare(service({ name: "web" }), { file: "apps/web/web.yaml" }),
  declare({ type: "team", name: "ml", members: ["ada@x.io"] }, { file: "teams.yaml" }),
];
const [cluster, workspace, api, web, team] = manifests.map(({ identity }) => identity);

describe("a selection", () => {
  test.each<[string, Partial<Selection>, readonly unknown[]]>([
    ["of nothing names everything", {}, [cluster, workspace, api, web, team]],
    ["of a file", { paths: ["apps/api.yaml"] }, [api]],
    ["of a folder", { paths: ["apps"] }, [api, web]],
    ["of several paths", { paths: ["apps/web", "teams.yaml"] }, [web, team]],
    ["of a kind", { kinds: ["team"] }, [team]],
    ["of kinds in a folder", { kinds: ["service", "team"], paths: ["apps/web"] }, [web]],
    ["of identities", { only: ["team/ml", "service/c1:ws1/api"] }, [api, team]],
    ["of a glob", { only: ["service/**"] }, [api, web]],
    ["without some", { exclude: ["service/**", "team/*"] }, [cluster, workspace]],
    ["of a kind without one of it", { kinds: ["service"], exclude: ["**/web"] }, [api]],
    ["of identities, where none is a part of another", { only: ["service/c1:ws1/ap"] }, []],
  ])("%s", (_, selection, identities) => {
    expect(selectNamed(manifests, { ...whole, ...selection }).map(({ identity }) => identity)).toEqual(identities);
  });

  test("takes an identity that looks like a glob by its name", () => {
    const items = ["team/a*", "team/ab", "team/a?"].map((identity) => ({ identity, kind: "team", file: "x.yaml" }));
    const named = (only: string) => selectNamed(items, { ...whole, only: [only] }).map(({ identity }) => identity);
    expect(named("team/a?")).toEqual(["team/a*", "team/ab", "team/a?"]);
    expect(named("team/a**")).toEqual(["team/a*", "team/ab", "team/a?"]);
    expect(named("team/ab")).toEqual(["team/ab"]);
  });

  test("has everything that it refers to, in the order of the source", () => {
    const selected = (selection: Partial<Selection>) =>
      select(manifests, { ...whole, ...selection }).map(({ identity }) => identity);
    expect(selected({ only: ["service/c1:ws1/api"] })).toEqual([cluster, workspace, api]);
    expect(selected({ kinds: ["team"] })).toEqual([team]);
    expect(select(manifests, whole)).toBe(manifests);
    expect(selected({ paths: ["teams.yaml"], only: ["team/*"], kinds: ["team"], exclude: ["x"] })).toEqual([team]);
    expect(selected({ paths: ["teams.yaml"], only: ["team/*"] })).toEqual([team]);
    expect(selected({ kinds: ["team"], exclude: ["x"] })).toEqual([team]);
    expect(selected({ only: ["team/*"], kinds: ["team"] })).toEqual([team]);
  });
});

test("what matches nothing is told", () => {
  const declared = new Set(manifests.map(({ identity }) => identity));
  const files = manifests.map(({ file }) => file);
  const selection = {
    ...whole,
    only: ["team/ml", "service/*:*/web", "team/mi", "job/**"],
    paths: ["apps", "./teams.yaml", "app", "apps/none.yaml"],
  };
  expect(unmatched(declared, selection, files)).toEqual(["team/mi", "job/**", "app", "apps/none.yaml"]);
  expect(unmatched(declared, { ...whole, paths: ["apps"] }, ["apps/api.yaml", "other.yaml"])).toEqual([]);
});

test.each([
  ["apps", "apps/api.yaml", true],
  ["./apps", "apps/api.yaml", true],
  ["apps//", "apps/api.yaml", true],
  ["apps/api.yaml", "apps/api.yaml", true],
  ["app", "apps/api.yaml", false],
  ["my./apps", "apps/api.yaml", false],
  ["a//pps", "apps/api.yaml", false],
  ["x/./apps", "x/apps", false],
  [".", "apps/api.yaml", true],
  ["./", "apps/api.yaml", true],
  ["", "apps/api.yaml", true],
  ["x/apps", "apps/api.yaml", false],
])("under %j is %s: %s", (path, file, is) => {
  expect(isUnder(path, file)).toBe(is);
});
