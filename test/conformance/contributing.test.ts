import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { copyCheckout } from "../support/checkout-copy.ts";
import { everyKind } from "../support/manifests.ts";
import { sourceOf } from "../support/source.ts";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);
const text = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");

/** The files that the text writes whole: a path, a colon and a block of TypeScript. */
const files = Array.from(text.matchAll(/`(src\/\S+\.ts)`:\n\n```ts\n([\s\S]*?)```/g), ([, path = "", code = ""]) => ({
  path,
  code,
}));

/** The lines that the text adds to a file, each after the line above it. */
const additions = Array.from(
  text.matchAll(/`(src\/\S+\.ts)`, each after[^\n]*\n\n```diff\n([\s\S]*?)```/g),
  ([, path = "", lines = ""]) => {
    return {
      path,
      pairs: Array.from(lines.matchAll(/^ (.+)\n\+(.+)$/gm), ([, above = "", added = ""]) => ({ above, added })),
    };
  },
);

test("the sink and the command of CONTRIBUTING.md work as its steps say, with no other file changed", async () => {
  expect(files.map(({ path }) => path)).toEqual([
    "src/engine/sinks/discard.ts",
    "src/commands/declarations/sinks.ts",
    "src/commands/sinks.ts",
  ]);
  expect(additions).toMatchObject([{ path: "src/commands/program.ts", pairs: [{}, {}] }]);
  const { folder: copy, build } = await copyCheckout();
  for (const { path, code } of files) writeFileSync(join(copy, path), code);
  for (const { path, pairs } of additions) {
    let changed = readFileSync(join(copy, path), "utf8");
    for (const { above, added } of pairs) {
      expect(changed.split(`${above}\n`)).toHaveLength(2);
      changed = changed.replace(`${above}\n`, `${above}\n${added}\n`);
    }
    writeFileSync(join(copy, path), changed);
  }
  const built = await build();
  await run(join(root, "node_modules/.bin/biome"), ["lint", ...files.map(({ path }) => path)], { cwd: copy });
  const source = await sourceOf(everyKind);
  const holdfast = (...args: readonly string[]) => built(source.folder, ...args);
  expect(await holdfast("sinks")).toBe("discard\nexec\nfile\nkubernetes\nvault\n");
  expect(await holdfast("--help")).toMatch(/^ {2}sinks +show where one-time tokens can go$/m);
  await expect(holdfast("plan", "--sink", "discarded")).rejects.toMatchObject({ code: 3 });
  const applied = await holdfast("apply", "--embedded", "--yes", "--allow-privilege", "--sink", "discard");
  expect(applied).toMatch(/created +virtual-account\/ci/);
});

test("the commands of CONTRIBUTING.md are scripts of the package", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const named = Array.from(text.matchAll(/npm run (?:-s )?([\w:-]+)/g), ([, name = ""]) => name);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
  expect(named.length).toBeGreaterThan(2);
});
