import fc from "fast-check";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../src/contract/json.ts";
import { Secret } from "../../src/contract/secret.ts";
import type { Manifest } from "../../src/core/manifest.ts";
import type { LivePlan } from "../../src/engine/plan.ts";
import type { SourceManifest } from "../../src/manifests/source-manifest.ts";
import { databaseStateAt } from "../../src/state/open-state.ts";
import type { State, StateAccessOptions } from "../../src/state/state.ts";
import { startControlPlane } from "../control-plane.ts";
import { startBreakableProxy } from "../support/breakable-proxy.ts";
import { startCountingProxy } from "../support/counting-proxy.ts";
import { temporaryFolder } from "../support/folder.ts";
import { machine } from "../support/machine.ts";
import { databaseOf } from "../support/test-database.ts";
import { declare, service } from "../unit/core/given.ts";
import { type PassOptions, passes } from "../unit/engine/passes.ts";

const keyText = "11".repeat(32);

/** A database, and what each process that uses it opens of its own. */
async function database() {
  const url = (await databaseOf(await temporaryFolder(), "template1")) ?? "";
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  const opened = async ({
    address = url,
    key = keyText,
    ...options
  }: Partial<StateAccessOptions> & { readonly address?: string; readonly key?: string } = {}): Promise<State> => {
    const place = { address: new Secret(address), target: null, folder: await temporaryFolder() };
    const access = databaseStateAt(place, { ...machine, ...options });
    onTestFinished(() => access[Symbol.asyncDispose]());
    return access.open({ keyText: key });
  };
  return { url, client, opened };
}

function* chunks(...texts: readonly string[]) {
  yield* texts;
}

const manifest = (value: JsonObject): SourceManifest & Manifest => ({
  ...declare(value),
  digest: JSON.stringify(value),
});
const teamOf = (name: string, nth = 0): JsonObject => ({ type: "team", name, members: [`${nth}@example.com`] });
const apiOf = (name: string, nth = 0): JsonObject => service({ name, workspace_fqn: "c1x:ws1", replicas: nth + 1 });
const declared: readonly JsonObject[] = [
  { type: "cluster", name: "c1x", cluster_type: "generic", base_domains: [] },
  { type: "workspace", name: "ws1", cluster_fqn: "c1x" },
  apiOf("api"),
  apiOf("web"),
  teamOf("ml"),
];
const paths: { readonly [type: string]: string } = { service: "/api/svc/v1/apps", team: "/api/svc/v1/teams" };

/** A control plane with everything applied, and processes that share a state. */
async function settled() {
  const plane = await startControlPlane();
  const proxy = await startCountingProxy(plane);
  const { client, opened } = await database();
  let source: ReadonlyMap<string, JsonObject> = new Map();
  const declareAs = (value: JsonObject) => {
    source = new Map(source).set(manifest(value).identity, value);
  };
  for (const one of declared) declareAs(one);
  const everything = () => [...source.values()].map(manifest);
  const process = async () => {
    const run = await passes(proxy.url, plane.adminToken, await opened());
    const plan = async (options: PassOptions = {}) => {
      const before = proxy.requests().length;
      const result = await run.plan(everything(), options);
      return { result, requests: proxy.requests().slice(before) };
    };
    return { plan, apply: () => run.apply(everything()), session: () => run.session({}) };
  };
  const put = async (value: JsonObject) => {
    const { body } = await plane.admin.put(paths[String(value.type)] ?? "", { manifest: value });
    expect(body).toMatchObject({ data: {} });
  };
  const first = await process();
  expect((await first.apply()).summary).toMatchObject({ created: declared.length });
  return { client, process, first, put, declare: declareAs };
}

const few = ["GET /api/svc/v1/digests"];
const isList = (request: string) => request.includes("limit=1000");
const found = ({ plan, registryOnly, observation }: LivePlan) => ({
  plan,
  registryOnly,
  live: [...observation.live].filter(([, { state }]) => state !== "present").toSorted(),
});

test("what one process has read of live, another one does not read again", async () => {
  const { process, first } = await settled();
  await first.plan();
  expect((await first.plan()).requests).toEqual(few);
  const second = await process();
  const { result, requests } = await second.plan();
  expect(requests).toEqual(few);
  expect(found(result)).toEqual(found((await second.plan({ recalls: false })).result));
});

test("an open session reads what another process has kept since, and what it knows already only once", async () => {
  const { client, process, first, declare: declareAs } = await settled();
  const second = await process();
  await using session = await first.session();
  await first.plan({ session });
  declareAs(teamOf("ml", 3));
  await second.apply();
  expect((await second.plan()).requests.filter(isList)).not.toEqual([]);
  expect((await first.plan({ session })).requests).toEqual(few);
  // Nothing of it is left to read.
  await client.query("UPDATE holdfast.cache SET sealed = ''");
  expect((await first.plan({ session })).requests).toEqual(few);
});

test("two builds have caches of their own, and one that is damaged is read as if there were none", async () => {
  const { client, process, first } = await settled();
  await first.plan();
  const second = await process();
  const newer = { build: "newer" };
  const { result, requests } = await second.plan(newer);
  expect(requests.filter(isList)).not.toEqual([]);
  expect((await second.plan(newer)).requests).toEqual(few);
  expect((await first.plan()).requests).toEqual(few);
  await client.query(
    "UPDATE holdfast.cache SET sealed = overlay(sealed placing '\\x00' from octet_length(sealed) / 2)",
  );
  const damaged = await second.plan(newer);
  expect(damaged.requests.filter(isList)).not.toEqual([]);
  expect(found(damaged.result)).toEqual(found(result));
  expect((await second.plan(newer)).requests).toEqual(few);
});

