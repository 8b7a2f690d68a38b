import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { answer, emptyList, type Fault, faultProxy, htmlPage } from "../support/fault-proxy.ts";
import { startHoldingProxy } from "../support/holding-proxy.ts";
import { driftOf, planOf, reportOf } from "../support/json-output.ts";
import { everyKind, type Files, foundations, model, service, team } from "../support/manifests.ts";
import { type Server, serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const full = { ...everyKind, "services/worker.yaml": service("worker") };

async function proxied(server: Server, files: Files = full) {
  const proxy = await faultProxy(server);
  return { server, proxy, source: await sourceOf(files, proxy.server) };
}

async function applied() {
  const one = await proxied(await serve());
  expect(await one.source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  return one;
}

const documentedOnly = (): Promise<Server> => {
  const plane = controlPlaneVariants.find(({ name }) => name === "documented-only");
  if (plane === undefined) throw new TypeError("no such plane");
  return plane.serve();
};

const unclear = "the answer may come from the control plane or from a proxy in between";

describe("a stray page on a list", () => {
  test("F73 leaves the pass incomplete, and the next one sees what has changed", async () => {
    const { server, proxy, source } = await applied();
    const manifest = { type: "team", name: "ml", members: ["mallory@example.com"] };
    await server.call("PUT", "/api/svc/v1/teams", { manifest });
    for (const command of ["plan", "drift"]) {
      const { hits } = proxy.inject("listTeams", htmlPage(404), { times: 1 });
      const once = "the proxy answers one request otherwise";
      const ended = await source.runHere([command, "-o", "json"], {}, { once });
      expect(hits()).toBe(1);
      expect(ended.code).toBe(1);
      const { complete, diagnostics } = command === "plan" ? planOf(ended) : driftOf(ended);
      expect(complete).toBe(false);
      expect(diagnostics[0]).toMatchObject({ severity: "error", code: "unreadable" });
      expect(diagnostics[0]?.summary).toContain(`GET /api/svc/v1/teams answered 404: ${unclear}`);
    }
    const { steps, complete } = planOf(await source.runHere(["plan", "-o", "json"]));
    expect(complete).toBe(true);
    expect(steps).toMatchObject([{ identity: "team/ml", action: "update" }]);
    expect(driftOf(await source.runHere(["drift", "-o", "json"])).summary).toMatchObject({ drifted: 1, unknown: 0 });
  });

  test("F73 is told in text, and nothing is decided about what could not be read", async () => {
    const { server, proxy, source } = await applied();
    const before = server.effects();
    await source.write("team.yaml", team("ml", "grace@example.com"));
    await source.write("services/api.yaml", service("api", "replicas: 3\n"));
    proxy.inject("listTeams", htmlPage(404));
    const ended = await source.runHere(["apply", "--yes"]);
    expect(ended.code).toBe(7);
    expect(ended.stderr).toContain(unclear);
    expect(ended.stdout).toMatch(/blocked {3}team\/ml/);
    expect(
      server
        .effects()
        .slice(before.length)
        .map(({ resource }) => resource),
    ).toEqual(["service/dev:web/api"]);
    proxy.heal();
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  });

  test("F73 that an earlier release has learned from is forgotten", async () => {
    const { source } = await applied();
    const ledger = new DatabaseSync(join(source.folder, ".holdfast", "ledger.db"));
    const routes = { listTeams: "no", listApps: "no", putLease: "no", putWorkspace: "no" };
    ledger.prepare("UPDATE server SET facts = json_patch(facts, ?)").run(JSON.stringify({ routes }));
    ledger.close();
    const { diagnostics, summary } = planOf(await source.runHere(["plan", "-o", "json"]));
    expect([diagnostics, summary.keep]).toEqual([[], Object.keys(full).length]);
  });
});

describe("a stray page on a lease", () => {
  test.each([
    ["a missing route", htmlPage(404)],
    ["a method that is not allowed", htmlPage(405)],
    ["a forbidden page", htmlPage(403)],
    ["a log-in page", htmlPage(200)],
  ])("F73 that tells of %s writes nothing, whether leases were seen before or not", async (_, page) => {
    const { server, proxy, source } = await applied();
    const before = server.effects();
    await source.write("services/api.yaml", service("api", "replicas: 3\n"));
    proxy.inject("putLease", page);
    for (const state of [".holdfast", "fresh"]) {
      const ended = await source.runHere(["apply", "--yes", "--state", state]);
      expect(ended.code).toBe(1);
      expect(ended.stderr).toContain("error: nothing was written: the lease on holdfast could not be taken: ");
    }
    expect(server.effects()).toEqual(before);
    proxy.heal();
    expect(await source.runHere(["apply", "--yes", "-o", "json"])).toMatchObject({ code: 0 });
    expect(server.effects()).toHaveLength(before.length + 1);
  });

  test("F73 lets no second writer in beside the first", async () => {
    const server = await serve();
    const first = await sourceOf(full, server);
    const gate = await startHoldingProxy(server);
    const held = gate.hold("PUT", "/api/svc/v1/workspaces");
    const apply = first.start(["apply", "--yes", "--no-wait", "--request-timeout", "20"], {
      HOLDFAST_SERVER: gate.url,
    });
    await held;
    const { proxy, source } = await proxied(server);
    proxy.inject("putLease", htmlPage(404));
    expect(await source.runHere(["apply", "--yes", "--no-wait"])).toMatchObject({ code: 1 });
    gate.letGo();
    expect(await apply.ended).toMatchObject({ code: 0 });
    const resources = server.effects().map(({ resource }) => resource);
    expect(resources).toHaveLength(Object.keys(full).length);
    expect(new Set(resources).size).toBe(resources.length);
  });
});

describe("a stray page on a write", () => {
  test("F73 fails that write alone, and makes no kind read-only", async () => {
    const { proxy, source } = await proxied(await serve());
    proxy.inject("putWorkspace", htmlPage(404), { dryRun: false });
    const ended = await source.runHere(["apply", "--yes", "-o", "json"]);
    expect(ended.code).toBe(7);
    const { outcomes } = reportOf(ended);
    expect(outcomes.find(({ identity }) => identity === "workspace/dev:web")).toMatchObject({
      result: "failed",
      error: { code: "route-unclear", message: unclear, status: 404 },
    });
    proxy.heal();
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  });

  test("F73 on its dry run leaves the plan incomplete", async () => {
    const { proxy, source } = await proxied(await serve());
    proxy.inject("putWorkspace", htmlPage(404), { dryRun: true });
    const ended = await source.runHere(["plan", "-o", "json"]);
    expect(ended.code).toBe(1);
    const { complete, steps } = planOf(ended);
    expect(complete).toBe(false);
    expect(steps.find(({ identity }) => identity === "workspace/dev:web")).toMatchObject({ action: "create" });
  });
});

// What unknown routes are answered with by a control plane that is not ours.
const inOwnWords =
  (status: number, type: string, body: string): Fault =>
  async (passing) => {
    const { asked, reply, forward } = passing;
    const answered = await forward();
    const isMissing = /"code":"(?:route-not-found|method-not-allowed)"/.test(answered.body.toString());
    if (!isMissing) return reply.writeHead(answered.status, answered.headers).end(answered.body);
    const [path = ""] = asked.path.split("?");
    return answer(status, body.replace("{path}", path), { "content-type": type })(passing);
  };

describe("a control plane without extensions", () => {
  // What no list shows is not concluded to be absent, so nobody asks for E1 and E7.
  const missing = ["E2", "E3", "E4", "E5", "E6", "E14"];

  const extensionsIn = (notUsed: readonly { readonly extension: string }[]) =>
    notUsed.map(({ extension }) => extension);

  test("F73 is known at once by its own words, and the report names what is not there and what that costs", async () => {
    const { proxy, source } = await proxied(await documentedOnly());
    await source.write("platform/second.yaml", "type: workspace\nname: second\ncluster_fqn: dev\n");
    await source.write("platform/other.yaml", "type: ml-repo\nname: other\n");
    const { complete, notUsed } = JSON.parse((await source.runHere(["plan", "-o", "json"])).stdout);
    expect(complete).toBe(false);
    expect(extensionsIn(notUsed)).toEqual(missing);
    expect(notUsed).toContainEqual({
      extension: "E6",
      operation: "GET /api/svc/v1/teams",
      cost: "the live state of teams is unknown, and the ledger is used instead",
    });
    const section =
      "Not used: extensions that this control plane does not have\n  E2 PUT /api/ml/v1/model-versions: model versions are written only by POST on the same path, and only where that is safe\n";
    expect((await source.runHere(["plan"])).stdout).toContain(section);
    const ended = await source.runHere(["apply", "--yes"]);
    expect(ended.stdout).toContain(section);
    expect(ended.stdout).toContain(
      "  E10 PUT /api/svc/v1/leases/{scope}: nothing but the lock of the state keeps two writers apart\n",
    );
    expect(ended.stderr).toContain(
      "warning: going on without a lease on holdfast: this control plane has no leases [no-lease]\n    nothing but the lock of the state keeps two writers apart\n",
    );
    expect(ended.stderr.match(/going on without a lease/g)).toHaveLength(1);
    // Nobody had to ask for routes that do not exist.
    expect(proxy.asked.filter(({ path }) => path.includes("holdfast-"))).toEqual([]);
    await source.write("team.yaml", team("ml", "grace@example.com"));
    const report = JSON.parse((await source.runHere(["apply", "--yes", "-o", "json"])).stdout);
    // The model version has been made by now, so nobody asked for E2.
    expect(extensionsIn(report.notUsed)).toEqual(["E3", "E4", "E5", "E6", "E14", "E10"]);
  });

  test.each([
    ["plain text", 404, "text/plain", "404 page not found\n"],
    ["a page that names the path", 404, "text/html", "<pre>Cannot find {path}</pre>"],
    ["JSON of another form", 404, "application/json", '{"detail":"Not Found"}'],
  ])("F73 is worked with where it answers unknown routes with %s", async (_, status, type, body) => {
    const { server, proxy, source } = await proxied(await documentedOnly(), everyKind);
    proxy.inject(/./, inOwnWords(status, type, body));
    const untouched = server.effects();
    const strict = await source.runHere(["apply", "--yes", "-o", "json", "--strict"]);
    expect([strict.code, JSON.parse(strict.stdout).diagnostics]).toMatchObject([3, [{ code: "no-lease" }]]);
    expect(server.effects()).toEqual(untouched);
    const first = await source.runHere(["apply", "--yes", "-o", "json"]);
    expect(first.code).toBe(0);
    expect(JSON.parse(first.stdout).diagnostics).toMatchObject([{ severity: "warning", code: "no-lease" }]);
    const before = server.effects();
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("\nApplied: 8 unchanged\n"),
    });
    expect(server.effects()).toEqual(before);
    const { complete, diagnostics, notUsed } = JSON.parse((await source.runHere(["plan", "-o", "json"])).stdout);
    expect([complete, diagnostics]).toEqual([true, []]);
    expect(extensionsIn(notUsed)).toEqual(["E3", "E4", "E5", "E6", "E14"]);
    const drift = JSON.parse((await source.runHere(["drift", "-o", "json"])).stdout);
    expect(drift.notUsed).toEqual(notUsed);
  });

  test("F73 tells a daemon once that there are no leases", async () => {
    const { source } = await proxied(await documentedOnly(), { ...foundations, "team.yaml": team("ml") });
    const watch = source.start(["watch", "--sink", "file", "--no-wait"]);
    await watch.shows("stdout", /^Applied: .*1 created/m);
    await source.write("team.yaml", team("ml", "grace@example.com"));
    await watch.shows("stdout", /updated {3}team\/ml/);
    watch.kill("SIGTERM");
    const { stderr } = await watch.ended;
    expect(stderr.match(/going on without a lease/g)).toHaveLength(1);
    expect(stderr.match(/^ {2}E6 GET/gm)).toHaveLength(1);
  });
});

