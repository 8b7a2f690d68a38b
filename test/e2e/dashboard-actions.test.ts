import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ActionReply, PassesReply, SessionReply, TargetReply } from "../../src/contract/generated/output.ts";
import { startBrowser } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { faultProxy } from "../support/fault-proxy.ts";
import { changed, fleetOf, isAt } from "../support/fleet.ts";
import { temporaryFolder } from "../support/folder.ts";
import { foreignService } from "../support/foreign-service.ts";
import { statusOf } from "../support/json-output.ts";
import { foundations, service } from "../support/manifests.ts";
import { interrupted, writeElsewhere } from "../support/open-write.ts";
import { ownPostgres } from "../support/own-postgres.ts";
import { serve } from "../support/server.ts";
import { guarded } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

test("a person with the token reconciles, holds and releases on the page, and history and control plane name them", async () => {
  const proxy = await faultProxy(await serve());
  const upstream = await upstreamOf({ ...foundations, "api.yaml": service("api") });
  const operator = await operatorOf(
    {
      sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
      targets: [{ name: "prod", interval: 3600 }],
      dashboard: { access: "token" },
    },
    proxy.server,
  );
  const watch = operator.start(["watch", "--listen", "127.0.0.1:0", "-o", "text"], {
    HOLDFAST_UI_TOKEN: "CANARY-page",
  });
  const [, url = ""] = await watch.shows("stderr", /^health and metrics on (http:\/\/127\.0\.0\.1:\d+)$/m);
  const browser = await startBrowser();
  const page = await browser.newPage({ httpCredentials: { username: "Grace", password: "CANARY-page" } });
  page.setDefaultTimeout(60_000);
  await page.goto(`${url}/targets/prod`);
  await page.locator("h1", { hasText: "Synced Ready" }).waitFor();
  const applied = proxy.asked.length;

  // It says what it will do, and does nothing until it is told to.
  const commit = await upstream.commit({ "api.yaml": service("api", "replicas: 3\n") });
  await page.getByRole("button", { name: "Reconcile…" }).click();
  await page.getByText("writes what differs").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  expect(statusOf(await operator.runHere(["status", "-o", "json"])).targets[0]?.wantedRevision).not.toBe(commit);
  await page.getByRole("button", { name: "Reconcile…" }).click();
  expect(await page.getByLabel("Your name").inputValue()).toBe("Grace");
  await page.getByLabel("Your name").fill("Zoë");
  await page.getByRole("button", { name: "Reconcile now" }).dblclick();
  await page.getByText("Done: Zoë: reconcile").waitFor();
  await page
    .locator("dd", { hasText: commit.slice(0, 12) })
    .first()
    .waitFor();
  // Leases are renewed meanwhile too.
  const writes = proxy.asked.slice(applied).filter(({ body }) => body.includes("replicas"));
  const named = writes.filter(({ headers }) => headers["x-holdfast-actor"] === "Zo%C3%AB");
  expect([named.length > 0, named.length]).toEqual([true, writes.length]);
  const before = proxy.asked.slice(0, applied);
  expect(before.filter(({ headers }) => headers["x-holdfast-actor"] !== undefined)).toEqual([]);

  await page.getByRole("button", { name: "Hold…" }).click();
  await page.getByLabel("Resource, or commit").fill("service/dev:web/api");
  await page.getByLabel("Why").fill("incident 12");
  await page.getByRole("button", { name: "Hold now" }).click();
  await page.locator(".callout", { hasText: "incident 12" }).waitFor();
  const [status] = statusOf(await operator.runHere(["status", "-o", "json"])).targets;
  expect(status?.held).toEqual([expect.stringMatching(/^service\/dev:web\/api until \S+: incident 12 \(Zoë\)/)]);

  await page.getByRole("button", { name: "Release…" }).click();
  await page.getByRole("button", { name: "Release now" }).click();
  await page.locator(".callout", { hasText: "incident 12" }).waitFor({ state: "detached" });
  const { stdout } = await operator.runHere(["history"]);
  const actions = stdout.split("\n").filter((line) => line.includes("action"));
  expect(actions).toEqual([
    expect.stringContaining("Zoë: reconcile"),
    expect.stringContaining("Zoë: hold service/dev:web/api until"),
    expect.stringContaining("Zoë: release service/dev:web/api"),
  ]);
  // Without the token nobody acts, and another site's page cannot.
  const path = `${url}/api/v1/targets/prod/reconcile`;
  expect((await fetch(path, { method: "POST" })).status).toBe(401);
  const headers = {
    authorization: "Bearer CANARY-page",
    "content-type": "application/json",
    "idempotency-key": "12345678",
  };
  expect((await fetch(path, { method: "POST", headers, body: '{"by":"Mallory"}' })).status).toBe(403);
});

