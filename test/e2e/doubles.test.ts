import { describe, expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { eventually } from "../support/eventually.ts";
import { startHoldingProxy } from "../support/holding-proxy.ts";
import { reportOf } from "../support/json-output.ts";
import { account, type Files, foundations, prompt, service, team } from "../support/manifests.ts";
import type { Ended } from "../support/process.ts";
import { startProxyWithoutIdempotency } from "../support/proxy-without-idempotency.ts";
import { type Server, serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";

const APPS = "/api/svc/v1/apps";
const flags = ["apply", "--yes", "--sink", "file"];

/** What became of a resource, and why. */
function fateOf(ended: Ended, identity: string): readonly unknown[] {
  const outcome = reportOf(ended).outcomes.findLast((one) => one.identity === identity);
  return [outcome?.result, outcome?.error?.code ?? null];
}

describe.each(controlPlaneVariants)("on a $name control plane that takes no keys", (plane) => {
  test("F78 a new account whose reply carries no token fails, with the ways out, and is not made again", async () => {
    const server = await plane.serve();
    const way = await startProxyWithoutIdempotency(server);
    way.manners.dropsTokens = true;
    const source = await sourceOf({ ...foundations, "account.yaml": account("ci") }, server);
    const through = [...flags, "--server", way.url];
    const ended = await source.runHere([...through, "-o", "json"]);
    expect(ended.code).toBe(7);
    expect(fateOf(ended, "virtual-account/ci")).toEqual(["failed", "token-lost"]);
    expect(ended.stdout).toContain("use a new account name, or give it a secret_store_config");
    const before = server.effects();
    expect(await source.runHere(through)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("\nApplied: 4 unchanged\n"),
    });
    expect(server.effects()).toEqual(before);
  });

  test("F78 an account that was there before has lost no token", async () => {
    const server = await plane.serve();
    const source = await sourceOf({ ...foundations, "account.yaml": account("ci") }, server);
    expect(await source.runHere(flags)).toMatchObject({ code: 0 });
    const way = await startProxyWithoutIdempotency(server);
    // The `Date` of a reply tells the second: one that was made in the same would pass for new.
    const made = Date.now();
    await eventually("the next second", () => Date.now() > made + 1_000);
    expect(await source.runHere([...flags, "--state", "fresh", "--server", way.url])).toMatchObject({ code: 0 });
  });

  test("F78 an account that the same state has just made has lost no token when it is changed", async () => {
    const server = await plane.serve();
    const way = await startProxyWithoutIdempotency(server);
    const source = await sourceOf({ ...foundations, "account.yaml": account("ci") }, server);
    const through = [...flags, "--server", way.url];
    expect(await source.runHere(through)).toMatchObject({ code: 0 });
    await source.write("account.yaml", `${account("ci")}expiration_date: "2030-01-01"\n`);
    const ended = await source.runHere([...through, "-o", "json"]);
    expect(fateOf(ended, "virtual-account/ci")).toEqual(["updated", null]);
  });

  test("F78 an account that somebody has just made has lost no token, where a dryRun is known to change nothing", async () => {
    const server = await plane.serve();
    const way = await startProxyWithoutIdempotency(server);
    const source = await sourceOf(
      { ...foundations, "api.yaml": service("api"), "account.yaml": account("ci") },
      server,
    );
    expect(await source.runHere([...flags, "--kind", "service"])).toMatchObject({ code: 0 });
    const permissions = [{ resource_fqn: "dev:web", resource_type: "workspace", role_id: "workspace-viewer" }];
    await server.call("PUT", "/api/svc/v1/virtual-accounts", {
      manifest: { type: "virtual-account", name: "ci", permissions },
    });
    const ended = await source.runHere([...flags, "--server", way.url]);
    expect(ended).toMatchObject({ code: 0 });
  });

  test.each([
    { what: "the second reply", reply: 2 },
    { what: "the first reply", reply: 1 },
  ] as const)("F78 a deployment that was made twice is told with both versions, from $what", async ({ reply }) => {
    const server = await plane.serve();
    const way = await startProxyWithoutIdempotency(server);
    const source = await sourceOf({ ...foundations, "api.yaml": service("api") }, server);
    const through = [...flags, "--server", way.url];
    way.manners.twice = { path: APPS, reply };
    const ended = await source.runHere([...through, "-o", "json"]);
    expect(fateOf(ended, "service/dev:web/api")).toEqual(["created", "duplicate-version"]);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain("versions 1 and 2 of service/dev:web/api were created by one write");
    way.manners.twice = null;
    await source.write("api.yaml", service("api", "replicas: 2\n"));
    expect((await source.runHere(through)).stdout).toMatch(/^Applied: 1 updated/m);
  });
});

/** Two sources with state folders of their own, the same manifests and the same token; the first one's way has a gate. */
async function twoWriters(files: Files) {
  const { folder } = await sourceOf(foundations);
  const server = await serve(["--documented-only", "--seed", folder]);
  const gate = await startHoldingProxy(server);
  const [first, second] = [await sourceOf(files, { ...server, url: gate.url }), await sourceOf(files, server)];
  for (const source of [first, second]) expect(await source.runHere(flags)).toMatchObject({ code: 0 });
  return { server, gate, first, second };
}

async function versionsOf({ call }: Server, name: string): Promise<number> {
  const manifest = { type: "service", name, workspace_fqn: "dev:web", image: { type: "image", image_uri: "x" } };
  const { data } = await call("PUT", APPS, { manifest, dryRun: true });
  return (await call("GET", `${APPS}/${data.applicationId}/deployments`)).pagination.total;
}

async function scale(source: Source, names: readonly string[], replicas: number): Promise<void> {
  for (const name of names) await source.write(`${name}.yaml`, service(name, `replicas: ${replicas}\n`));
}

describe("two state folders on a control plane without leases", () => {
  const names = ["one", "two", "three"];
  const files: Files = { ...foundations, ...Object.fromEntries(names.map((name) => [`${name}.yaml`, service(name)])) };
  const through = [...flags, "--no-wait", "--concurrency", "1", "-o", "json"];

  test("F84 are noticed by versions of the same token that the ledger does not know, in apply and in watch", async () => {
    const { server, first, second } = await twoWriters({ ...files, "prompt.yaml": prompt("greeting", "Be kind.") });
    const calm = await first.runHere(flags);
    expect(calm.stderr).toBe("");
    await scale(second, ["one"], 2);
    await second.write("prompt.yaml", prompt("greeting", "Be kinder."));
    const unnoticed = await second.runHere(flags);
    expect(unnoticed.code).toBe(0);
    expect(unnoticed.stderr).not.toContain("another writer");
    await scale(first, ["one"], 2);
    const warned = await first.runHere(flags);
    expect(warned.code).toBe(0);
    expect(warned.stderr).toContain(
      "another writer may be at work: version 2 of service/dev:web/one was just created with this token, and this state folder's ledger knows 1 as the newest [other-writer]",
    );
    expect(warned.stderr).toContain("version 2 of chat_prompt/registry/greeting");
    // What it has seen it knows.
    expect((await first.runHere(flags)).stderr).toBe("");

    const watch = second.start(["watch", "--sink", "file"]);
    await watch.shows("stderr", /another writer may be at work: version 3 of chat_prompt\/registry\/greeting/);
    watch.kill("SIGTERM");
    expect(await watch.ended).toMatchObject({ code: 0 });
    expect(await versionsOf(server, "one")).toBe(2);
  });

  test("F84 stop the one that finds the other's version right before it sends its own, and nothing is doubled", async () => {
    const { server, gate, first, second } = await twoWriters({ ...files, "team.yaml": team("ml") });
    for (const source of [first, second]) await scale(source, names, 2);
    await first.write("team.yaml", team("ml", "grace@example.com"));
    // The other one writes while the reply to the first write of this one is late.
    const held = gate.hold("PUT", "/api/svc/v1/teams");
    const apply = first.start(through);
    await held;
    expect(await second.runHere(flags)).toMatchObject({ code: 0 });
    await gate.letGo();
    const ended = await apply.ended;
    expect(ended.code).toBe(8);
    expect(reportOf(ended).summary).toMatchObject({ failed: 1, skipped: 2 });
    expect(reportOf(ended).outcomes.flatMap(({ error }) => error?.code ?? [])).toEqual([
      "other-writer",
      "stopped",
      "stopped",
    ]);
    for (const name of names) expect([name, await versionsOf(server, name)]).toEqual([name, 2]);
  });

  test("F84 stop the one whose request arrives after the other's, and only that version is doubled", async () => {
    const { server, gate, first, second } = await twoWriters(files);
    for (const source of [first, second]) await scale(source, names, 2);
    const held = gate.delay("PUT", APPS);
    const watch = first.start(["watch", "--no-wait", "--concurrency", "1", "--sink", "file"]);
    await held;
    expect(await second.runHere(flags)).toMatchObject({ code: 0 });
    await gate.letGo();
    const ended = await watch.ended;
    expect(ended.code).toBe(8);
    expect(ended.stdout.replaceAll(/\s+/g, " ")).toContain("versions 2 and 3 of service/dev:web/");
    expect(ended.stderr).toContain("error: another writer is at work, and this control plane has no leases");
    const versions = await Promise.all(names.map((name) => versionsOf(server, name)));
    expect(versions.toSorted()).toEqual([2, 2, 3]);
  });
});
