import { symlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { changesSince, emptyIndex, type IndexedRevision, withDependants } from "../../../src/cache/source-index.ts";
import { systemClock } from "../../../src/clock/system.ts";
import type { LoadRules } from "../../../src/manifests/load-manifests.ts";
import { readManifests } from "../../../src/manifests/read-manifests.ts";
import { defaultLimits } from "../../../src/source/limits.ts";
import { readSource } from "../../../src/source/read-source.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { type Files, foundations, prompt, service } from "../../support/manifests.ts";
import { upstreamOf } from "../../support/upstream.ts";
import { brief, followedInto, signal } from "../source/source.ts";

const stop = { clock: systemClock, signal };
const cluster = foundations["platform/cluster.yaml"];
const workspace = foundations["platform/workspace.yaml"];
const batch = "type: workspace\nname: batch\ncluster_fqn: dev\n";
const inBatch = (name: string): string => service(name).replace("dev:web", "dev:batch");
const collaborators = (team: string): string => `[{ subject: "team:${team}", role_id: workspace-member }]`;
const teamX = "type: team\nname: x\nmembers: [a@x.io]\n";
const teamOf = (name: string, other: string): string =>
  `type: team\nname: ${name}\nmembers: [a@x.io]\ncollaborators: ${collaborators(other)}\n`;
const files: Files = { ...foundations, "a.yaml": service("a"), "b.yaml": service("b"), "x.yaml": teamX };

/** A repository that is followed, and its newest commit as an index gives it. */
async function followed(more: Files = {}) {
  const upstream = await upstreamOf({ ...files, ...more });
  const folder = await temporaryFolder();
  const { commits } = followedInto(upstream.folder, folder);
  const update = async (
    before: IndexedRevision | null,
    { rules = {}, day = "2026-11-21" }: { readonly rules?: LoadRules; readonly day?: string } = {},
  ): Promise<IndexedRevision> => {
    const index = emptyIndex({ rules, limits: defaultLimits, now: new Date(`${day}T12:00:00Z`) });
    const place = { root: folder, cwd: folder, base: null, limits: defaultLimits, commits };
    using source = await readSource(
      { ...place, before: before?.revision ?? null },
      async () => ({ ignore: [], knownFiles: index.knownFiles, ref: null }),
      stop,
    );
    return index.update(before, source.revision, stop);
  };
  return { upstream, update };
}

const contentOf = async ({ loaded }: IndexedRevision) => {
  const manifests = await readManifests(loaded.manifests, stop);
  return {
    values: manifests.map(({ identity, value, file, line }) => [identity, value, file, line]),
    waves: [...loaded.waves],
    counted: [loaded.files, loaded.documents, loaded.contents.files.map(({ file }) => file.path)],
    referrers: [...loaded.referrers()].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    diagnostics: brief(loaded.diagnostics),
    refused: loaded.refused,
    declared: [...loaded.declared].toSorted(),
  };
};

const changed = (before: IndexedRevision, now: IndexedRevision) => {
  const found = changesSince(before, now);
  return found && [...found].toSorted();
};

test("an update reads the changed files alone, and finds what a reading of everything finds", async () => {
  const { upstream, update } = await followed();
  const first = await update(null);
  expect(first).toMatchObject({ isPart: false, known: 0 });
  await upstream.commit({ "a.yaml": service("a", "env: { A: b }\n") });
  const second = await update(first);
  expect(second).toMatchObject({ isPart: true, known: second.revision.files.length - 1 });
  expect(changed(first, second)).toEqual(["service/dev:web/a"]);
  expect(await contentOf(second)).toEqual(await contentOf(await update(null)));
  expect(await contentOf(second)).not.toEqual(await contentOf(first));
  const same = await update(second);
  expect(same.loaded).toBe(second.loaded);
  expect(changed(second, same)).toEqual([]);
});

test.each<[string, Files]>([
  ["is added", { "c.yaml": service("c") }],
  ["is added with another one that it refers to", { "c.yaml": `${inBatch("c")}---\n${batch}` }],
  ["has another name", { "a.yaml": service("z", "env: { A: b }\n") }],
  ["is declared in another file", { "a.yaml": "x: 1\n", "b.yaml": `${service("b")}---\n${service("a")}` }],
])("an update reads the changed files alone where a resource %s", async (_, change) => {
  const { upstream, update } = await followed();
  const first = await update(null);
  await upstream.commit(change);
  const second = await update(first);
  expect(second.isPart).toBe(true);
  expect(await contentOf(second)).toEqual(await contentOf(await update(null)));
});

test("an update tells once what is skipped in the whole commit", async () => {
  const { upstream, update } = await followed();
  symlinkSync("a.yaml", join(upstream.folder, "link.yaml"));
  await upstream.commit({ "d.yaml": service("d") });
  const first = await update(null);
  await upstream.commit({ "c.yaml": service("c") });
  const second = await update(first);
  expect(second.isPart).toBe(true);
  expect(brief(second.loaded.diagnostics)).toEqual(["link.yaml:null:null warning not-a-regular-file"]);
});

test("an update forgets the resources of a file that is gone", async () => {
  const { upstream, update } = await followed();
  const first = await update(null);
  await upstream.remove("a.yaml");
  const second = await update(first);
  expect(second.isPart).toBe(true);
  expect(await contentOf(second)).toEqual(await contentOf(await update(null)));
  expect(second.loaded.declared.has("service/dev:web/a")).toBe(false);
});

test.each<[string, Files, LoadRules?]>([
  ["a reference is added", { "platform/workspace.yaml": `${workspace}collaborators: ${collaborators("x")}\n` }],
  ["a manifest becomes invalid", { "a.yaml": service("a").replace("name: a", "name: [a]") }],
  ["a cluster changes, which the checks of others depend on", { "platform/cluster.yaml": `${cluster}\n` }],
  ["a resource is declared twice", { "b.yaml": `${service("b")}---\n${service("a")}` }],
  [
    "an application of another type has the name of one",
    { "c.yaml": service("a").replace("service", "async-service") },
  ],
  ["two of the same are added", { "c.yaml": `${service("c")}---\n${service("c")}` }],
  ["a file says that it declares something unknown", { "c.yaml": "name: c\nworkspace_fqn: dev:web\n" }],
  ["a version is added", { "c.yaml": prompt("p", "hello").replace("ml_repo", "version: 2\nml_repo") }],
  ["a resource that others refer to is gone", { "platform/workspace.yaml": "x: 1\n" }],
  ["a resource refers to nothing that is declared", { "c.yaml": inBatch("c") }],
  ["a resource is added that others refer to", { "c.yaml": batch }, { external: ["workspace/dev:batch"] }],
])("an update resolves everything again where %s", async (_, change, rules = {}) => {
  const { upstream, update } = await followed();
  if (rules.external !== undefined) await upstream.commit({ "d.yaml": inBatch("d") });
  const first = await update(null, { rules });
  expect(first.loaded.refused).toEqual([]);
  await upstream.commit(change);
  const second = await update(first, { rules });
  expect(second.isPart).toBe(false);
  expect(await contentOf(second)).toEqual(await contentOf(await update(null, { rules })));
});

test("whatever is edited, an update finds what a reading of everything finds", async () => {
  const paths = ["a.yaml", "b.yaml", "c.yaml", "sub/d.yaml"];
  const documents = [
    ...["a", "b", "c"].map((name) => service(name)),
    service("a", "env: { A: b }\n"),
    service("a", "env: { TOKEN: abc }\n"),
    inBatch("a"),
    batch,
    prompt("p", "hello"),
    teamOf("x", "y"),
    teamOf("y", "y"),
    "kind: Deployment\n",
    "type: service\nname: 1\n",
  ];
  const edit = fc.record({
    path: fc.constantFrom(...paths),
    text: fc.array(fc.constantFrom(...documents), { maxLength: 2 }).map((parts) => parts.join("---\n")),
  });
  const parts = new Set<boolean>();
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 2, maxLength: 5 }), async (edits) => {
      const { upstream, update } = await followed();
      let before = await update(null);
      for (const { path, text } of edits) {
        await upstream.commit({ [path]: text, "count.txt": `${Math.random()}` });
        const after = await update(before);
        parts.add(after.isPart);
        expect(await contentOf(after)).toEqual(await contentOf(await update(null)));
        before = after;
      }
    }),
    { numRuns: 12, seed: 7 },
  );
  expect([...parts].toSorted()).toEqual([false, true]);
});