test("in a fleet every machine takes actions, none does one twice, and the writes name who asked for them", async ({
  skip,
}) => {
  const postgres = await ownPostgres(skip);
  const proxy = await faultProxy(await serve());
  const { upstream, machine } = await fleetOf(postgres, proxy.server, { dashboard: { access: "token" } });
  const flags = ["--listen", "127.0.0.1:0", "--interval", "3600"];
  const machines = await Promise.all([1, 2].map(() => machine(flags, { HOLDFAST_UI_TOKEN: "CANARY-page" })));
  const [first] = machines;
  const begun = (await upstream.git("rev-parse", "HEAD")).trim();
  await expect.poll(async () => isAt(begun)((await first?.status()) ?? [])).toBe(true);
  const authorization = "Bearer CANARY-page";
  const urls = machines.map(({ watch }) => `${/metrics on (\S+)/.exec(watch.stderr())?.[1]}/api/v1`);
  const read = async <Reply>(path: string, at: number): Promise<Reply> =>
    (await fetch(`${urls[at]}${path}`, { headers: { authorization } })).json() as Promise<Reply>;
  // The page's token of one machine is that of the others, since one address may lead to any of them.
  const [session, ...others] = await Promise.all([0, 1].map((at) => read<SessionReply>("/session", at)));
  const { pageToken = null } = session ?? {};
  expect(others).toMatchObject([{ mayAct: true, pageToken }]);
  const act = async (at: number, name: string, body: object, key: string): Promise<ActionReply> => {
    const headers = {
      authorization,
      "content-type": "application/json",
      "x-holdfast-page": pageToken ?? "",
      "idempotency-key": key,
    };
    const asked = { method: "POST", headers, body: JSON.stringify(body) };
    return (await fetch(`${urls[at]}/targets/a/${name}`, asked)).json() as Promise<ActionReply>;
  };
  const hold = { by: "Ada", what: "team/a", reason: "incident 12", until: "4h" };
  expect(await act(0, "hold", hold, "key-hold")).toMatchObject({ isRepeated: false });
  expect(await act(1, "hold", hold, "key-hold")).toMatchObject({ isRepeated: true });
  const heldBy = async (at: number) => (await read<TargetReply>("/targets/a", at)).holds.map(({ by }) => by);
  expect([await heldBy(0), await heldBy(1)]).toEqual([["Ada"], ["Ada"]]);
  const before = proxy.asked.length;
  const commit = await upstream.commit(changed("grace@example.com"));
  expect(await act(1, "release", { by: "Grace", what: "team/a" }, "key-release")).toMatchObject({ isRepeated: false });
  const appliedOn = async () => (await read<TargetReply>("/targets/a", 0)).status.appliedRevision;
  await expect.poll(appliedOn).toBe(commit);
  const writes = proxy.asked.slice(before).filter(({ method, body }) => method === "PUT" && body.includes('"a"'));
  expect(writes.map(({ headers }) => headers["x-holdfast-actor"])).toContain("Grace");
  // Both machines get the same action in the same instant, again and again: one of them does it.
  for (let nth = 0; nth < 10; nth += 1) {
    const body = { by: "Ada", what: "team/a", reason: `incident ${nth}`, until: "4h" };
    const replies = await Promise.all([0, 1].map((at) => act(at, "hold", body, `key-at-once-${nth}`)));
    expect(replies.map(({ isRepeated }) => isRepeated).toSorted()).toEqual([false, true]);
    expect(replies[0]?.record).toEqual(replies[1]?.record);
  }
  const all = await read<PassesReply>("/targets/a/passes", 0);
  expect(all.passes.filter(({ message }) => message?.includes("Ada: hold team/a until"))).toHaveLength(11);
  const passes = all.passes.filter(({ action }) => action?.key.includes("at-once") !== true);
  expect(passes.flatMap(({ action }) => (action === undefined ? [] : [`${action.by} ${action.name}`]))).toEqual([
    "Grace release",
    "Ada hold",
  ]);
});

