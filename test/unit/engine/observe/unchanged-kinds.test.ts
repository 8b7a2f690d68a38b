import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { operation } from "../../../../src/contract/operations.ts";
import type { Manifest } from "../../../../src/core/manifest.ts";
import type { LivePlan } from "../../../../src/engine/plan.ts";
import type { SourceManifest } from "../../../../src/manifests/source-manifest.ts";
import { startControlPlane } from "../../../control-plane.ts";
import { startCountingProxy } from "../../../support/counting-proxy.ts";
import { declare, prompt, service } from "../../core/given.ts";
import { passes } from "../passes.ts";

/** A manifest with the digest that its file would give it; the same value has one, since thousands are declared for each pass. */
const manifest = (value: JsonObject): SourceManifest & Manifest => {
  const before = manifests.get(value);
  if (before !== undefined) return before;
  const made = { ...declare(value), digest: JSON.stringify(value) };
  manifests.set(value, made);
  return made;
};
const manifests = new WeakMap<JsonObject, SourceManifest & Manifest>();

const teamOf = (name: string, nth = 0): JsonObject => ({ type: "team", name, members: [`${nth}@example.com`] });
const apiOf = (name: string, nth = 0): JsonObject => service({ name, workspace_fqn: "c1x:ws1", replicas: nth + 1 });
const promptOf = (version: number): JsonObject => prompt({ ml_repo: "repo", version });

const base: readonly JsonObject[] = [
  { type: "cluster", name: "c1x", cluster_type: "generic", base_domains: [] },
  { type: "workspace", name: "ws1", cluster_fqn: "c1x" },
  { type: "ml-repo", name: "repo" },
];
const declared = [...base, apiOf("api"), apiOf("web"), teamOf("ml"), promptOf(1)];

const paths: { readonly [type: string]: string } = {
  service: "/api/svc/v1/apps",
  team: "/api/svc/v1/teams",
  chat_prompt: "/api/ml/v1/prompt-versions",
  cluster: "/api/svc/v1/clusters",
  workspace: "/api/svc/v1/workspaces",
  "ml-repo": "/api/svc/v1/ml-repos",
};

const CALLER = operation("getCaller").path;
const isDigest = (path: string) => path.startsWith("/api/svc/v1/digests");
const isList = (request: string) => request.startsWith("GET ") && request.includes("limit=1000");

/** What is answered in place of the control plane, and what happens after the next list was read. */
type Told = {
  digest: Answer | null;
  /** Whom the digests name; undefined for the caller itself, null for nobody. */
  named: JsonObject | null | undefined;
  afterList: (() => Promise<unknown>) | null;
};

type Answer = { readonly status: number; readonly body: unknown };

/** A control plane with everything applied, and passes over it through a proxy that may say something else. */
async function settled(manifests: readonly JsonObject[] = declared) {
  const plane = await startControlPlane();
  const told: Told = { digest: null, named: undefined, afterList: null };
  const proxy = await startCountingProxy(plane, {
    answer: (path) => (isDigest(path) ? told.digest : null),
    replace: (path, reply) => {
      if (!isDigest(path) || told.named === undefined) return reply;
      const { data } = JSON.parse(reply);
      const { caller: _, ...others } = data;
      return JSON.stringify({ data: told.named === null ? others : { ...others, caller: told.named } });
    },
    answered: async (path) => {
      if (!isList(`GET ${path}`)) return;
      const { afterList } = told;
      told.afterList = null;
      await afterList?.();
    },
  });
  const put = async (value: JsonObject) => {
    const { body } = await plane.admin.put(paths[String(value.type)] ?? "", { manifest: value });
    expect(body).toMatchObject({ data: {} });
  };
  const run = await passes(proxy.url, plane.adminToken);
  let source: ReadonlyMap<string, JsonObject> = new Map();
  const declare = (value: JsonObject) => {
    source = new Map(source).set(manifest(value).identity, value);
  };
  for (const one of manifests) declare(one);
  const everything = () => [...source.values()].map(manifest);
  expect((await run.apply(everything())).summary).toMatchObject({ created: manifests.length });
  const asked = async <Result>(pass: () => Promise<Result>) => {
    const before = proxy.requests().length;
    const result = await pass();
    return { result, requests: proxy.requests().slice(before) };
  };
  const cache = join(run.folder, "cache");
  return {
    plane,
    told,
    put,
    declare,
    undeclare: (identity: string) => {
      source = new Map([...source].filter(([one]) => one !== identity));
    },
    apply: () => run.apply(everything()),
    warm: () => asked(() => run.plan(everything())),
    cold: () => asked(() => run.plan(everything(), { recalls: false })),
    /** What an earlier pass knows of live, where the control plane has no digests. */
    withoutRoute: async () => {
      const kept = join(run.folder, "kept");
      await cp(cache, kept, { recursive: true });
      told.digest = { status: 404, body: { statusCode: 404, message: "no such route", code: "route-not-found" } };
      const found = await asked(() => run.plan(everything()));
      told.digest = null;
      await rm(cache, { recursive: true });
      await cp(kept, cache, { recursive: true });
      return found;
    },
  };
}