test("a cache is not read with another key, and does not show what is in it", async () => {
  const { client, opened } = await database();
  const state = await opened();
  expect(await state.cache("one", "this").write(chunks("team/ml"))).toBeNull();
  const other = await opened({ key: "22".repeat(32) });
  expect(await other.cache("one", "this").readNew()).toBeNull();
  const { rows } = await client.query("SELECT encode(sealed, 'escape') AS text FROM holdfast.cache");
  expect(rows).toHaveLength(1);
  expect(rows[0].text).not.toContain("team/ml");
  expect(await (await opened()).cache("one", "this").readNew()).toBe("team/ml");
});

test("a cache that is not used for a day goes when another one is written", async () => {
  const { client, opened } = await database();
  const state = await opened();
  for (const about of ["former build", "other build"]) await state.cache("one", about).write(chunks(about));
  await client.query(
    "UPDATE holdfast.cache SET written_at = now() - interval '25 hours' WHERE about IN ('former build', 'this build')",
  );
  await state.cache("one", "this build").write(chunks("this"));
  const { rows } = await client.query("SELECT about FROM holdfast.cache ORDER BY about");
  expect(rows.map(({ about }) => about)).toEqual(["other build", "this build"]);
});

test("a cache is written beside the writes of a holder of the lock, also by who has lost it, and at once by several", async () => {
  const { client, opened } = await database();
  const [holder, late] = [await opened(), await opened()];
  await using _ = await holder.lock();
  // As a process that takes over.
  await client.query("BEGIN");
  await client.query("SELECT 1 FROM holdfast.writer FOR UPDATE");
  const caches = [holder, late, holder, late].map((state) => state.cache("one", "this"));
  const written = caches.map((cache, nth) => cache.write(chunks(`${nth} `.repeat(200_000))));
  expect(await Promise.all(written)).toEqual([null, null, null, null]);
  await client.query("ROLLBACK");
  expect(await (await opened()).cache("one", "this").readNew()).toMatch(/^([0-3] )\1+$/);
});

test("a database that is away, or lacks the table, costs a pass its cache and no more than a limited time", async () => {
  const { url, client, opened } = await database();
  const proxy = await startBreakableProxy(Number(new URL(url).port));
  const address = new URL(url);
  address.hostname = "127.0.0.1";
  address.port = `${proxy.port}`;
  const clock = { ...machine.clock, timeout: (milliseconds: number) => machine.clock.timeout(milliseconds / 50) };
  const state = await opened({ address: address.href, clock });
  await state.cache("one", "this").write(chunks("kept"));
  proxy.silence();
  const began = clock.monotonic();
  expect(await state.cache("one", "this").readNew()).toBeNull();
  const message = expect.stringMatching(/^postgres:\/\/.*it cannot be reached/);
  expect(await state.cache("one", "this").write(chunks("lost"))).toEqual(message);
  // The driver alone would wait for 15 seconds each time.
  expect(clock.monotonic() - began).toBeLessThan(8000);
  await proxy.restore();
  // What was not waited for any longer may still arrive.
  expect(await (await opened()).cache("one", "this").readNew()).toMatch(/^(kept|lost)$/);
  await client.query("DROP TABLE holdfast.cache");
  const without = (await opened()).cache("one", "this");
  expect(await without.readNew()).toBeNull();
  expect(await without.write(chunks("lost"))).toMatch(/^postgres:/);
});

const names = fc.constantFrom("api", "web", "new");
const step = fc.record({
  does: fc.constantFrom("live", "live", "source", "look", "look", "look", "apply"),
  value: fc.oneof(
    fc.tuple(names, fc.nat(2)).map(([name, nth]) => apiOf(name, nth)),
    fc.tuple(fc.constantFrom("ml", "ops"), fc.nat(2)).map(([name, nth]) => teamOf(name, nth)),
  ),
  by: fc.nat(1),
  isDaemon: fc.boolean(),
});

test("whatever others change in between, two processes find with the cache what they find without it", async () => {
  let skipped = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 16 }), async (all) => {
      const { process, put, declare: declareAs } = await settled();
      const processes = [await process(), await process()];
      const sessions = [await processes[0]?.session(), await processes[1]?.session()];
      for (const { does, value, by, isDaemon } of all) {
        const one = processes[by];
        const session = sessions[by];
        if (one === undefined || session === undefined) throw new TypeError("there are two");
        if (does === "live") await put(value);
        else if (does === "source") declareAs(value);
        else if (does === "apply") await one.apply();
        else {
          const { result, requests } = await one.plan(isDaemon ? { session } : {});
          const cold = await one.plan({ recalls: false });
          if (requests.filter(isList).length < cold.requests.filter(isList).length) skipped += 1;
          expect(found(result)).toEqual(found(cold.result));
        }
      }
      for (const session of sessions) await session?.[Symbol.asyncDispose]();
    }),
    { seed: 40, numRuns: 4 },
  );
  expect(skipped).toBeGreaterThan(10);
});