test("a resource is redeployed on its screen where that is asked for, and what the daemon refuses is said there", async () => {
  const proxy = await faultProxy(await serve());
  const upstream = await upstreamOf({ ...foundations, "api.yaml": service("api") });
  const operator = await operatorOf(
    {
      sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
      targets: [{ name: "prod", interval: 3600 }],
      dashboard: { access: "token" },
    },
    proxy.server,
  );
  const env = { HOLDFAST_UI_TOKEN: "CANARY-page" };
  const watch = operator.start(["watch", "--listen", "127.0.0.1:0", "-o", "text"], env);
  const [, url = ""] = await watch.shows("stderr", /^health and metrics on (http:\/\/127\.0\.0\.1:\d+)$/m);
  // Before the end of the first pass nothing is known of the resource, and a request for it is refused for that.
  await watch.shows("stderr", /idle until/);
  const browser = await startBrowser();
  const page = await browser.newPage({ httpCredentials: { username: "Grace", password: "CANARY-page" } });
  page.setDefaultTimeout(60_000);
  await page.goto(`${url}/targets/prod/resources/${encodeURIComponent("service/dev:web/api")}`);
  await page.getByRole("button", { name: "Redeploy…" }).click();
  await page.getByRole("button", { name: "Redeploy now" }).click();
  const refusal = await page.getByRole("alert").innerText();
  expect(refusal).toBe("service/dev:web/api is healthy: --force deploys it anyway");
  const before = proxy.asked.length;
  // A connection that is lost, and one that is answered early: the page asks again with the same key.
  const keys: (string | undefined)[] = [];
  await page.route("**/redeploy", async (route) => {
    const key = route.request().headers()["idempotency-key"];
    keys.push(key);
    if (keys.length === 1) return route.abort();
    if (keys.length > 2) return route.continue();
    const body = JSON.stringify({ target: "prod", record: null, isRepeated: false });
    return route.fulfill({ status: 202, contentType: "application/json", body });
  });
  await page.getByLabel("Also if it has not failed").check();
  await page.getByRole("button", { name: "Redeploy now" }).click();
  // What is shown instead tells why, where it is not done.
  const told = async () => (await page.locator('[role="alert"], .actions [role="status"]').allInnerTexts()).join("; ");
  await expect.poll(told).toBe("Done: Grace: redeploy service/dev:web/api, also what has not failed");
  expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
  const sent = proxy.asked.slice(before).filter(({ headers }) => headers["x-holdfast-actor"] === "Grace");
  expect(sent.length).toBeGreaterThan(0);
  const { stdout } = await operator.runHere(["history"]);
  expect(stdout).toMatch(/Grace: redeploy service\/dev:web\/api; refused: /);
});

