import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { knownContent, outlineOf } from "../../../src/cache/file-outline.ts";
import { NO_SOURCE_FACTS, type SourceFacts } from "../../../src/cache/source-facts.ts";
import { sourceCache, sourceToKeep } from "../../../src/cache/source-facts-cache.ts";
import { systemClock } from "../../../src/clock/system.ts";
import { contentDigest } from "../../../src/contract/content-digest.ts";
import type { Diagnostic } from "../../../src/core/diagnostic.ts";
import { type LoadRules, loadManifests } from "../../../src/manifests/load-manifests.ts";
import { readDeclarations } from "../../../src/manifests/read-declarations.ts";
import { locateFields, readManifest, readManifests } from "../../../src/manifests/read-manifests.ts";
import { NO_PATCHES } from "../../../src/manifests/read-patches.ts";
import type { SourceManifest } from "../../../src/manifests/source-manifest.ts";
import { transformOf } from "../../../src/manifests/transform.ts";
import { parseKey } from "../../../src/seal/seal-key.ts";
import { findRepository } from "../../../src/source/git/find-repository.ts";
import { readCommitFiles } from "../../../src/source/git/read-commit.ts";
import { defaultLimits } from "../../../src/source/limits.ts";
import { readFolder } from "../../../src/source/read-folder.ts";
import { fileStatus } from "../../../src/source/read-regular-file.ts";
import { filesByPath, type RevisionFiles, type SourceFile } from "../../../src/source/revision.ts";
import { UnsettledSourceError } from "../../../src/source/source-error.ts";
import { existingKey } from "../../../src/state/open-state.ts";
import { type Cost, ExactProcess } from "../../../src/yaml/exact/exact-process.ts";
import { needsPermissions } from "../../support/as-root.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { commitAll } from "../../support/git.ts";
import { type Files, folderOf, signal, write } from "../source/source.ts";

const service = (name: string, more = "") =>
  `type: service\nname: ${name}\nworkspace_fqn: prod:ws-1\nimage: {type: image, image_uri: "registry/${name}:1"}\n${more}`;
const files: Files = {
  "cluster.yaml": "type: cluster\nname: prod\ncluster_type: generic\nbase_domains: ['*.x.io']\n",
  "workspace.yaml": "type: workspace\nname: ws-1\ncluster_fqn: prod\n",
  "other.yaml": "type: workspace\nname: ws-2\ncluster_fqn: prod\n",
  "api.yaml": service("api", "ports: [{port: 80, expose: true, host: api.x.io}]\n"),
  "two.yaml": `${service("web")}---\n${service("job", "env: {TOKEN: abc}\n")}`,
  "team.json": '{"type": "team", "name": "people", "members": ["a@x.io"]}',
  "foreign.yaml": "kind: Deployment\n",
};

/** Takes the exact reader, whose process takes time to start. */
const exact: Files = { "anchor.yaml": "type: team\nmembers: &all [a@x.io]\nmanagers: *all\nname: anchored\n" };

/** What reading a folder gives, with or without what an earlier reading knew. */
async function reading(
  root: string,
  remembered: SourceFacts = NO_SOURCE_FACTS,
  rules: LoadRules = {},
  day = "2026-11-21",
) {
  const repository = await findRepository(root, { signal });
  const revision = await readFolder(
    { root, cwd: root, repository, limits: defaultLimits, knownFiles: remembered },
    { clock: systemClock, signal },
  );
  const loading = { rules, limits: defaultLimits, now: new Date(`${day}T12:00:00Z`) };
  const options = { ...loading, knownContent: knownContent(remembered.outlines, loading) };
  const loaded = await loadManifests(revision, options, { clock: systemClock, signal });
  return { revision, loaded: { ...loaded, toKeep: () => sourceToKeep([loaded.contents], remembered, rules) } };
}

type Read = Awaited<ReturnType<typeof reading>>["loaded"];

/** As if some time had passed since the files were written: until then none is trusted. */
function later(remembered: SourceFacts | null): SourceFacts {
  if (remembered === null) throw new TypeError("nothing new was remembered");
  return { ...remembered, at: Date.now() + 60_000 };
}

