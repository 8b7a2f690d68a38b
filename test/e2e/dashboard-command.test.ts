import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { stringify } from "yaml";
import type { ResourceGraphReply, TargetReply, TargetStatus } from "../../src/contract/generated/output.ts";
import { startBrowser } from "../support/browser.ts";
import { keyText } from "../support/fleet.ts";
import { statusOf } from "../support/json-output.ts";
import { account, foundations, service, team } from "../support/manifests.ts";
import { ownPostgres } from "../support/own-postgres.ts";
import type { Running } from "../support/process.ts";
import { serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const READY = /^dashboard on (http:\/\/127\.0\.0\.1:\d+)$/m;

async function urlOf(dashboard: Running): Promise<string> {
  const [, url = ""] = await dashboard.shows("stdout", READY);
  return url;
}

async function readTarget(url: string, target: string): Promise<TargetReply> {
  return (await fetch(`${url}/api/v1/targets/${target}`)).json() as Promise<TargetReply>;
}

async function saidOf(operator: Source, env: { readonly [name: string]: string } = {}): Promise<TargetStatus> {
  const [status] = statusOf(await operator.runHere(["status", "-o", "json"], env)).targets;
  if (status === undefined) throw new Error("status shows no target");
  return status;
}

test("the dashboard shows a state without a daemon, and what other processes do reaches the page", async () => {
  const server = await serve();
  const source = await sourceOf({ ...foundations, "api.yaml": service("api") }, server);
  const dashboard = source.start(["dashboard"]);
  const url = await urlOf(dashboard);
  expect((await readTarget(url, "default")).status).toMatchObject({ reason: "NeverRun", lastPass: null });
  const browser = await startBrowser();
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(`${url}/targets/default`);
  await page.locator("h1", { hasText: "Unknown" }).waitFor();
  await page.getByText("live", { exact: true }).waitFor();
  await page.evaluate("window.isSame = true");

  expect(await source.run(["apply", "--yes"])).toMatchObject({ code: 0 });
  await page.locator("h1", { hasText: "Synced Ready" }).waitFor();
  const said = await saidOf(source);
  expect((await readTarget(url, "default")).status).toEqual(said);
  await page.locator(".row .name", { hasText: "service/dev:web/api" }).waitFor();
  // What refers to what is read of the manifests, and again when something has changed.
  const graph = async (): Promise<ResourceGraphReply> =>
    (await fetch(`${url}/api/v1/targets/default/graph`)).json() as Promise<ResourceGraphReply>;
  expect(await graph()).toMatchObject({ references: { manifests: "now", why: null }, total: 4, leftOut: 0 });
  const [first] = (await graph()).nodes.filter(({ identity }) => identity === "service/dev:web/api");
  expect(first).toMatchObject({ state: "recorded", isDeclared: true, hidden: 0 });
  expect((await graph()).edges).toContainEqual({ from: "service/dev:web/api", to: "workspace/dev:web" });
  await page.getByRole("link", { name: "Graph", exact: true }).click();
  await expect.poll(() => page.locator("a.node").count()).toBe(4);
  await page.getByRole("link", { name: "Table", exact: true }).click();
  await source.runHere(["hold", "service/dev:web/api", "--reason", "an incident", "--until", "4h"]);
  await page.locator(".callout", { hasText: "an incident" }).waitFor();
  expect(await page.evaluate("window.isSame")).toBe(true);

  // It only reads, whatever it is asked for.
  for (const method of ["POST", "PUT", "DELETE"])
    expect((await fetch(`${url}/api/v1/targets/default`, { method })).status).toBe(404);
  expect(await (await fetch(`${url}/api/v1/session`)).json()).toMatchObject({ mayAct: false, pageToken: null });
  const asked = { method: "POST", headers: { "content-type": "application/json" }, body: '{"by":"Ada"}' };
  expect((await fetch(`${url}/api/v1/targets/default/reconcile`, asked)).status).toBe(403);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  dashboard.kill("SIGTERM");
  expect(await dashboard.ended).toMatchObject({ code: 0, stdout: `dashboard on ${url}\n` });
});

test("beside a daemon the dashboard says what status says, and neither keeps the other from its state", async () => {
  const server = await serve();
  const upstream = await upstreamOf({ "ml.yaml": team("ml"), "broken.yaml": "type: team\nname: broken\nmembers: 7\n" });
  const operator = await operatorOf(
    {
      sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
      targets: [{ name: "prod", interval: 3600 }],
      dashboard: { hosts: ["holdfast.example.com"] },
    },
    server,
  );
  const dashboard = operator.start(["dashboard", "--listen", "127.0.0.1:0"]);
  const url = await urlOf(dashboard);
  const daemon = operator.start(["watch", "-o", "text"]);
  await expect.poll(async () => (await readTarget(url, "prod")).status.lastPass).not.toBe(null);
  expect((await readTarget(url, "prod")).status).toEqual(await saidOf(operator));
  const commit = await upstream.commit({ "broken.yaml": team("broken") });
  expect(await operator.runHere(["reconcile"])).toMatchObject({ code: 0 });
  await expect.poll(async () => (await readTarget(url, "prod")).status.appliedRevision).toBe(commit);
  daemon.kill("SIGTERM");
  expect(await daemon.ended).toMatchObject({ code: 0 });
  const said = await saidOf(operator);
  await expect.poll(async () => (await readTarget(url, "prod")).status).toEqual(said);
  dashboard.kill("SIGINT");
  expect(await dashboard.ended).toMatchObject({ code: 130 });
});

test("what is refused is in the graph too, whether a daemon has read it or it is read now", async () => {
  const upstream = await upstreamOf({
    ...foundations,
    // A grant on both sides is a cycle.
    "platform/workspace.yaml": `${foundations["platform/workspace.yaml"]}collaborators: [{ subject: "virtualaccount:ci", role_id: workspace-editor }]\n`,
    "ci.yaml": account("ci"),
    "api.yaml": service("api").replace("dev:web", "dev:other"),
  });
  const commit = (await upstream.git("rev-parse", "HEAD")).trim();
  const sources = [{ name: "platform", url: upstream.folder, ref: "main" }];
  const operator = await operatorOf({ sources, targets: [{ name: "prod", interval: 3600 }] }, await serve());
  const daemon = operator.start(["watch", "--listen", "127.0.0.1:0", "-o", "text"]);
  const [, watched = ""] = await daemon.shows("stderr", /^health and metrics on (http:\/\/127\.0\.0\.1:\d+)$/m);
  await expect.poll(async () => (await readTarget(watched, "prod")).status.lastPass).not.toBe(null);
  const dashboard = await urlOf(operator.start(["dashboard"]));
  const graphOf = async (url: string): Promise<ResourceGraphReply> =>
    (await fetch(`${url}/api/v1/targets/prod/graph`)).json() as Promise<ResourceGraphReply>;
  for (const [url, manifests] of [
    [watched, "last-pass"],
    [dashboard, "now"],
  ] as const) {
    const { references, nodes, edges } = await graphOf(url);
    expect(references).toEqual({ manifests, commit, why: null });
    expect(edges.map(({ from, to }) => `${from} → ${to}`).toSorted()).toEqual([
      "service/dev:other/api → workspace/dev:other",
      "virtual-account/ci → workspace/dev:web",
      "workspace/dev:web → cluster/dev",
      "workspace/dev:web → virtual-account/ci",
    ]);
    const states = Object.fromEntries(nodes.map(({ identity, state, isDeclared }) => [identity, [state, isDeclared]]));
    expect(states).toMatchObject({
      "virtual-account/ci": ["invalid", true],
      "workspace/dev:web": ["invalid", true],
      "service/dev:other/api": ["invalid", true],
      "workspace/dev:other": [null, false],
    });
  }
});

test("the dashboard reads a state in a database", async ({ skip }) => {
  const postgres = await ownPostgres(skip);
  const env = { HOLDFAST_STATE: postgres.url, HOLDFAST_STATE_KEY: keyText };
  const source = await sourceOf({ "ml.yaml": team("ml") }, await serve());
  expect(await source.runHere(["apply", "--yes"], env)).toMatchObject({ code: 0 });
  const dashboard = source.start(["dashboard"], env);
  const url = await urlOf(dashboard);
  expect((await readTarget(url, "default")).status).toEqual(await saidOf(source, env));
  dashboard.kill("SIGTERM");
  expect(await dashboard.ended).toMatchObject({ code: 0 });
});

test("the dashboard follows a changed configuration, and keeps the last one that could be used", async () => {
  const server = await serve();
  const upstream = await upstreamOf({ "ml.yaml": team("ml") });
  const sources = [{ name: "platform", url: upstream.folder, ref: "main" }];
  const operator = await operatorOf({ sources, targets: [{ name: "prod" }] }, server);
  const configure = (config: object) => writeFile(operator.config, stringify(config));
  const dashboard = operator.start(["dashboard"]);
  const url = await urlOf(dashboard);
  const browser = await startBrowser();
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(url);
  await page.getByRole("link", { name: "prod" }).first().waitFor();
  await page.getByText("live", { exact: true }).waitFor();
  await page.evaluate("window.isSame = true");
  await configure({ sources, targets: [{ name: "prod" }, { name: "dev" }] });
  await page.getByRole("link", { name: "dev" }).first().waitFor();
  expect((await readTarget(url, "dev")).status).toMatchObject({ target: "dev", reason: "NeverRun" });
  await configure({ sources, targets: [{ name: "prod", nonsense: 1 }] });
  await dashboard.shows("stderr", /the changed configuration is refused: .*operator\.yaml/);
  await page.getByText("The changed configuration is refused; the last valid one is in force").waitFor();
  expect((await readTarget(url, "dev")).status.target).toBe("dev");
  await configure({ sources, targets: [{ name: "prod" }] });
  await page.getByRole("link", { name: "dev" }).first().waitFor({ state: "detached" });
  expect((await fetch(`${url}/api/v1/targets/dev`)).status).toBe(404);
  expect(await page.evaluate("window.isSame")).toBe(true);
  dashboard.kill("SIGTERM");
  expect(await dashboard.ended).toMatchObject({ code: 0 });
});

test("looking at plans that nobody has sent leaves nothing in a database", async ({ skip }) => {
  const postgres = await ownPostgres(skip);
  const server = await serve();
  const upstream = await upstreamOf({ "ml.yaml": team("ml") });
  const operator = await operatorOf(
    { sources: [{ name: "platform", url: upstream.folder, ref: "main" }], targets: [{ name: "prod" }] },
    server,
  );
  const env = { HOLDFAST_STATE: postgres.url, HOLDFAST_STATE_KEY: keyText, HOLDFAST_EXPORT_KEY: keyText };
  expect(await operator.runHere(["apply", "--yes", "--target", "prod"], env)).toMatchObject({ code: 0 });
  const dashboard = operator.start(["dashboard"], env);
  const url = await urlOf(dashboard);
  expect(await (await fetch(`${url}/api/v1/plans`)).json()).toEqual({ plans: [], next: null });
  expect((await fetch(`${url}/api/v1/plans/${"0".repeat(32)}`)).status).toBe(404);
  dashboard.kill("SIGTERM");
  await dashboard.ended;
  const exported = await operator.runHere(["state", "export", "exported"], env);
  expect(exported.stdout).toContain("1 ledger and 0 tokens");
});

test("the dashboard listens on loopback alone, and a token that is set is needed", async () => {
  const { run, start } = await sourceOf({});
  for (const address of ["0.0.0.0:0", "[::]:0", "10.0.0.7:7074", "holdfast.example.com:80"])
    expect(await run(["dashboard", "--listen", address])).toMatchObject({
      code: 3,
      stdout: "",
      stderr: expect.stringContaining(`--listen ${address} is reachable from other machines`),
    });
  const taken = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void taken.close());
  await once(taken, "listening");
  const port = (taken.address() as AddressInfo).port;
  expect(await run(["dashboard", "--listen", `127.0.0.1:${port}`])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("is not possible"),
  });
  const dashboard = start(["dashboard"], { HOLDFAST_UI_TOKEN: "CANARY-page" });
  const url = await urlOf(dashboard);
  expect((await fetch(`${url}/api/v1/targets`)).status).toBe(401);
  const headers = { authorization: "Bearer CANARY-page" };
  expect((await fetch(`${url}/api/v1/targets`, { headers })).status).toBe(200);
});