test("what somebody else has made is adopted on its screen, and written from then on", async () => {
  const server = await serve();
  const upstream = await upstreamOf(foundations);
  const operator = await operatorOf(
    {
      sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
      targets: [{ name: "prod", interval: 3600 }],
      guards: { adopts: "refuse" },
      dashboard: { access: "token" },
    },
    server,
  );
  const env = { ...guarded, HOLDFAST_UI_TOKEN: "CANARY-page" };
  const watch = operator.start(["watch", "--listen", "127.0.0.1:0", "-o", "text"], env);
  const [, url = ""] = await watch.shows("stderr", /^health and metrics on (http:\/\/127\.0\.0\.1:\d+)$/m);
  await watch.shows("stderr", /idle until/);
  await foreignService(server);
  await upstream.commit({ "api.yaml": service("api", "replicas: 2\n") });
  await operator.runHere(["reconcile"]);
  const said = async () => statusOf(await operator.runHere(["status", "-o", "json"])).targets[0];
  expect(await said()).toMatchObject({ reason: "NotAdopted" });
  const browser = await startBrowser();
  const page = await browser.newPage({ httpCredentials: { username: "Grace", password: "CANARY-page" } });
  page.setDefaultTimeout(60_000);
  await page.goto(`${url}/targets/prod/resources/${encodeURIComponent("service/dev:web/api")}`);
  await page.getByRole("button", { name: "Adopt…" }).click();
  await page.getByText("Nothing is written now").waitFor();
  await page.getByRole("button", { name: "Adopt now" }).click();
  await page.getByText("Done: Grace: adopt service/dev:web/api").waitFor();
  await page.locator("h1", { hasText: "updated" }).waitFor();
  expect(await said()).toMatchObject({ sync: "Synced" });
  expect((await operator.runHere(["history"])).stdout).toContain("Grace: adopt service/dev:web/api");
  const { stdout } = await operator.runHere(["why", "service/dev:web/api/replicas", "-o", "json"]);
  expect(JSON.parse(stdout)).toMatchObject({ live: { value: 2 }, written: { value: 2 } });
});

test("a write whose outcome is unknown is resolved on the screen of its target", async () => {
  const server = await serve();
  const { source, env, gate } = await interrupted(server, "/api/svc/v1/apps", { arrives: false });
  await writeElsewhere(server);
  gate.open();
  const hold = ["hold", "service/dev:web/api", "--reason", "a write is open", "--until", "1h"];
  expect(await source.runHere(hold, env)).toMatchObject({ code: 0 });
  const config = join(await temporaryFolder(), "operator.yaml");
  await writeFile(config, "dashboard: { access: token }\n");
  const watch = source.start(
    ["watch", "--config", config, "--interval", "3600", "--sink", "file", "--listen", "127.0.0.1:0", "-o", "text"],
    { ...env, HOLDFAST_UI_TOKEN: "CANARY-page" },
  );
  const [, url = ""] = await watch.shows("stderr", /^health and metrics on (http:\/\/127\.0\.0\.1:\d+)$/m);
  await watch.shows("stderr", /idle until/);
  const { writes } = JSON.parse((await source.runHere(["resolve", "-o", "json"], env)).stdout);
  const browser = await startBrowser();
  const page = await browser.newPage({ httpCredentials: { username: "Grace", password: "CANARY-page" } });
  page.setDefaultTimeout(60_000);
  await page.goto(`${url}/targets/default`);
  await page.getByRole("button", { name: "Resolve…" }).click();
  expect(await page.getByLabel("Resource", { exact: true }).inputValue()).toBe("service/dev:web/api");
  await eventually("the deadline", () => Date.now() > Date.parse(writes[0].arrivesUntil) + 1000);
  const before = server.effects();
  await page.getByRole("button", { name: "Resolve now" }).click();
  await page.getByText("Done: Grace: resolve service/dev:web/api as refused").waitFor();
  await page.getByRole("button", { name: "Resolve…" }).waitFor({ state: "detached" });
  expect(server.effects()).toEqual(before);
  expect(statusOf(await source.runHere(["status", "-o", "json"])).targets[0]).toMatchObject({ unknown: [] });
  expect((await source.runHere(["history"])).stdout).toContain("Grace: resolve service/dev:web/api as refused");
});
