import { expect, test } from "vitest";
import type { DriftsReply, ResourceStateReply, TargetReply, WhyReply } from "../../src/contract/generated/output.ts";
import { startBrowser } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { foreignService } from "../support/foreign-service.ts";
import { foundations, service } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const identity = "service/dev:web/api";
const secret = "env:\n  DB_PASSWORD: CANARY-in-the-manifest\n";

test("a resource of a daemon's page is explained as holdfast why does, without its secrets, and is read again after a pass", async () => {
  const server = await serve();
  const upstream = await upstreamOf({ ...foundations, "api.yaml": service("api", `replicas: 2\n${secret}`) });
  const operator = await operatorOf(
    { sources: [{ name: "platform", url: upstream.folder }], targets: [{ name: "prod", interval: 3600 }] },
    server,
  );
  const watch = operator.start(["watch", "--listen", "127.0.0.1:0", "-o", "text"]);
  const [, url = ""] = await watch.shows("stderr", /^health and metrics on (http:\/\/127\.0\.0\.1:\d+)$/m);
  const isApplied = async () => {
    const { status } = (await (await fetch(`${url}/api/v1/targets/prod`)).json()) as TargetReply;
    return status.lastPass;
  };
  await eventually("the first pass", isApplied, { everyMs: 50 });
  await foreignService(server);
  const get = async (path: string): Promise<string> => (await fetch(`${url}/api/v1/targets/prod/${path}`)).text();
  const whyByCommand = async (asked: string) =>
    JSON.parse((await operator.runHere(["why", asked, "--target", "prod", "-o", "json"])).stdout);
  const query = new URLSearchParams({ identity });
  const whole = await get(`why?${query}`);
  const reply: WhyReply = JSON.parse(whole);
  expect(reply.report).toEqual(await whyByCommand(identity));
  expect(reply).toMatchObject({ target: "prod", manifests: "last-pass" });
  expect(reply.versions).toMatchObject([
    { version: 2, subject: "virtualaccount:others" },
    { version: 1, subject: reply.versions?.[1]?.subject },
  ]);
  const field = await get(`why?${query}&pointer=/replicas`);
  const one: WhyReply = JSON.parse(field);
  expect(one.report).toEqual(await whyByCommand(`${identity}/replicas`));
  expect(one.report).toMatchObject({ wanted: { value: 2 }, written: { value: 2 }, live: { value: 4, cause: "drift" } });
  const replicas = reply.report.changes?.find(({ path }) => path === "/replicas");
  expect(replicas).toMatchObject({ after: 2, before: 4, recorded: 2, cause: "drift" });
  expect(JSON.parse(await get("why?identity=team/other"))).toMatchObject({ statusCode: 409, code: "unexplained" });
  const state = await get(`resource?${query}`);
  const { resource, commands }: ResourceStateReply = JSON.parse(state);
  expect(resource).toMatchObject({ identity, kind: "service", needsAttention: false });
  for (const text of [whole, field, state]) expect(text).not.toContain("CANARY");

  const browser = await startBrowser();
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(`${url}/targets/prod/resources/${encodeURIComponent(identity)}`);
  const row = page.locator(".cards tbody tr", { has: page.getByRole("link", { name: "replicas", exact: true }) });
  await row.waitFor();
  const cells = await row.locator("td").allInnerTexts();
  expect(cells.map((text) => text.replaceAll(/\s+/g, " "))).toEqual([
    "2",
    "2",
    "4",
    expect.stringMatching(/^drift by virtualaccount:others, /),
  ]);
  expect(await page.locator(".side").first().innerText()).toContain(
    `${reply.report.wanted.file}:${reply.report.wanted.line}\n\n${reply.report.wanted.commit?.slice(0, 12)} of ${reply.report.wanted.author}`,
  );
  await page.evaluate("window.isSame = true");
  await operator.runHere(["reconcile"]);
  await page.getByText("No field differs.").waitFor();
  await page.locator("h1", { hasText: "updated" }).waitFor();
  expect(await page.content()).not.toContain("CANARY");
  // The history has whose write was overwritten, and whose commit it was overwritten with.
  const { drifts }: DriftsReply = JSON.parse(await get("drifts"));
  expect(drifts).toMatchObject([
    {
      event: { identity, state: "updated", changedBy: { subject: "virtualaccount:others" } },
      endedAt: drifts[0]?.event.at,
    },
  ]);
  const at = drifts[0]?.event.at ?? "";
  expect(JSON.parse(await get(`events?at=${at}`)).events).toMatchObject([{ identity, state: "updated" }]);
  const said = await operator.runHere(["history", "--drifted", "--target", "prod"]);
  expect(said.stdout).toContain("live had drifted by virtualaccount:others");
  const commit = (await upstream.git("rev-parse", "HEAD")).trim();
  const missing = commit.replace(/./g, "a");
  expect(JSON.parse(await get(`commits?id=${missing}&id=${commit}&id=--all`)).commits).toEqual([
    { commit, author: reply.report.wanted.author, at: reply.report.wanted.at, subject: "Begin" },
  ]);
  await page.getByRole("link", { name: "prod", exact: true }).click();
  await page.getByRole("link", { name: "All passes, and when live had drifted" }).click();
  await page.getByText("Begin").first().waitFor();
  await page.getByText("by virtualaccount:others").waitFor();
  expect(await page.evaluate("window.isSame")).toBe(true);
  // Each command is one that there is.
  for (const { command } of commands) {
    const [program, ...words] = command.split(" ");
    const { code, stderr } = await operator.runHere(words);
    expect([program, command, code, stderr.includes("unknown")]).toEqual(["holdfast", command, 0, false]);
  }
  const [held] = JSON.parse(await get(`resource?${query}`)).commands.slice(-1);
  expect(held.command).toBe(`holdfast release ${identity} --target prod`);
  expect(await operator.runHere(held.command.split(" ").slice(1))).toMatchObject({ code: 0 });
});

test("a dashboard without a daemon explains a resource by the newest commit, as holdfast why does", async () => {
  const server = await serve();
  const upstream = await upstreamOf({ ...foundations, "api.yaml": service("api", "replicas: 2\n") });
  const operator = await operatorOf(
    { sources: [{ name: "platform", url: upstream.folder }], targets: [{ name: "prod" }] },
    server,
  );
  expect(await operator.runHere(["apply", "--yes", "--no-wait", "--target", "prod"])).toMatchObject({ code: 0 });
  const dashboard = operator.start(["dashboard"]);
  const [, url = ""] = await dashboard.shows("stdout", /^dashboard on (http:\/\/127\.0\.0\.1:\d+)$/m);
  const why = async (pointer: string): Promise<WhyReply> => {
    const query = new URLSearchParams({ identity, pointer });
    return (await (await fetch(`${url}/api/v1/targets/prod/why?${query}`)).json()) as WhyReply;
  };
  const byCommand = async (asked: string) =>
    JSON.parse((await operator.runHere(["why", asked, "--target", "prod", "-o", "json"])).stdout);
  const first = await why("");
  expect([first.manifests, first.report]).toEqual(["now", await byCommand(identity)]);
  const commit = await upstream.commit({ "api.yaml": service("api", "replicas: 5\n") });
  const later = await why("/replicas");
  expect(later.report).toEqual(await byCommand(`${identity}/replicas`));
  expect(later.report).toMatchObject({ wanted: { value: 5, commit }, written: { value: 2 }, live: { value: 2 } });
  dashboard.kill("SIGTERM");
  await dashboard.ended;
});