const patchOf = (match: string, image: string): string =>
  `match: ${match}\npatch: { image: { image_uri: "r/${image}" } }\n`;

test("an update reads again what a changed patch matches or has matched, and nothing else", async () => {
  const rules = { patches: "patches" };
  const { upstream, update } = await followed({
    "patches/a.yaml": patchOf("service/dev:web/a", "x:1"),
    "patches/b.yaml": patchOf("service/dev:web/b", "x:1"),
  });
  const first = await update(null, { rules });
  expect(first.loaded.diagnostics).toEqual([]);
  await upstream.commit({ "patches/a.yaml": patchOf("service/dev:web/a", "x:2") });
  const second = await update(first, { rules });
  expect(second.isPart).toBe(true);
  const reread = second.loaded.contents.files.filter(
    ({ content }, at) => content !== first.loaded.contents.files[at]?.content,
  );
  expect(reread.map(({ file }) => file.path)).toEqual(["a.yaml", "patches/a.yaml"]);
  expect(changed(first, second)).toEqual(["service/dev:web/a"]);
  expect(await contentOf(second)).toEqual(await contentOf(await update(null, { rules })));
  await upstream.commit({ "patches/b.yaml": patchOf("service/dev:web/*", "x:3") });
  const third = await update(second, { rules });
  expect(changed(second, third)).toEqual(["service/dev:web/a", "service/dev:web/b"]);
  expect(await contentOf(third)).toEqual(await contentOf(await update(null, { rules })));
});