const found = ({ plan, registryOnly, observation }: LivePlan) => ({
  plan,
  registryOnly,
  live: [...observation.live].filter(([, { state }]) => state !== "present").toSorted(),
});

/** Compares what two passes have found: first by what is quick, and where that tells them apart by what says how. */
function expectSameFound(one: LivePlan, other: LivePlan): void {
  const [actual, expected] = [found(one), found(other)];
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}

/** A pass with nothing to do, after which everything is known. */
async function known(manifests?: readonly JsonObject[]) {
  const one = await settled(manifests);
  await one.warm();
  await one.warm();
  return one;
}

describe("a pass over kinds whose digest is the same", () => {
  test("reads no list, and finds what reading them finds", async () => {
    const { warm, cold } = await known();
    const { result, requests } = await warm();
    expect(requests).toEqual(["GET /api/svc/v1/digests"]);
    const again = await cold();
    expect(again.requests.filter(isDigestRequest)).toEqual([]);
    expect(found(result)).toEqual(found(again.result));
  });

  test("asks who the caller is where the digests do not name it", async () => {
    const { warm, told } = await known();
    told.named = null;
    expect((await warm()).requests).toEqual(["GET /api/svc/v1/digests", `GET ${CALLER}`]);
  });

  test("reads the list of each kind that has changed, and by its name what the source alone has changed", async () => {
    const { warm, cold, put, declare } = await known();
    await put(teamOf("ml", 7));
    declare(apiOf("web", 3));
    const { result, requests } = await warm();
    expect(requests.filter(isList).toSorted()).toEqual([
      "GET /api/svc/v1/apps?applicationType=service&fqn=c1x%3Aws1%3Aweb&limit=1000&offset=0",
      "GET /api/svc/v1/teams?limit=1000&offset=0",
    ]);
    expect(result.plan.summary).toMatchObject({ update: 2, drift: 1 });
    expectSameFound(result, (await cold()).result);
  });

  test("asks the digests of the workspaces that it has resources in, where those of other targets have changed", async () => {
    const { warm, cold, put } = await known();
    const elsewhere = { workspace_fqn: "c1x:other" };
    await put({ type: "workspace", name: "other", cluster_fqn: "c1x" });
    for (const nth of [1, 2]) {
      await put({ ...apiOf("api", nth), ...elsewhere });
      const { result, requests } = await warm();
      expect(requests.filter((one) => one.includes("/apps"))).toEqual([]);
      expect(requests.filter(isDigestRequest)).toEqual([
        "GET /api/svc/v1/digests",
        "GET /api/svc/v1/digests?prefix=service%2Fc1x%3Aws1%2F",
      ]);
      expect(result.plan.summary).toMatchObject({ keep: declared.length });
    }
    await put(apiOf("api", 4));
    const { result, requests } = await warm();
    expect(requests.filter(isList)).toEqual([
      "GET /api/svc/v1/apps?applicationType=service&workspaceFqn=c1x%3Aws1&limit=1000&offset=0",
    ]);
    expect(result.plan.summary).toMatchObject({ update: 1, drift: 1 });
    expectSameFound(result, (await cold()).result);
  });

  test("finds in the next pass what has changed after its list was read", async () => {
    const { warm, cold, put, told } = await known();
    for (const nth of [2, 3]) {
      await put(teamOf("ml", 1));
      await put(teamOf("ml"));
      told.afterList = () => put(teamOf("ml", nth));
      expect((await warm()).result.plan.summary).toMatchObject({ keep: declared.length });
      const { result } = await warm();
      expect(result.plan.summary).toMatchObject({ update: 1, drift: 1 });
      expectSameFound(result, (await cold()).result);
    }
  });
});

