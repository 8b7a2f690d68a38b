import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/contract/json.ts";
import type { Manifest } from "../../../src/core/manifest.ts";
import type { LivePlan } from "../../../src/engine/plan.ts";
import type { SourceManifest } from "../../../src/manifests/source-manifest.ts";
import { declare, prompt, service } from "../core/given.ts";
import { extensions, passes } from "../engine/passes.ts";
import { controlPlane } from "../engine/plane.ts";

/** A manifest with the digest that its file would give it. */
const manifest = (value: JsonObject): SourceManifest & Manifest => ({
  ...declare(value),
  digest: JSON.stringify(value),
});

const cluster = manifest({ type: "cluster", name: "c1", cluster_type: "generic" });
const workspace = manifest({ type: "workspace", name: "ws1", cluster_fqn: "c1" });
const repo = manifest({ type: "ml-repo", name: "r" });
const api = manifest(service());
const greeter = manifest(prompt());
const team = manifest({ type: "team", name: "ml", members: ["a@x.io"] });
const everything = [cluster, workspace, repo, api, greeter, team];

/** The same manifest, as its file gives it where it is recognised by its content; notes when it is read. */
function unparsed({ value, ...head }: SourceManifest & Manifest, read: string[]): SourceManifest {
  return {
    ...head,
    read: async () => {
      read.push(head.identity);
      return value;
    },
  };
}

const unread = ({ observation }: LivePlan): readonly string[] =>
  [...observation.inSync].flatMap(([identity, by]) => (by === "live" ? [identity] : []));

/** A control plane with everything applied, and what looks at it with and without remembering. */
async function settled() {
  const plane = await controlPlane();
  const run = await passes(plane.url);
  await run.apply(everything);
  const warm = (manifests: readonly SourceManifest[] = everything) => run.plan(manifests);
  const cold = (manifests: readonly SourceManifest[] = everything) => run.plan(manifests, { recalls: false });
  await warm();
  return { plane, run, warm, cold };
}