test("whatever is edited in manifests and patches, an update finds what a reading of everything finds", async () => {
  const rules = { patches: "patches", rename: { clusters: { dev: "prod" } } };
  const edits = {
    "a.yaml": [service("a"), service("a", "env: { A: b }\n"), service("c"), "type: service\nname: 1\n"],
    "b.yaml": [service("b"), `${service("b")}---\n${service("d")}`],
    "patches/p.yaml": [
      patchOf("service/prod:web/a", "x:1"),
      patchOf("service/prod:web/*", "x:2"),
      `# moved\n${patchOf("service/prod:web/*", "x:2")}`,
      `${patchOf("service/prod:web/b", "x:3")}---\n${patchOf("**", "x:4")}`,
      "match: service/prod:web/b\npatch: { replicas: many }\n",
      "match: service/prod:web/b\npatch: { env: { TOKEN: abc } }\n",
    ],
  };
  const edit = fc
    .constantFrom(...Object.entries(edits))
    .chain(([path, texts]) => fc.constantFrom(...texts).map((text) => ({ path, text })));
  const parts = new Set<boolean>();
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 2, maxLength: 5 }), async (list) => {
      const { upstream, update } = await followed({ "patches/p.yaml": patchOf("service/prod:web/*", "x:1") });
      let before = await update(null, { rules });
      for (const { path, text } of list) {
        await upstream.commit({ [path]: text, "count.txt": `${Math.random()}` });
        const after = await update(before, { rules });
        parts.add(after.isPart);
        expect(await contentOf(after)).toEqual(await contentOf(await update(null, { rules })));
        before = after;
      }
    }),
    { numRuns: 8, seed: 11 },
  );
  expect([...parts].toSorted()).toEqual([false, true]);
});

test("an update takes nothing over from a revision of other rules or of another day", async () => {
  const { update } = await followed();
  const first = await update(null);
  expect((await update(first)).isPart).toBe(true);
  expect((await update(first, { rules: { unknownFields: "warn" } })).isPart).toBe(false);
  expect((await update(first, { day: "2026-11-22" })).isPart).toBe(false);
});

test("what a commit adds is a change, and where it removes a resource the changes do not say everything", async () => {
  const { upstream, update } = await followed();
  const first = await update(null);
  await upstream.commit({ "c.yaml": service("c") });
  const second = await update(first);
  expect(changed(first, second)).toEqual(["service/dev:web/c"]);
  await upstream.commit({ "a.yaml": service("z") });
  expect(changed(second, await update(second))).toBeNull();
});

test("what refers to a changed resource depends on it, directly or not, up to a bound", async () => {
  const { update } = await followed();
  const indexed = await update(null);
  const cluster = new Set(["cluster/dev"]);
  const dependants = withDependants(cluster, indexed, 10)?.map(({ identity }) => identity);
  expect(dependants).toEqual(expect.arrayContaining(["workspace/dev:web", "service/dev:web/a", "service/dev:web/b"]));
  expect(withDependants(cluster, indexed, 3)).toBeNull();
  const alone = withDependants(new Set(["service/dev:web/a"]), indexed, 10);
  expect(alone?.map(({ identity }) => identity)).toEqual(["service/dev:web/a"]);
});