const isDigestRequest = (request: string) => isDigest(request.replace("GET ", ""));

describe("lists are read as without digests", () => {
  const reply = (data: unknown): Answer => ({ status: 200, body: { data } });
  const children = (...all: readonly unknown[]) => reply({ digest: "d", count: 9, children: all });
  test.each<{ readonly where: string; readonly digest: Answer }>([
    { where: "the caller may not see everything", digest: { status: 403, body: { statusCode: 403, message: "no" } } },
    { where: "the answer is another object", digest: reply({ digest: "d" }) },
    { where: "the answer has no ranges", digest: reply({ digest: "d", count: 9 }) },
    {
      where: "a range has no digest",
      digest: children({ prefix: "team/", count: 1 }, { prefix: "more/", digest: "d", count: 8 }),
    },
    { where: "the counts contradict each other", digest: children({ prefix: "team/", digest: "d", count: 1 }) },
    {
      where: "one range is named twice",
      digest: children({ prefix: "team/", digest: "d", count: 8 }, { prefix: "team/", digest: "d", count: 1 }),
    },
  ])("where $where", async ({ digest }) => {
    const { warm, cold, told } = await known();
    told.digest = digest;
    await warm();
    const { result, requests } = await warm();
    expect(requests.filter(isList).length).toBe(6);
    expectSameFound(result, (await cold()).result);
  });

  test("where the digest is about more resources than the list shows", async () => {
    const { warm, told } = await known();
    const teams = async () => (await warm()).requests.filter((one) => one.includes("/teams"));
    expect(await teams()).toHaveLength(0);
    told.digest = children({ prefix: "team/", digest: "d", count: 9 });
    await warm();
    expect(await teams()).toHaveLength(1);
    told.digest = reply({ digest: "d", count: 1, children: [{ prefix: "team/", digest: "d", count: 1 }] });
    await warm();
    expect(await teams()).toHaveLength(0);
  });

  test("where the caller has other rights than when they were read", async () => {
    const { warm, told } = await known();
    const as = (subject: string, role: string): JsonObject => {
      return { subject, tenantName: "holdfast", roles: [{ role, resourceType: "tenant", resourceFqn: "holdfast" }] };
    };
    const lists = async () => (await warm()).requests.filter(isList).length;
    for (const caller of [as("user:admin", "tenant-viewer"), as("user:other", "tenant-viewer"), {}]) {
      told.named = caller;
      expect(await lists()).toBe(6);
    }
    told.named = undefined;
    await warm();
    expect(await lists()).toBe(0);
  });
});

const names = fc.constantFrom("api", "web", "new");
const steps = fc.oneof(
  fc.record({
    do: fc.constantFrom("live" as const, "source" as const, "meanwhile" as const),
    value: fc.oneof(
      fc.tuple(names, fc.nat(2)).map(([name, nth]) => apiOf(name, nth)),
      fc.tuple(fc.constantFrom("ml", "ops"), fc.nat(2)).map(([name, nth]) => teamOf(name, nth)),
      fc.integer({ min: 1, max: 2 }).map((version) => promptOf(version)),
    ),
  }),
  fc.record({ do: fc.constantFrom("look" as const, "look" as const, "apply" as const) }),
  fc.record({
    do: fc.constant("elsewhere" as const),
    value: fc.nat(2).map((nth): JsonObject => ({ ...apiOf("api", nth), workspace_fqn: "c1x:other" })),
  }),
  fc.record({
    do: fc.constant("drop" as const),
    identity: fc.constantFrom("service/c1x:ws1/web", "team/ops", "team/ml"),
  }),
);