/** Waits until the file system's own clock has moved on, so that a change is no part of the moment before. */
function tick(root: string): void {
  const probe = join(root, ".probe");
  const now = () => {
    writeFileSync(probe, "");
    return statSync(probe).ctimeMs;
  };
  const before = now();
  while (now() <= before);
  rmSync(probe);
}

/** Everything about manifests, as their files have it now. */
async function contentOf(manifests: readonly SourceManifest[]) {
  const values = await readManifests(manifests, { clock: systemClock, signal });
  const located = await locateFields(
    manifests.map((manifest) => ({ manifest, pointer: "/name" })),
    { signal },
  );
  return manifests.map(({ kind, identity, digest, file, line, references }, index) => {
    const [value, at] = [values[index]?.value, located[index]?.position];
    return { kind, identity, digest, value, file, line, references, at };
  });
}

const outline = async ({ contents: _, toKeep: __, manifestsByIdentity: ___, ...loaded }: Read) => {
  const { manifests, referrers, waves, declared, invalid, ...rest } = loaded;
  return {
    ...rest,
    referrers: [...referrers()],
    manifests: await contentOf(manifests),
    waves: [...waves],
    declared: [...declared].toSorted(),
    invalid: [...invalid].toSorted(),
  };
};
const reread = ({ files: all }: RevisionFiles, before: SourceFacts) =>
  all.filter(({ path, digest }) => before.files.get(path)?.digest !== digest).map(({ path }) => path);