describe("a look after another", () => {
  test("reads no row again, and opens no receipt, where nothing has moved", async () => {
    const { warm, cold } = await settled();
    const looked = await warm();
    expect(unread(looked).toSorted()).toEqual(everything.map(({ identity }) => identity).toSorted());
    expect([...looked.recorded.values()].some((receipt) => "written" in receipt)).toBe(false);
    expect(looked.plan).toEqual((await cold()).plan);
  });

  test("opens no receipt right after an apply, and finds what has changed since", async () => {
    const plane = await controlPlane();
    const run = await passes(plane.url);
    await run.apply(everything);
    const looked = await run.plan(everything);
    expect(looked.plan.summary).toMatchObject({ keep: 6 });
    // But for what only the whole list tells: which row a manifest without a number stands for.
    const isOpened = (receipt: object) => "written" in receipt;
    expect([...looked.recorded.values()].filter(isOpened).map(({ identity }) => identity)).toEqual([greeter.identity]);
    const other = await passes(plane.url);
    await other.apply(everything);
    const row = plane.rows("teams")[0] as { manifest: JsonObject };
    row.manifest = { ...row.manifest, members: ["b@x.io"] };
    const after = await other.plan(everything);
    expect(after.plan.summary).toMatchObject({ keep: 5, update: 1, drift: 1 });
    expect([...after.recorded.values()].filter(isOpened).map(({ identity }) => identity)).toEqual([
      greeter.identity,
      team.identity,
    ]);
  });

  test("finds every field of live that has changed", async () => {
    const { plane, warm } = await settled();
    const row = plane.rows("teams")[0] as { manifest: JsonObject };
    for (const [name, value] of Object.entries({ members: ["b@x.io"], managers: ["a@x.io"], name: "other" })) {
      const before = row.manifest;
      row.manifest = { ...before, [name]: value };
      const { plan } = await warm();
      expect(plan.summary).toMatchObject({ keep: 5, update: 1, drift: 1 });
      row.manifest = before;
      expect((await warm()).plan.summary).toMatchObject({ keep: 6, update: 0 });
    }
  });

  test("finds a change of live for as long as it is there, whatever an earlier look was about", async () => {
    const { plane, run, warm } = await settled();
    const row = plane.rows("teams")[0] as { manifest: JsonObject };
    const before = row.manifest;
    row.manifest = { ...before, members: ["b@x.io"] };
    const other = manifest({ type: "team", name: "other" });
    await run.plan([...everything, other], { only: [other.identity] });
    for (const _ of ["first", "second", "third"]) {
      expect((await warm()).plan.summary).toMatchObject({ keep: 5, update: 1, drift: 1 });
    }
    row.manifest = before;
    expect((await warm()).plan.summary).toMatchObject({ keep: 6, update: 0 });
  });

  test("finds what is gone from live, and what came", async () => {
    const { plane, warm } = await settled();
    const [row] = plane.rows("teams").splice(0);
    expect((await warm()).plan.summary).toMatchObject({ create: 1, keep: 5 });
    if (row !== undefined) plane.rows("teams").push(row);
    expect((await warm()).plan.summary).toMatchObject({ create: 0, keep: 6 });
  });

  test("finds a newer version of what names none, and its end", async () => {
    const { plane, warm } = await settled();
    const prompts = plane.rows("prompts");
    const [first] = prompts;
    if (first === undefined) throw new TypeError("no prompt");
    const second = { ...first, id: "newer", fqn: "x:t/r/greeter:2" };
    prompts.push({ ...second, manifest: { ...first.manifest, description: "other", version: 2 } });
    expect((await warm()).plan.summary).toMatchObject({ update: 1, drift: 1, keep: 5 });
    prompts.pop();
    expect((await warm()).plan.summary).toMatchObject({ update: 0, keep: 6 });
    // Two versions with one content: the older one becomes the newest when the newer one goes.
    prompts.push({ ...second, manifest: { ...first.manifest, version: 2 } });
    expect((await warm()).plan.summary).toMatchObject({ keep: 6 });
    prompts.shift();
    expect((await warm()).plan.summary).toMatchObject({ keep: 6 });
  });

  test("finds a changed manifest, and looks at its live again", async () => {
    const { warm, cold } = await settled();
    const changed = everything.map((one) => (one === api ? manifest(service({ env: { A: "1" } })) : one));
    const looked = await warm(changed);
    expect(looked.plan.summary).toMatchObject({ update: 1, keep: 5 });
    expect(looked.plan).toEqual((await cold(changed)).plan);
    expect(unread(looked)).toHaveLength(5);
  });

  test("looks again at what another receipt speaks of, and opens it", async () => {
    const { run, warm, cold } = await settled();
    await using session = await run.session({});
    const receipts = await session.ledger.recorded([team.identity]);
    const receipt = receipts.get(team.identity);
    if (receipt === undefined) throw new TypeError("no receipt");
    await session.ledger.record([{ ...receipt, written: { ...receipt.written, managers: ["x@x.io"] } }]);
    const looked = await warm();
    expect(unread(looked)).not.toContain(team.identity);
    expect(looked.plan).toEqual((await cold()).plan);
    await session.ledger.forget([team.identity]);
    expect((await warm()).plan).toEqual((await cold()).plan);
  });

  test("holds no row that is what its manifest says, where nothing was recorded", async () => {
    const plane = await controlPlane();
    await (await passes(plane.url)).apply(everything);
    const row = plane.rows("teams")[0] as { manifest: JsonObject };
    row.manifest = { ...row.manifest, members: ["b@x.io"] };
    const other = await passes(plane.url);
    const looked = await other.plan(everything);
    // Which version a prompt without a number stands for, only the whole list tells; the service takes normal forms.
    expect(unread(looked).toSorted()).toEqual([cluster, repo, workspace].map(({ identity }) => identity).toSorted());
    expect(looked.plan.summary).toMatchObject({ keep: 5, update: 1 });
    expect(looked.plan).toEqual((await other.plan(everything, { recalls: false })).plan);
  });

  test("holds no row right after an apply either, where files were recognised and not parsed", async () => {
    const plane = await controlPlane();
    const run = await passes(plane.url);
    await run.apply(everything);
    const read: string[] = [];
    const looked = await run.plan(everything.map((one) => unparsed(one, read)));
    // But for what only the whole list tells, nothing is left for the planner to read.
    const others = everything.filter((one) => one !== greeter).map(({ identity }) => identity);
    expect(unread(looked).toSorted()).toEqual(others.toSorted());
    expect(read.toSorted()).toEqual(everything.map(({ identity }) => identity).toSorted());
    expect(looked.plan).toEqual((await run.plan(everything, { recalls: false })).plan);
  });

  test("recalls what is read one by one, and by the ledger's word what cannot be read", async () => {
    const { plane, run, warm, cold } = await settled();
    for (const name of extensions) plane.manners.missing.add(name);
    await warm();
    const looked = await warm();
    expect(unread(looked)).toEqual(expect.arrayContaining([api, cluster, workspace].map(({ identity }) => identity)));
    expect(looked.observation.inSync.get(team.identity)).toBe("ledger");
    expect([...looked.recorded.values()].filter((receipt) => "written" in receipt)).toEqual([]);
    expect(looked.plan).toEqual((await cold()).plan);
    // Each of them is looked at again as soon as it has moved.
    const row = plane.rows("deployments")[0] as { manifest: JsonObject };
    row.manifest = { ...row.manifest, replicas: 7 };
    expect(unread(await warm())).not.toContain(api.identity);
    const clusterRow = plane.rows("clusters")[0] as { manifest: JsonObject };
    const { manifest: before } = clusterRow;
    clusterRow.manifest = { ...before, cluster_integrations: [] };
    expect(unread(await warm())).not.toContain(cluster.identity);
    clusterRow.manifest = before;
    const changed = manifest({ ...team.value, members: ["b@x.io"] });
    const wanted = everything.map((one) => (one === team ? changed : one));
    const { plan } = await warm(wanted);
    expect(plan.summary).toMatchObject({ update: 2, drift: 1 });
    expect(plan).toEqual((await cold(wanted)).plan);
    // The ledger's word is taken for a day.
    const tomorrow = () => Date.now() + 25 * 60 * 60 * 1000;
    expect((await run.plan(everything, { now: tomorrow })).plan.summary).toMatchObject({ ensure: 1 });
  });

  test("records what is live and equal, though an earlier look has found it so", async () => {
    const plane = await controlPlane();
    await (await passes(plane.url)).apply(everything);
    const other = await passes(plane.url);
    await other.plan(everything);
    // But for the service, whose live leaves out its defaults.
    expect(unread(await other.plan(everything))).toHaveLength(5);
    await other.apply(everything);
    await using session = await other.session({});
    expect((await session.ledger.heads()).size).toBe(6);
  });

  test("counts what a new rule leaves alone, though it was no difference to act on before", async () => {
    const { plane } = await settled();
    const run = await passes(plane.url);
    await run.plan(everything);
    const ignore = [{ path: "/replicas", reason: "an autoscaler keeps it" }];
    const ignored = async (recalls: boolean) =>
      (await run.plan(everything, { ignore, recalls })).decisions
        .values()
        .flatMap((one) => one.ignored)
        .toArray();
    expect(await ignored(true)).toEqual([["replicas"]]);
    expect(await ignored(false)).toEqual([["replicas"]]);
  });

  test("passes over rows that are nobody's, until somebody declares them", async () => {
    const { plane, warm } = await settled();
    plane
      .rows("teams")
      .push({ id: "t9", key: "other", name: "other", teamName: "other", manifest: { type: "team", name: "other" } });
    await warm();
    const other = manifest({ type: "team", name: "other" });
    expect((await warm([...everything, other])).plan.summary).toMatchObject({ keep: 7, create: 0 });
    const differs = manifest({ type: "team", name: "other", members: ["a@x.io"] });
    expect((await warm([...everything, differs])).plan.summary).toMatchObject({ keep: 6, update: 1 });
  });

  test("throws away what it cannot read, with one byte changed anywhere", async () => {
    const { run, warm } = await settled();
    const file = join(run.folder, "cache", "live-test");
    const kept = await readFile(file);
    const { plan } = await warm();
    // Which row stands for a prompt without a number nobody tells by looking at one.
    expect(unread(await warm())).toContain(greeter.identity);
    for (const at of [0, 1, 5, 17, 40, kept.length >> 1, kept.length - 1]) {
      await writeFile(file, kept.with(at, (kept[at] ?? 0) ^ 1));
      const looked = await warm();
      expect(unread(looked)).not.toContain(greeter.identity);
      expect(looked.plan).toEqual(plan);
    }
    await writeFile(file, "");
    expect(unread(await warm())).not.toContain(greeter.identity);
  });

  test("keeps nothing in the clear", async () => {
    const { run } = await settled();
    const kept = await readFile(join(run.folder, "cache", "live-test"));
    expect(kept.includes("greeter")).toBe(false);
    expect(kept.includes("team/ml")).toBe(false);
  });
});