test("whatever changes in live or in the source, a pass with digests finds what one without them finds", async () => {
  let skipped = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 4, maxLength: 14 }), async (all) => {
      const one = await settled();
      await one.put({ type: "workspace", name: "other", cluster_fqn: "c1x" });
      for (const step of all) {
        if (step.do === "live" || step.do === "elsewhere") await one.put(step.value);
        else if (step.do === "source") one.declare(step.value);
        else if (step.do === "drop") one.undeclare(step.identity);
        else if (step.do === "apply") await one.apply();
        else if (step.do === "meanwhile") {
          // After an apply the lists show what is in sync, and are read since it has written.
          await one.apply();
          one.told.afterList = () => one.put(step.value);
          await one.warm();
          one.told.afterList = null;
        } else {
          const without = await one.withoutRoute();
          const { result, requests } = await one.warm();
          if (requests.filter(isList).length < without.requests.filter(isList).length) skipped += 1;
          const cold = found((await one.cold()).result);
          expect(found(result)).toEqual(cold);
          expect(found(without.result)).toEqual(cold);
        }
      }
      await one.plane.close();
    }),
    { seed: 15, numRuns: 20 },
  );
  expect(skipped).toBeGreaterThan(10);
});

describe("a list of more than a page", () => {
  const workspaces = ["c1x:ws1", "c1x:ws2", "c1x:ws3", "c2x:ws4"];
  const inWorkspace = (workspace_fqn: string, nth: number, replicas = 1): JsonObject =>
    service({ name: `api-${nth}`, workspace_fqn, replicas });
  const workspaceOf = (fqn: string): JsonObject => {
    const [cluster_fqn = "", name = ""] = fqn.split(":");
    return { type: "workspace", name, cluster_fqn };
  };
  const long = [
    ...base,
    { ...base[0], name: "c2x" },
    ...workspaces.slice(1).map(workspaceOf),
    ...workspaces.flatMap((fqn) => Array.from({ length: 520 }, (_, nth) => inWorkspace(fqn, nth))),
  ];
  const within = (fqn: string) =>
    `GET /api/svc/v1/apps?applicationType=service&workspaceFqn=${encodeURIComponent(fqn)}&limit=1000&offset=0`;

  test("is read only where workspaces have changed", async () => {
    const { warm, cold, put, apply } = await known(long);
    await put(inWorkspace("c1x:ws1", 7, 3));
    const { result, requests } = await warm();
    expect(requests.filter(isList)).toEqual([within("c1x:ws1")]);
    expect(requests.filter(isDigestRequest)).toEqual([
      "GET /api/svc/v1/digests",
      "GET /api/svc/v1/digests?prefix=service%2F",
      "GET /api/svc/v1/digests?prefix=service%2Fc1x%3A",
    ]);
    expect(result.plan.summary).toMatchObject({ keep: long.length - 1, update: 1, drift: 1 });
    expectSameFound(result, (await cold()).result);
    await apply();
    // What the apply has written, and from then on nothing.
    expect((await warm()).requests.filter(isList)).toEqual([within("c1x:ws1")]);
    expect((await warm()).requests.filter(isList)).toEqual([]);
  });

  test("is found as it is, whatever changes in which workspace", async () => {
    const one = await known(long);
    const change = fc.record({
      where: fc.constantFrom(...workspaces, "c1x:new"),
      nth: fc.integer({ min: 515, max: 522 }),
      replicas: fc.integer({ min: 1, max: 3 }),
      does: fc.constantFrom(
        "live" as const,
        "live" as const,
        "source" as const,
        "meanwhile" as const,
        "apply" as const,
      ),
    });
    await one.put(workspaceOf("c1x:new"));
    let narrowed = 0;
    for (const { where, nth, replicas, does } of fc.sample(change, { seed: 40, numRuns: 24 })) {
      const value = inWorkspace(where, nth, replicas);
      if (does === "live") await one.put(value);
      if (does === "source") one.declare(value);
      if (does === "apply" || does === "meanwhile") await one.apply();
      if (does === "meanwhile") {
        one.told.afterList = () => one.put(value);
        await one.warm();
        one.told.afterList = null;
      }
      const { result, requests } = await one.warm();
      if (requests.some((request) => request.includes("workspaceFqn"))) narrowed += 1;
      expectSameFound(result, (await one.cold()).result);
    }
    expect(narrowed).toBeGreaterThan(6);
  });
});
