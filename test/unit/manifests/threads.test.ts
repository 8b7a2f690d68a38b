import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { NO_SOURCE } from "../../../src/cache/known-source.ts";
import { sourceToKeep } from "../../../src/cache/source-to-keep.ts";
import type { Manifest } from "../../../src/core/manifest.ts";
import { kindOf } from "../../../src/kinds/index.ts";
import { type Loaded, type LoadRules, load } from "../../../src/manifests/load.ts";
import { shareReading, threadsFor } from "../../../src/manifests/threads.ts";
import { defaultLimits } from "../../../src/source/limits.ts";
import { type Files, folderOf, read, signal } from "../source/source.ts";

const workspace = "type: workspace\nname: ws-1\ncluster_fqn: prod\n";
const service = (name: string, more = "") =>
  `type: service\nname: ${name}\nworkspace_fqn: prod:ws-1\nimage: {type: image, image_uri: "registry/${name}:1"}\n${more}`;
const account = (name: string, day: string) =>
  `type: virtual-account\nname: ${name}\npermissions: [{resource_fqn: t, resource_type: tenant, role_id: r}]\nexpiration_date: ${day}\n`;
/** One of everything that a file can be. */
const sorts = (n: number): Files => ({
  [`${n}-sound.yaml`]: service(`a${n}`),
  [`${n}-exposed.yaml`]: service(`b${n}`, "ports: [{port: 80, expose: true, host: b.x.io}]\n"),
  [`${n}-elsewhere.yaml`]: service(`c${n}`, "ports: [{port: 80, expose: true, host: c.y.io}]\n"),
  [`${n}-two.yaml`]: `${service(`d${n}`)}---\n${service(`e${n}`, "env: {TOKEN: abc}\n")}`,
  [`${n}-late.yaml`]: account(`f${n}`, "2020-01-01"),
  [`${n}-faulty.yaml`]: service(`g${n}`, "replicas: two\nportz: []\n"),
  [`${n}-broken.yaml`]: "type: service\nname: [\n",
  [`${n}-delicate.yaml`]: service(`h${n}`, "env:\n  TEXT: &a >-\n    folded\n     text\n  MORE: *a\n"),
  [`${n}-foreign.yaml`]: "kind: Deployment\n",
  [`${n}-empty.yaml`]: "",
  [`${n}-large.yaml`]: service(`i${n}`, `env: {TEXT: ${"x".repeat(70_000)}}\n`),
  [`${n}-json.json`]: `{"type": "team", "name": "t${n}", "members": ["a@x.io"]}`,
});
const files: Files = {
  "cluster.yaml": "type: cluster\nname: prod\ncluster_type: generic\nbase_domains: ['*.x.io']\n",
  "workspace.yaml": workspace,
  ...Object.assign({}, ...Array.from({ length: 20 }, (_, n) => sorts(n))),
};

/** All that a manifest tells. */
const told = (manifest: Manifest) => {
  const { kind, identity, digest, value, file, line, references } = manifest;
  return { kind, identity, digest, value, file, line, references, at: manifest.locate("/name") };
};
const outline = ({ manifests, waves, declared, invalid, contents, ...rest }: Loaded) => ({
  ...rest,
  manifests: manifests.map(told),
  waves: [...waves],
  declared: [...declared].toSorted(),
  invalid: [...invalid].toSorted(),
  kept: [...(sourceToKeep(contents, NO_SOURCE)?.files ?? [])],
});

async function loadWith(root: string, threads: number, rules: LoadRules = {}): Promise<Loaded> {
  const now = new Date("2026-11-21T12:00:00Z");
  return load(await read(root), { kindOf, rules, limits: defaultLimits, now, threads }, { signal });
}

describe("reading with other threads", () => {
  test.each([1, 3])("gives what reading alone gives, with %i", async (threads) => {
    const root = await folderOf(files);
    const alone = outline(await loadWith(root, 0));
    expect(alone.diagnostics.length).toBeGreaterThan(100);
    expect(outline(await loadWith(root, threads))).toEqual(alone);
  });

  test("goes by the same rules", async () => {
    const root = await folderOf(files);
    const rules = { unknownFields: "warn", allowLiteralSecrets: ["**/*-two.yaml"] } as const;
    expect(outline(await loadWith(root, 2, rules))).toEqual(outline(await loadWith(root, 0, rules)));
  });

  test("starts none for a few files", () => {
    expect(threadsFor(10, 64)).toBe(0);
    expect([1, 2, 4, 8, 64].map((processors) => threadsFor(10_000, processors))).toEqual([0, 0, 1, 3, 3]);
  });

  test("leaves what a thread could not finish to be read here", async () => {
    const { files: all } = await read(await folderOf(files));
    const here: string[] = [];
    const { promise: given, resolve } = Promise.withResolvers<void>();
    // Without limits a thread fails at the first file that it reads.
    const rules = { limits: null, unknownFields: "refuse", allowLiteralSecrets: [], now: new Date() };
    await using shared = shareReading(all, 1, {
      rules: rules as never,
      onRead: (file, lent) => {
        expect(lent).toBeNull();
        here.push(file.path);
        resolve();
      },
    });
    await given;
    for (let file = shared.next(); file !== undefined; file = shared.next()) here.push(file.path);
    await shared.rest();
    expect(here.toSorted()).toEqual(all.map(({ path }) => path).toSorted());
  });

  test("ends with a word on a file that changed before it could be read again", async () => {
    const delicate = service("a", "env:\n  TEXT: &a >-\n    folded\n     text\n  MORE: *a\n");
    const root = await folderOf({ "a.yaml": delicate });
    const { files: all } = await read(root);
    const rules = { limits: defaultLimits, unknownFields: "refuse", allowLiteralSecrets: [], now: new Date() } as const;
    const { promise: given, resolve } = Promise.withResolvers<void>();
    await using shared = shareReading(all, 1, {
      rules,
      onRead: (file, lent) => {
        expect(lent).toBeNull();
        writeFileSync(join(root, file.path), "type: team\n");
        resolve();
        file.bytes();
      },
    });
    await given;
    await expect(shared.rest()).rejects.toThrow(/changed while it was being read/);
  });

  test("says the same, byte for byte", async () => {
    const root = await folderOf(files);
    const said = async (threads: number) => JSON.stringify((await loadWith(root, threads)).diagnostics);
    expect(await said(2)).toBe(await said(0));
  });
});