test("F83 a registered model version is not said to be discarded because one list came back empty", async () => {
  const { server, proxy, source } = await proxied(await documentedOnly(), everyKind);
  const { hits } = proxy.inject(/^GET \/api\/ml\/v1\/model-versions\?.*name=ranker/, emptyList, { times: 1 });
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  expect(hits()).toBe(1);
  // The server is known to register now: a further version may be made.
  await source.write("registry/model.yaml", model("ranker", "step: 2\n"));
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  expect(server.effects().filter(({ operation }) => operation === "5")).toHaveLength(2);
});

describe("a documented-only control plane behind a gateway that answers for it", () => {
  test.each([
    ["the list of workspaces", 404, "listWorkspaces", "workspace/dev:web"],
    ["dry runs of services", 404, "putApp", "service/dev:web/api"],
    ["dry runs of services, forbidden by a page,", 403, "putApp", "service/dev:web/api"],
    ["the list of teams", 404, "listTeams", "team/ml"],
    ["the list of accounts", 404, "listVirtualAccounts", "virtual-account/ci"],
    ["clusters", 404, "getCluster", "cluster/dev"],
  ] as const)(
    "F83 is planned incompletely where %s cannot be read, and nothing of it is ensured",
    async (_, status, operation, identity) => {
      const server = await documentedOnly();
      const { proxy, source } = await proxied(server, everyKind);
      expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
      proxy.inject(operation, htmlPage(status));
      const ended = await source.runHere(["plan", "-o", "json", "--state", "fresh"]);
      expect(ended.code).toBe(1);
      const { complete, steps } = planOf(ended);
      expect(complete).toBe(false);
      expect(steps.find((step) => step.identity === identity)).toMatchObject({ action: "block", reason: "unreadable" });
    },
  );
});