describe("a source read again", () => {
  test("is what it was, without reading what was not touched", async () => {
    const root = await folderOf({ ...files, ...exact });
    const first = await reading(root);
    const remembered = later(first.loaded.toKeep());
    const second = await reading(root, remembered);
    expect(second.loaded.toKeep()).toBeNull();
    expect(await outline(second.loaded)).toEqual(await outline(first.loaded));
    // The value of a manifest is read from its file; nobody has until then.
    const { loaded } = await reading(root, remembered);
    rmSync(join(root, "api.yaml"));
    const api = loaded.manifests.find(({ identity }) => identity === "service/prod:ws-1/api");
    expect(api?.references).toHaveLength(1);
    await expect(api && readManifest(api, { signal })).rejects.toThrow(UnsettledSourceError);
  });

  test.each([
    ["a comment with a tab before it", "# type: service\n\t\n---\n"],
    ["a tab before a comment", "\t# type: service\n---\n"],
    ["a comment with a tab behind the end", "", "...\n# type: service\n\t\n"],
  ])("B17: is what it was, where the exact reader finds no document in %s", async (_, before, after = "") => {
    const root = await folderOf({ ...files, "api.yaml": `${before}${service("api")}${after}` });
    const first = await reading(root);
    const second = await reading(root, later(first.loaded.toKeep()));
    expect(second.loaded.contents.files.filter(({ wasParsed }) => wasParsed)).toEqual([]);
    expect(await outline(second.loaded)).toEqual(await outline(first.loaded));
    expect(second.loaded.manifests.map(({ identity }) => identity)).toContain("service/prod:ws-1/api");
  });

  test("is trusted only where nobody touched it just before", async () => {
    const root = await folderOf(files);
    const { loaded } = await reading(root);
    const fresh = loaded.toKeep() ?? NO_SOURCE_FACTS;
    const again = await reading(root, fresh);
    // The content is the same, so nothing is parsed; but it was looked at.
    expect(again.loaded.toKeep()?.at).toBeGreaterThanOrEqual(fresh.at);
  });

  test("tells a changed byte, though size and times are as they were", async () => {
    const root = await folderOf(files);
    const remembered = later((await reading(root)).loaded.toKeep());
    for (const path of Object.keys(files)) {
      tick(root);
      const file = join(root, path);
      const { atime, mtime } = lstatSync(file);
      const before = readFileSync(file, "utf8");
      const changed = before.replace(/(?<=name"?: "?|kind: )\w/, (letter) => (letter === "z" ? "y" : "z"));
      expect(changed).not.toBe(before);
      writeFileSync(file, changed);
      utimesSync(file, atime, mtime);
      expect(lstatSync(file)).toMatchObject({ size: Buffer.byteLength(before), mtime });
      const warm = await reading(root, remembered);
      expect(reread(warm.revision, remembered)).toEqual([path]);
      expect(await outline(warm.loaded)).toEqual(await outline((await reading(root)).loaded));
      writeFileSync(file, before);
    }
  });

  test("tells a file that took another's place, with its size and time", async () => {
    const root = await folderOf({
      "a.yaml": "type: team\nname: abc\nmembers: [a@x.io]\n",
      ".b": "type: team\nname: xyz\nmembers: [a@x.io]\n",
    });
    utimesSync(join(root, ".b"), lstatSync(join(root, "a.yaml")).atime, lstatSync(join(root, "a.yaml")).mtime);
    const remembered = later((await reading(root)).loaded.toKeep());
    renameSync(join(root, ".b"), join(root, "a.yaml"));
    const { loaded } = await reading(root, remembered);
    expect(loaded.manifests.map(({ identity }) => identity)).toEqual(["team/xyz"]);
  });

  test("knows the same content by another name, without reading it twice", async () => {
    const root = await folderOf(files);
    const remembered = later((await reading(root)).loaded.toKeep());
    renameSync(join(root, "api.yaml"), join(root, "renamed.yaml"));
    renameSync(join(root, "team.json"), join(root, "team.yaml"));
    const warm = await reading(root, remembered);
    const outlines = [...(warm.loaded.toKeep()?.outlines ?? [])];
    const before = [...remembered.outlines.values()];
    // JSON is YAML too, but is read by other rules.
    const others = outlines.filter(([, outline]) => !before.includes(outline)).map(([key]) => key.split(" ")[0]);
    expect(others).toEqual(["yaml"]);
    expect(outlines).toHaveLength(before.length);
    expect(await outline(warm.loaded)).toEqual(await outline((await reading(root)).loaded));
  });

  test("checks what depends on other files each time", async () => {
    const root = await folderOf(files);
    const remembered = later((await reading(root)).loaded.toKeep());
    const codes = async (changes: Files, day?: string) => {
      tick(root);
      write(root, changes);
      const { loaded } = await reading(root, remembered, {}, day);
      const cold = await reading(root, NO_SOURCE_FACTS, {}, day);
      expect(await outline(loaded)).toEqual(await outline(cold.loaded));
      write(root, files);
      return loaded.diagnostics.filter(({ severity }) => severity === "error").map(({ code }) => code);
    };
    expect(await codes({ "workspace.yaml": "" })).toEqual(expect.arrayContaining(["undeclared-reference"]));
    expect(await codes({ "cluster.yaml": `${files["cluster.yaml"]}`.replace("x.io", "y.io") })).toEqual([
      "inconsistent",
    ]);
    expect(
      await codes({
        "cluster.yaml": `${files["cluster.yaml"]}collaborators: [{subject: "team:people", role_id: r}]\n`,
      }),
    ).toEqual([]);
    write(root, { "twin.yaml": service("api") });
    expect(await codes({})).toEqual(["duplicate-identity", "duplicate-identity"]);
  });

  test("is told by the day where a date counts", async () => {
    const account =
      "type: virtual-account\nname: robot\npermissions: [{resource_fqn: t, resource_type: tenant, role_id: tenant-member}]\nexpiration_date: 2026-12-01\n";
    const root = await folderOf({ "a.yaml": account });
    const first = await reading(root);
    const remembered = later(first.loaded.toKeep());
    expect((await reading(root, remembered)).loaded.toKeep()).toBeNull();
    const codes = async (day: string) =>
      (await reading(root, remembered, {}, day)).loaded.diagnostics.map(({ code }) => code);
    expect(await codes("2026-11-30")).not.toContain("past-date");
    expect(await codes("2026-12-02")).toContain("past-date");
  });

  test("knows its commit without reading the files", async () => {
    const root = await folderOf(files);
    const commit = await commitAll(root, "Begin");
    const first = await reading(root);
    const remembered = later(first.loaded.toKeep());
    const second = await reading(root, remembered);
    expect([first.revision.commit, second.revision.commit]).toEqual([commit, commit]);
    tick(root);
    write(root, { "team.json": `${files["team.json"]}\n` });
    expect((await reading(root, remembered)).revision.commit).toBeNull();
  });

  test("may have folders by then that nobody may enter", async (context) => {
    needsPermissions(context);
    const root = await folderOf({ ...files, "shut/team.yaml": "type: team\nname: t\nmembers: []\n" });
    await commitAll(root, "Begin");
    const remembered = later((await reading(root)).loaded.toKeep());
    for (const mode of [0o444, 0]) {
      chmodSync(join(root, "shut"), mode);
      const [warm, cold] = [await reading(root, remembered), await reading(root)];
      chmodSync(join(root, "shut"), 0o755);
      expect(await outline(warm.loaded)).toEqual(await outline(cold.loaded));
      expect(warm.loaded.diagnostics.map(({ code }) => code)).toContain("unreadable");
      expect([warm.revision.commit, cold.revision.commit]).toEqual([null, null]);
    }
  });

  test("knows nothing of a file whose status cannot be read", async () => {
    expect(fileStatus(join(await folderOf(files), "long".repeat(100)))).toBeUndefined();
  });

  test("is not refused for ever what was too much for once", async () => {
    const { files: found } = await readFolder(
      {
        root: await folderOf({ "a.yaml": "type: team\nname: &name t\nmembers: [a@x.io]\n" }),
        cwd: "/",
        repository: null,
        limits: defaultLimits,
      },
      { clock: systemClock, signal },
    );
    const remembered = async (most?: Cost) => {
      await using exact = new ExactProcess(most);
      const diagnostics: Diagnostic[] = [];
      const rules = {
        limits: defaultLimits,
        unknownFields: "refuse",
        allowLiteralSecrets: [],
        transform: transformOf({}, NO_PATCHES),
      } as const;
      const on = { ...rules, now: new Date(), exact, clock: systemClock, signal, pause: () => undefined };
      const [file] = found;
      if (file === undefined) throw new TypeError("no file");
      return {
        content: outlineOf({
          file,
          content: await readDeclarations(file, on, { add: (one) => diagnostics.push(one) }),
          diagnostics,
        }),
        diagnostics,
      };
    };
    const refused = await remembered({ milliseconds: 0, mebibytes: 64 });
    expect(refused.diagnostics.map(({ code }) => code)).toEqual(["too-slow"]);
    expect(refused.content).toBeNull();
    expect((await remembered()).diagnostics).toEqual([]);
  });

  test("keeps the same of more faults than can be kept", async () => {
    const fileOf = (path: string, text: string): SourceFile => {
      const bytes = Buffer.from(text);
      const stamp = { size: bytes.length, modified: 0, changed: 0, inode: 0 };
      return {
        path,
        display: path,
        bytes: () => bytes,
        size: bytes.length,
        digest: contentDigest(bytes),
        stamp,
        blob: null,
      };
    };
    const others = Array.from({ length: 10_000 }, (_, nth) => fileOf(`b${10_000 + nth}.yaml`, "x: 1\n"));
    const loaded = (text: string, remembered: SourceFacts) => {
      const sources = [fileOf("a.yaml", text), ...others];
      const found = { files: sources, filesByPath: filesByPath(sources), diagnostics: [], leftOut: new Map() };
      const revision: RevisionFiles = { commit: null, at: Date.now(), root: "/", ...found };
      const loading = { rules: {}, limits: defaultLimits, now: new Date() };
      const options = { ...loading, knownContent: knownContent(remembered.outlines, loading) };
      return loadManifests(revision, options, { clock: systemClock, signal });
    };
    const remembered = sourceToKeep([(await loaded("x: 1\n", NO_SOURCE_FACTS)).contents], NO_SOURCE_FACTS, {});
    const [warm, cold] = [await loaded("y: 1\n", later(remembered)), await loaded("y: 1\n", NO_SOURCE_FACTS)];
    expect(cold.diagnostics[0]?.file).toBe("a.yaml");
    expect(warm.diagnostics).toEqual(cold.diagnostics);
  });

  test("whatever is edited in between, is what it would be without remembering", async () => {
    const paths = ["cluster.yaml", "workspace.yaml", "api.yaml", "two.yaml", "team.json", "new.yaml"];
    const texts = [
      ...Object.values(files),
      ...Object.values(exact),
      service("other"),
      "a: [",
      "type: service\nname: 1\n",
      "x: 1\n---\n",
    ] as string[];
    const edit = fc.oneof(
      fc.record({
        what: fc.constant("write" as const),
        path: fc.constantFrom(...paths),
        text: fc.constantFrom(...texts),
      }),
      fc.record({ what: fc.constant("remove" as const), path: fc.constantFrom(...paths), text: fc.constant("") }),
      fc.record({
        what: fc.constant("swap" as const),
        path: fc.constantFrom(...paths),
        text: fc.constantFrom(...paths),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 6 }), async (edits) => {
        const root = join(await temporaryFolder(), "source");
        mkdirSync(root);
        write(root, files);
        let remembered = later((await reading(root)).loaded.toKeep());
        for (const { what, path, text } of edits) {
          tick(root);
          if (what === "write") write(root, { [path]: text });
          if (what === "remove") rmSync(join(root, path), { force: true });
          if (what === "swap" && lstatSync(join(root, text), { throwIfNoEntry: false })) {
            renameSync(join(root, text), join(root, path));
          }
          const warm = await reading(root, remembered);
          expect(await outline(warm.loaded)).toEqual(await outline((await reading(root)).loaded));
          if (warm.loaded.toKeep() !== null) remembered = later(warm.loaded.toKeep());
        }
      }),
      { numRuns: 8 },
    );
  });
});

