import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseConfig, readConfig } from "../../../src/source/read-config.ts";
import { findRoot } from "../../../src/source/source-root.ts";
import { commitAll } from "../../support/git.ts";
import { brief, folderOf, write } from "./source.ts";

describe("the source's root", () => {
  test("is the folder that holds holdfast.yaml, seen from anywhere below", async () => {
    const root = await folderOf({ "holdfast.yaml": "", "a/b/c.yaml": "" });
    expect(findRoot({ cwd: join(root, "a/b") })).toBe(root);
  });

  test("is the nearest such folder in a checkout, else the checkout's top", async () => {
    const root = await folderOf({ "platform/holdfast.yaml": "", "platform/x/a.yaml": "", "docs/b.yaml": "" });
    await commitAll(root, "Begin");
    expect(findRoot({ cwd: join(root, "platform/x") })).toBe(join(root, "platform"));
    expect(findRoot({ cwd: join(root, "docs") })).toBe(root);
  });

  test("is never looked for above the checkout", async () => {
    const outer = await folderOf({ "holdfast.yaml": "", "inner/a.yaml": "" });
    await commitAll(join(outer, "inner"), "Begin");
    expect(findRoot({ cwd: join(outer, "inner") })).toBe(join(outer, "inner"));
  });

  test("is the working directory where there is neither, and what --source names in any case", async () => {
    const root = await folderOf({ "a/b.yaml": "" });
    expect(findRoot({ cwd: join(root, "a") })).toBe(join(root, "a"));
    write(root, { "holdfast.yaml": "" });
    expect(findRoot({ cwd: root, source: "a" })).toBe(join(root, "a"));
    expect(() => findRoot({ cwd: root, source: "nowhere" })).toThrow("is no folder");
  });
});

describe("the configuration", () => {
  test("keeps what a pull request may set apart from what only the operator may", async () => {
    const root = await folderOf({
      "holdfast.yaml": "paths: [manifests]\nexternal: [team/*]\nserver: https://example.com\nstate: null\n",
    });
    expect(await readConfig({ root, cwd: root })).toEqual({
      file: "holdfast.yaml",
      isInSource: true,
      repository: { paths: ["manifests"], external: ["team/*"] },
      operator: { server: "https://example.com" },
      operatorKeys: ["server"],
      places: new Map([["/external/0", { file: "holdfast.yaml", line: 2, column: 12 }]]),
      diagnostics: [],
    });
  });

  test("may be absent or empty", async () => {
    const root = await folderOf({});
    expect(await readConfig({ root, cwd: root })).toMatchObject({
      file: null,
      repository: {},
      operator: {},
      diagnostics: [],
    });
    write(root, { "holdfast.yaml": "# nothing yet\n" });
    expect(await readConfig({ root, cwd: root })).toMatchObject({
      file: "holdfast.yaml",
      repository: {},
      diagnostics: [],
    });
  });

  test("B27: unknown keys and wrong forms are refused in their place", async () => {
    const root = await folderOf({
      "holdfast.yaml": "pathes: [x]\ntimeout: 5s\nignore:\n  - path: replicas\n    match: '*'\n    reason: x\n",
    });
    const config = await readConfig({ root, cwd: root });
    expect(brief(config.diagnostics).toSorted()).toEqual([
      "holdfast.yaml:1:1 error unknown-field",
      "holdfast.yaml:2:10 error wrong-type",
      "holdfast.yaml:4:11 error invalid-form",
    ]);
    expect(config.diagnostics.map(({ summary }) => summary).join()).toContain("did you mean `paths`");
    expect(config).toMatchObject({ repository: {}, operator: {} });
  });

  test.each([
    ["broken YAML", "paths: [\n"],
    ["a duplicate key", "paths: [a]\npaths: [b]\n"],
    ["two documents", "paths: [a]\n---\npaths: [b]\n"],
    ["a list", "- a\n"],
    ["a merge key", "<<: {paths: [a]}\n"],
  ])("B27: %s is refused", async (_, text) => {
    const root = await folderOf({ "holdfast.yaml": text });
    const { diagnostics, repository } = await readConfig({ root, cwd: root });
    expect(diagnostics.some(({ severity }) => severity === "error")).toBe(true);
    expect(repository).toEqual({});
  });

  test("of the source is not read through a link, the operator's own is", async () => {
    const root = await folderOf({ "elsewhere/real.yaml": "server: https://example.com\n", "source/a.yaml": "" });
    const source = join(root, "source");
    symlinkSync("../elsewhere/real.yaml", join(source, "holdfast.yaml"));
    symlinkSync("real.yaml", join(root, "elsewhere/mounted.yaml"));
    expect(await readConfig({ root: source, cwd: root })).toMatchObject({
      operator: {},
      diagnostics: [{ severity: "error" }],
    });
    const own = await readConfig({ root: source, cwd: root, file: "elsewhere/mounted.yaml" });
    expect(own).toMatchObject({ isInSource: false, operator: { server: "https://example.com" }, diagnostics: [] });
  });

  test("that --config names counts as the source's when it lies in it, and must exist", async () => {
    const root = await folderOf({ "ops.yaml": "server: https://example.com\n" });
    expect((await readConfig({ root, cwd: root, file: "ops.yaml" })).isInSource).toBe(true);
    await expect(readConfig({ root, cwd: root, file: "nowhere.yaml" })).rejects.toThrow("does not exist");
    mkdirSync(join(root, "folder.yaml"));
    expect((await readConfig({ root, cwd: root, file: "folder.yaml" })).diagnostics).toHaveLength(1);
  });

  test("S41 that --config names through a link of the source counts as the source's", async () => {
    const root = await folderOf({ "elsewhere/real.yaml": "server: https://example.com\n", "source/a.yaml": "" });
    const source = join(root, "source");
    symlinkSync("../elsewhere/real.yaml", join(source, "ops.yaml"));
    expect(await readConfig({ root: source, cwd: root, file: "source/ops.yaml" })).toMatchObject({ isInSource: true });
  });

  test("takes guards that are looser than the default ones for the operator's, and stricter ones for anybody's", async () => {
    const root = await folderOf({ "ops.yaml": "" });
    const read = async (guards: string) => {
      write(root, { "holdfast.yaml": `guards: ${guards}\n` });
      const { repository, operator, operatorKeys } = await readConfig({ root, cwd: root });
      return { repository: repository.guards, operator: operator.guards, operatorKeys };
    };
    for (const looser of ["{shrinkFrom: 11}", "{shrinkShare: 0.69}", "{shrinkFrom: 5, shrinkShare: 0}"]) {
      expect(await read(looser)).toMatchObject({ repository: undefined, operatorKeys: ["looser guards"] });
    }
    for (const stricter of ["{shrinkFrom: 1}", "{shrinkShare: 0.7}", "{shrinkFrom: 10, shrinkShare: 1}", "{}"]) {
      expect(await read(stricter)).toMatchObject({ operator: undefined, operatorKeys: [] });
    }
    const outside = await folderOf({ "ops.yaml": "guards: {shrinkShare: 0}\n" });
    const { repository } = await readConfig({ root, cwd: root, file: join(outside, "ops.yaml") });
    expect(repository.guards).toEqual({ shrinkShare: 0 });
  });

  test("of a base commit is read from its bytes", async () => {
    const config = await parseConfig(Buffer.from("paths: [base]\n"), { file: "holdfast.yaml", isInSource: true });
    expect(config.repository).toEqual({ paths: ["base"] });
  });
});
