import { expect, test } from "vitest";
import { changesSince, emptyIndex, type IndexedRevision, withDependants } from "../../../src/cache/source-index.ts";
import { systemClock } from "../../../src/clock/system.ts";
import type { LoadRules } from "../../../src/manifests/load-manifests.ts";
import { readManifests } from "../../../src/manifests/read-manifests.ts";
import { defaultLimits } from "../../../src/source/limits.ts";
import { type CommitSource, readSource } from "../../../src/source/read-source.ts";
import { createRemote } from "../../../src/source/remote/remote.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { type Files, foundations, service } from "../../support/manifests.ts";
import { upstreamOf } from "../../support/upstream.ts";
import { brief, signal } from "../source/source.ts";

const stop = { clock: systemClock, signal };
const files: Files = { ...foundations, "a.yaml": service("a"), "b.yaml": service("b") };

/** A repository that is followed, and its newest commit as an index gives it. */
async function followed() {
  const upstream = await upstreamOf(files);
  const folder = await temporaryFolder();
  const remote = createRemote({
    clock: systemClock,
    name: "platform",
    folder,
    address: { protocol: "file", url: upstream.folder },
    ref: "main",
    credentials: { username: null, tokenFile: null, sshKeyFile: null, tokenText: null },
    caFile: null,
    knownHosts: null,
    env: {},
  });
  const commits: CommitSource = {
    repository: remote.repository,
    resolve: async () => (await remote.fetch(stop)).commit,
    newest: () => null,
    keep: async () => {},
    kept: async () => null,
    deepen: async () => undefined,
    onUnreadable: () => {},
    retryNow: () => {},
  };
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
  ["a resource is added", { "c.yaml": service("c") }],
  ["a reference changes", { "a.yaml": service("a").replace("dev:web", "dev:other") }],
  ["a manifest becomes invalid", { "a.yaml": service("a").replace("name: a", "name: [a]") }],
  [
    "a cluster changes, which the checks of others depend on",
    { "platform/cluster.yaml": `${foundations["platform/cluster.yaml"]}\n` },
  ],
  ["a resource is declared twice", { "b.yaml": `${service("b")}---\n${service("a")}` }],
])("an update resolves everything again where %s", async (_, change) => {
  const { upstream, update } = await followed();
  const first = await update(null);
  await upstream.commit(change);
  const second = await update(first);
  expect(second.isPart).toBe(false);
  expect(await contentOf(second)).toEqual(await contentOf(await update(null)));
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
