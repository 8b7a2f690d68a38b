import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/clock/system.ts";
import type { LoadRules } from "../../../src/manifests/load-manifests.ts";
import { resolveReferences } from "../../../src/manifests/resolve-references.ts";
import { pacer } from "../../../src/source/pacer.ts";
import { readConfig } from "../../../src/source/read-config.ts";
import { ExactProcess } from "../../../src/yaml/read-yaml.ts";
import { longestEventLoopDelay } from "../../support/event-loop-delay.ts";
import { processorMs } from "../../support/processor-time.ts";
import { declare, service as serviceIn } from "../core/given.ts";
import { brief, type Files, folderOf, loadRevision, read } from "../source/source.ts";

const service = (name: string, more = "") =>
  `type: service\nname: ${name}\nworkspace_fqn: dev:${name}\nimage: {type: image, image_uri: x}\nports: [{port: 80}]\n${more}`;

function many<Item>(count: number, make: (n: number) => Item): readonly Item[] {
  return Array.from({ length: count }, (_, n) => make(n));
}

/** As many references to something undeclared as manifests, and globs that each look at all of it. */
const references: Files = {
  "platform.yaml":
    "type: cluster\nname: dev\ncluster_type: generic\n---\ntype: workspace\nname: web\ncluster_fqn: dev\n",
  ...Object.fromEntries(
    many(10, (n) => `${n}`).map((file) => [`${file}.yaml`, many(200, (n) => service(`a${file}-${n}`)).join("---\n")]),
  ),
};
const external = many(500, (n) => `*${"a?".repeat(2)}*${"?".repeat(4)}*${n}x*`);

const secrets: Files = Object.fromEntries(
  many(10, (n) => `${"m/".repeat(60)}${n}.yaml`).map((file) => [
    file,
    many(200, (n) => service(`s${n}`, "env: {A: ghp_0123456789abcdefghijklmnopqrstuvwxyz}\n")).join("---\n"),
  ]),
);
const allowLiteralSecrets = many(200, (n) => `*${"**/".repeat(9)}*${n}x*`);

describe("globs as many and as wild as they may be", () => {
  test.each<[string, Files, LoadRules]>([
    ["external", references, { external }],
    ["allowLiteralSecrets", secrets, { allowLiteralSecrets }],
  ])("S43 of %s keep neither the event loop nor the reading for long", async (_, files, rules) => {
    const revision = await read(await folderOf(files));
    const begun = processorMs();
    const hold = await longestEventLoopDelay(() => loadRevision(revision, rules));
    expect(hold).toBeLessThan(1000);
    expect(processorMs() - begun).toBeLessThan(10_000);
  });

  test("S43 stop being asked when the command is to end", async () => {
    const manifests = many(3000, (n) => declare(serviceIn({ workspace_fqn: `c1:w${n}` })));
    const ending = new AbortController();
    setImmediate(() => ending.abort(new Error("the end")));
    const pause = pacer({ clock: systemClock, signal: ending.signal });
    await using exact = new ExactProcess();
    const reading = { exact, signal: ending.signal };
    const context = { declared: new Set(["workspace/c1:other"]), external, refuse: () => undefined, reading, pause };
    await expect(resolveReferences(manifests, context)).rejects.toThrow("the end");
  });
});

describe("a configuration beyond the limits", () => {
  const glob = (wildcards: number) => `"${"*a".repeat(wildcards)}"`;

  test("S43 is told with its file and line", async () => {
    const root = await folderOf({
      "holdfast.yaml": `external:\n  - ${glob(32)}\n  - ${glob(33)}\nallowLiteralSecrets: [${glob(33)}]\nignore:\n  - {path: /a, match: ${glob(33)}, reason: r}\n`,
    });
    const { diagnostics, repository } = await readConfig({ root, cwd: root });
    expect(brief(diagnostics)).toEqual([
      "holdfast.yaml:6:23 error invalid-form",
      "holdfast.yaml:3:5 error invalid-form",
      "holdfast.yaml:4:23 error invalid-form",
    ]);
    expect(diagnostics[0]?.summary).toContain("a glob with at most 32 of the characters * and ?");
    expect(repository).toEqual({});
  });

  test.each(["paths", "external", "allowLiteralSecrets"])("S43 has no list of %s without end", async (key) => {
    const root = await folderOf({ "holdfast.yaml": `${key}:\n${"  - a\n".repeat(501)}` });
    const { diagnostics } = await readConfig({ root, cwd: root });
    expect(brief(diagnostics)).toEqual(["holdfast.yaml:1:1 error out-of-range"]);
  });

  test.each([
    ["one glob", `external: ["${"**/".repeat(340_000)}"]\n`],
    ["many globs", `external:\n${`  - "${"*?".repeat(200)}"\n`.repeat(2400)}`],
    ["many rules", `ignore:\n${"  - {path: /a/*/b, match: '**', reason: r}\n".repeat(23_000)}`],
    ["one pointer", `ignore: [{path: "/${"*/".repeat(500_000)}", match: "**", reason: r}]\n`],
  ])("S43 of a mebibyte of %s is refused at once", async (_, text) => {
    const root = await folderOf({ "holdfast.yaml": text });
    const hold = await longestEventLoopDelay(async () => {
      const { diagnostics } = await readConfig({ root, cwd: root });
      expect(diagnostics.some(({ severity }) => severity === "error")).toBe(true);
    });
    expect(hold).toBeLessThan(1000);
  });
});