describe("the cache of a source", () => {
  const keyText = "a".repeat(64);
  const cacheIn = (
    folder: string,
    root: string,
    given: { readonly build?: string; readonly keyText?: string } = {},
  ) => {
    const state = {
      folder,
      build: () => given.build ?? "1",
      onForgotten: (what: string, error: string) => {
        throw new TypeError(`${what}: ${error}`);
      },
    };
    const cache = sourceCache(root, state, systemClock);
    const key = () => existingKey(folder, given.keyText ?? keyText);
    const open = async (rules: LoadRules = {}) =>
      cache.open({ rules, limits: defaultLimits, now: new Date() }, await key());
    return { ...cache, open, load: async (rules: LoadRules) => (await open(rules)).knownFiles };
  };
  /** Reads the folder once through the cache, which keeps it. */
  const fill = async ({ open }: ReturnType<typeof cacheIn>, root: string) => {
    const { revision } = await reading(root);
    const policies = { folders: [], own: null, base: null, operator: null, place: null };
    const config = { files: [], isPresent: false, repository: {}, places: new Map(), diagnostics: [], policies };
    const index = await open();
    index.keep(await index.update(null, { ...revision, config }, { clock: systemClock, signal }), null);
  };
  const filledCache = async () => {
    const folder = await temporaryFolder();
    const root = await folderOf(files);
    const cache = cacheIn(folder, root);
    await fill(cache, root);
    return { folder, root, cache, facts: await cache.load({}) };
  };

  test("gives back what was kept, to the same build, rules, source and key alone", async () => {
    const { folder, root, facts } = await filledCache();
    expect(facts.files.size).toBe(Object.keys(files).length);
    expect(await cacheIn(folder, root).load({})).toEqual(facts);
    expect(await cacheIn(folder, root).load({ unknownFields: "warn" })).toEqual(NO_SOURCE_FACTS);
    expect(await cacheIn(folder, root, { build: "2" }).load({})).toEqual(NO_SOURCE_FACTS);
    expect(await cacheIn(folder, `${root}2`).load({})).toEqual(NO_SOURCE_FACTS);
    expect(await cacheIn(folder, root, { keyText: "b".repeat(64) }).load({})).toEqual(NO_SOURCE_FACTS);
  });

  test("is held in memory from pass to pass, for one set of rules at a time", async () => {
    const { folder, cache, facts } = await filledCache();
    rmSync(folder, { recursive: true });
    expect(await cache.load({})).toBe(facts);
    expect(await cache.load({ unknownFields: "warn" })).toEqual(NO_SOURCE_FACTS);
  });

  test("is read from its file again once it was released", async () => {
    const { folder, cache, facts } = await filledCache();
    cache.release();
    expect(await cache.load({})).toEqual(facts);
    cache.release();
    rmSync(folder, { recursive: true });
    expect(await cache.load({})).toEqual(NO_SOURCE_FACTS);
  });

  test("is written once there is a state folder", async () => {
    const folder = join(await temporaryFolder(), "state");
    const root = await folderOf(files);
    const cache = cacheIn(folder, root);
    await fill(cache, root);
    mkdirSync(folder, { mode: 0o700 });
    expect(await cacheIn(folder, root).load({})).toEqual(NO_SOURCE_FACTS);
    cache.store(parseKey(keyText));
    expect(await cacheIn(folder, root).load({})).toEqual(await cache.load({}));
  });

  test("knows the contents of a commit by those of the folder, and of the next commit by those of the last", async () => {
    const root = await folderOf({ ...files, ...exact });
    await commitAll(root, "Begin");
    const repository = await findRepository(root, { signal });
    const commit = async (facts: SourceFacts) => {
      const revision = await readCommitFiles(
        { root, cwd: root, repository, ref: "HEAD", limits: defaultLimits },
        { clock: systemClock, signal },
      );
      const loading = { rules: {}, limits: defaultLimits, now: new Date() };
      const options = { ...loading, knownContent: knownContent(facts.outlines, loading) };
      return loadManifests(revision, options, { clock: systemClock, signal });
    };
    const parsed = ({ contents }: Awaited<ReturnType<typeof commit>>) =>
      contents.files.flatMap(({ file, wasParsed }) => (wasParsed ? [file.path] : []));
    const folder = (await reading(root)).loaded.toKeep() ?? NO_SOURCE_FACTS;
    expect(parsed(await commit(NO_SOURCE_FACTS))).toHaveLength(Object.keys(files).length + 1);
    expect(parsed(await commit(folder))).toEqual([]);
    write(root, { "team.json": '{"type": "team", "name": "people", "members": ["b@x.io"]}' });
    await commitAll(root, "Change the team");
    const second = await commit(folder);
    expect(parsed(second)).toEqual(["team.json"]);
    const team = second.manifests.find(({ identity }) => identity === "team/people");
    expect(team && (await readManifest(team, { signal })).value).toMatchObject({ members: ["b@x.io"] });
    const facts = sourceToKeep([second.contents], folder, {}) ?? NO_SOURCE_FACTS;
    expect(parsed(await commit(facts))).toEqual([]);
    // What is known of the folder is not forgotten for it.
    expect(facts.files).toBe(folder.files);
  });

  test("is nothing where a byte of it was changed, and is readable by its owner alone", async () => {
    const { folder, root } = await filledCache();
    const [name = ""] = readdirSync(join(folder, "cache"));
    const file = join(folder, "cache", name);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const bytes = readFileSync(file);
    expect(bytes.includes("service")).toBe(false);
    for (const at of [0, 3, 17, 30, bytes.length >> 1, bytes.length - 1]) {
      writeFileSync(file, bytes.with(at, (bytes[at] ?? 0) ^ 1));
      expect(await cacheIn(folder, root).load({})).toEqual(NO_SOURCE_FACTS);
    }
    rmSync(file);
    expect(await cacheIn(folder, root).load({})).toEqual(NO_SOURCE_FACTS);
  });
});
