import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/clock/system.ts";
import { findRepository } from "../../../src/source/git/find-repository.ts";
import { readSourceConfig } from "../../../src/source/read-source-config.ts";
import { commitAll } from "../../support/git.ts";
import { folderOf, signal, write } from "./source.ts";

describe("the configuration of a source", () => {
  test("is its own, in which the operator's values replace whole values", async () => {
    const root = await folderOf({ "holdfast.yaml": "paths: [a, b]\nexternal: [team/*]\nguards: {shrinkFrom: 5}\n" });
    const outside = await folderOf({
      "ops.yaml": "paths: [c]\nguards: {shrinkShare: 0}\nserver: https://example.com\n",
    });
    const configFile = join(outside, "ops.yaml");
    const config = await readSourceConfig(
      { root, cwd: root, repository: null, base: null, configFile },
      { clock: systemClock, signal },
    );
    expect(config).toMatchObject({
      isPresent: true,
      repository: { paths: ["c"], external: ["team/*"], guards: { shrinkShare: 0 } },
      diagnostics: [],
    });
    expect(config.files.map(({ operator }) => operator)).toEqual([{}, { server: "https://example.com" }]);
  });

  test("is read once where --config names the source's own file", async () => {
    const root = await folderOf({ "holdfast.yaml": "external: [team/*]\n" });
    const at = { root, cwd: root, repository: null, base: null };
    const { files } = await readSourceConfig({ ...at, configFile: "holdfast.yaml" }, { clock: systemClock, signal });
    expect(files).toHaveLength(1);
  });

  test("has the faults of both files", async () => {
    const root = await folderOf({ "holdfast.yaml": "pathz: []\n" });
    const outside = await folderOf({ "ops.yaml": "serber: x\n" });
    const at = { root, cwd: root, repository: null, base: null, configFile: join(outside, "ops.yaml") };
    const { diagnostics, isPresent } = await readSourceConfig(at, { clock: systemClock, signal });
    expect(diagnostics.map(({ line, code }) => [line, code])).toEqual([
      [1, "unknown-field"],
      [1, "unknown-field"],
    ]);
    expect(isPresent).toBe(true);
  });

  test("is that of the base commit, whose looser guards count for nothing, and has the faults of the folder's too", async () => {
    const root = await folderOf({ "holdfast.yaml": "external: [team/base]\nguards: {shrinkFrom: 100}\n" });
    await commitAll(root, "Begin");
    write(root, { "holdfast.yaml": "external: [team/mine]\n" });
    const repository = await findRepository(root, { signal });
    const at = { root, cwd: root, repository, base: { ref: "HEAD", use: "compare" } } as const;
    expect((await readSourceConfig(at, { clock: systemClock, signal })).repository).toEqual({
      external: ["team/base"],
    });
    write(root, { "holdfast.yaml": "externa: [team/mine]\n" });
    expect((await readSourceConfig(at, { clock: systemClock, signal })).diagnostics).toMatchObject([
      { file: "holdfast.yaml" },
    ]);
  });
});