test("whatever changes in between, a look that remembers plans what one that does not would", async () => {
  const names = ["a", "b", "c"];
  const name = fc.constantFrom(...names);
  const people = fc.subarray(["a@x.io", "b@x.io"]);
  const replicas = fc.integer({ min: 1, max: 2 });
  const edit = fc.oneof(
    fc.record({ what: fc.constant("manifest" as const), name, members: people }),
    fc.record({ what: fc.constant("gone" as const), name }),
    fc.record({ what: fc.constant("live" as const), name, members: people }),
    fc.record({ what: fc.constant("removed" as const), name }),
    fc.record({ what: fc.constant("moved" as const) }),
    fc.record({ what: fc.constant("stamp" as const), name }),
    fc.record({ what: fc.constant("forget" as const), name }),
    fc.record({ what: fc.constant("apply" as const) }),
    fc.record({ what: fc.constant("part" as const), name }),
    fc.record({ what: fc.constant("newer" as const), isSame: fc.boolean() }),
    fc.record({ what: fc.constant("older" as const) }),
    fc.record({ what: fc.constant("service" as const), replicas }),
    fc.record({ what: fc.constant("deployed" as const), replicas }),
    fc.record({ what: fc.constant("undocumented" as const) }),
  );
  type Edit = typeof edit extends fc.Arbitrary<infer One> ? One : never;
  type Row = { key: string; manifest: JsonObject; updatedAt: string };

  /** Does to one side or the other what may happen between two looks. */
  async function world() {
    const plane = await controlPlane();
    const run = await passes(plane.url);
    const teams = new Map<string, readonly Json[]>(names.map((one) => [one, []]));
    let deployed = 1;
    const manifests = () => [
      cluster,
      workspace,
      repo,
      greeter,
      manifest(service({ replicas: deployed })),
      ...[...teams].map(([one, members]) => manifest({ type: "team", name: one, members })),
    ];
    const rowsOf = (path: Parameters<typeof plane.rows>[0]) => plane.rows(path) as unknown as Row[];
    const forget = async (team: string) => {
      await using session = await run.session({});
      await session.ledger.forget([`team/${team}`]);
    };
    const newer = (isSame: boolean) => {
      const prompts = plane.rows("prompts");
      const [first] = prompts;
      if (first === undefined) return;
      const version = prompts.length + 1;
      const content = isSame ? {} : { description: `other ${version}` };
      const id = `newer-${version}`;
      prompts.push({
        ...first,
        id,
        fqn: `x:t/r/greeter:${version}`,
        manifest: { ...first.manifest, ...content, version },
      });
    };
    const edited = async (one: Edit) => {
      const rows = rowsOf("teams");
      const row = "name" in one ? rows.find(({ key }) => key === one.name) : undefined;
      const [deployment] = rowsOf("deployments");
      if (one.what === "manifest") teams.set(one.name, one.members);
      if (one.what === "gone") teams.delete(one.name);
      if (one.what === "live" && row) row.manifest = { ...row.manifest, members: one.members };
      if (one.what === "removed" && row) rows.splice(rows.indexOf(row), 1);
      if (one.what === "moved") rows.reverse();
      if (one.what === "stamp" && row) row.updatedAt = `${row.updatedAt}!`;
      if (one.what === "apply") await run.apply(manifests());
      if (one.what === "forget") await forget(one.name);
      if (one.what === "newer") newer(one.isSame);
      if (one.what === "older" && plane.rows("prompts").length > 1) plane.rows("prompts").pop();
      if (one.what === "service") deployed = one.replicas;
      if (one.what === "deployed" && deployment)
        deployment.manifest = { ...deployment.manifest, replicas: one.replicas };
      if (one.what === "undocumented") for (const route of extensions) plane.manners.missing.add(route);
    };
    return { run, manifests, edited };
  }

  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 8 }), async (edits) => {
      const { run, manifests, edited } = await world();
      await run.apply(manifests());
      for (const one of edits) {
        await edited(one);
        const selection = one.what === "part" ? { only: [`team/${one.name}`] } : {};
        const warm = await run.plan(manifests(), selection);
        const cold = await run.plan(manifests(), { ...selection, recalls: false });
        expect(warm.plan).toEqual(cold.plan);
      }
    }),
    {
      numRuns: 8,
      // Something recorded turns out to be gone, after the records of the others were found equal.
      examples: [
        [
          [
            { what: "removed", name: "c" },
            { what: "undocumented" },
            { what: "manifest", name: "c", members: ["b@x.io"] },
          ],
        ],
      ],
    },
  );
});
