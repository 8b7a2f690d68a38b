import { expect, onTestFinished, test } from "vitest";
import type { Clock } from "../../../../src/clock/clock.ts";
import { systemClock, systemRandom } from "../../../../src/clock/system.ts";
import type { GateStatus } from "../../../../src/contract/generated/output.ts";
import { Secret } from "../../../../src/contract/secret.ts";
import type { Outcome } from "../../../../src/core/report/report.ts";
import { nothingShown } from "../../../../src/daemon/api/dashboard-source.ts";
import { startDaemonServer } from "../../../../src/daemon/http/daemon-server.ts";
import { startDashboardServer } from "../../../../src/daemon/http/dashboard-server.ts";
import type { TargetOverview } from "../../../../src/daemon/http/status-route.ts";
import { newStatus } from "../../../../src/daemon/status-after-pass.ts";
import { createLog } from "../../../../src/log/log.ts";
import { startBrowser } from "../../../support/browser.ts";
import { sampleApplyEvent } from "../../../support/sample-apply-event.ts";
import { standingClock } from "../../../support/standing-clock.ts";

const NOW = Date.parse("2026-11-22T12:00:00Z");
const hostile = [
  "<script>document.title='owned'</script>",
  "<img src=x onerror=\"document.title='owned'\">",
  "</style></section><h1>forged</h1>",
  '" onmouseover="document.title=1" x="',
  "javascript:document.title='owned'",
  "=HYPERLINK(1)&lt;b&gt;",
  "service/dev:web/\u202eipa",
];

const outcome = (identity: string, rest: Partial<Outcome> = {}): Outcome => ({
  identity,
  kind: "service",
  result: "unchanged",
  file: null,
  rollout: null,
  error: null,
  attempts: 0,
  ...rest,
});

const pass = {
  startedAt: "2026-11-22T11:58:00.000Z",
  endedAt: "2026-11-22T11:58:04.000Z",
  commit: "3f2b9c1d7a60e4855a1c0f6d2b9e8c7a6f5d4e3b",
  result: "incomplete",
  reason: "Failed",
  message: "2 failed",
  counts: { created: 1, unchanged: 118, failed: 2 },
} as const;

const registryOnly = [
  { kind: "chat_prompt", count: 12, identities: hostile.map((name) => `chat_prompt/registry/${name}@1`) },
  { kind: "model-version", count: null, identities: [] },
];

/** Targets as a hostile repository would have them shown. */
const overviews: readonly TargetOverview[] = [
  {
    status: {
      ...newStatus("prod", "platform"),
      sync: "OutOfSync",
      condition: "Stalled",
      reason: "Failed",
      message: `2 failed: ${hostile[0]}`,
      wantedRevision: "9d01b2c3e4f5061728394a5b6c7d8e9f00112233",
      appliedRevision: pass.commit,
      counts: pass.counts,
      unknown: [`prompt/${hostile[1]}`],
      held: [`service/dev:web/api until 2026-11-23T09:00:00Z: ${hostile[2]}`],
      oldestUnapplied: { commit: "9d01b2c3e4f5061728394a5b6c7d8e9f00112233", since: "2026-11-22T11:41:00.000Z" },
      registryOnly,
      lastPass: pass,
      nextPassAt: "2026-11-22T12:01:00.000Z",
    },
    passes: [{ ...pass, result: "applied", reason: null, message: null, counts: { updated: 3, unchanged: 116 } }, pass],
    hasLease: true,
  },
  {
    status: { ...newStatus(hostile[3] ?? "", null), sync: "Synced", condition: "Ready", reason: null },
    passes: [],
    hasLease: false,
  },
];

const gates: GateStatus = {
  ...{ passed: 3, failed: 1, unanswered: 1 },
  closed: [
    {
      ...{ identity: "model-version/ranking/main@2", verdict: "fail", score: 0.5, at: "2026-11-22T11:57:00.000Z" },
      ...{
        name: "metric accuracy at least 0.9",
        summary: hostile[0] ?? "",
        place: { file: hostile[2] ?? "", line: 7 },
      },
    },
    {
      ...{ identity: hostile[1] ?? "", verdict: "unanswered", score: null, at: "2026-11-22T11:56:00.000Z" },
      ...{ name: hostile[6] ?? "", summary: "nobody answers", place: null },
    },
  ],
};

const retired = {
  status: { ...newStatus("old", null), condition: "Retired", reason: "Retired", message: "its pattern is gone" },
  passes: [],
  hasLease: false,
} as const;

const outcomes = [
  ...hostile.map((name) => outcome(name, { result: "failed", error: { code: "refused", message: `not ${name}` } })),
  outcome("service/dev:web/checkout", { result: "updated", rollout: "progressing" }),
  ...Array.from({ length: 600 }, (_, at) => outcome(`service/dev:web/s${at}`)),
];

type Shown = {
  readonly host: string;
  readonly targets: typeof overviews;
  readonly stateLostSince: () => number | null | undefined;
  readonly clock: Clock;
};

const parts = (token: string | null, clock = systemClock) => ({
  host: "127.0.0.1",
  port: 0,
  log: createLog({ level: "silent", format: "json", stream: { write: () => {} } }),
  clock: { ...clock, now: () => NOW },
  random: systemRandom,
  stopping: new AbortController().signal,
  token: () => (token === null ? null : new Secret(token)),
  build: { version: "0.0.0", commit: null },
});

async function started(
  token: string | null,
  {
    host = "127.0.0.1",
    targets = overviews,
    stateLostSince = () => undefined,
    clock = systemClock,
  }: Partial<Shown> = {},
) {
  const server = await startDaemonServer({
    ...parts(token, clock),
    dashboard: nothingShown,
    host,
    hookOf: () => undefined,
    targets: async () => targets,
    stateLostSince,
    gates: async (target) => (target === "prod" ? { gates } : {}),
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  server.observe("prod").emit(sampleApplyEvent(outcomes));
  return `${server.url.replace("0.0.0.0", "127.0.0.1")}/status`;
}

test("a browser that asks for the status is sent to the dashboard, and everything else gets JSON", async () => {
  const url = await started(null);
  const page = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
  const sent = await fetch(url, { headers: { accept: page }, redirect: "manual" });
  expect([sent.status, sent.headers.get("location"), sent.headers.get("vary")]).toEqual([302, "/", "accept"]);
  for (const accept of ["*/*", "application/json", ""]) {
    const reply = await fetch(url, { headers: { accept } });
    expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
    expect(await reply.json()).toMatchObject({ daemon: { pid: process.pid }, targets: [{ target: "prod" }, {}] });
  }
});

test("without JavaScript the page names what shows the status too, and that is there", async () => {
  const url = await started(null);
  const browser = await startBrowser();
  const page = await browser.newPage({ javaScriptEnabled: false });
  page.setDefaultTimeout(180_000);
  await page.goto(url);
  expect(page.url()).toBe(url.replace("/status", "/"));
  const [text] = await page.locator("noscript").allInnerTexts();
  expect(text).toBe(
    "This page needs JavaScript. Without it, holdfast status shows the targets in a terminal, and /api/v1/targets as JSON.",
  );
  await page.locator("noscript a").click();
  expect(await page.locator("body").innerText()).toMatch(/^\{"at":.*"targets":\[/);
});

test("a dashboard without a daemon sends browsers from the status to the page, and has no status itself", async () => {
  await using server = await startDashboardServer({ ...parts(null), stateLostSince: () => null, source: nothingShown });
  const asked = (accept: string) => fetch(`${server.url}/status`, { headers: { accept }, redirect: "manual" });
  expect((await asked("text/html")).headers.get("location")).toBe("/");
  expect((await asked("application/json")).status).toBe(404);
});

test("gates, what the registry alone holds, and targets that have retired are in the status", async () => {
  const url = await started(null, { targets: [...overviews, retired] });
  const document = (await (await fetch(url)).json()) as { targets: object[] };
  expect(document.targets).toMatchObject([{ gates, registryOnly }, { target: hostile[3] }, { condition: "Retired" }]);
  expect(document.targets[1]).not.toHaveProperty("gates");
});

test("S36 on an address of the network the status needs the token, as bearer or as the password of a browser", async () => {
  const url = await started("CANARY-page", { host: "0.0.0.0" });
  const get = (authorization?: string) => fetch(url, { headers: authorization ? { authorization } : {} });
  const basic = (password: string) => `Basic ${Buffer.from(`me:${password}`).toString("base64")}`;
  const stranger = await get();
  expect([stranger.status, stranger.headers.get("www-authenticate")]).toEqual([401, expect.stringMatching(/^Basic /)]);
  expect(await stranger.text()).not.toMatch(/prod|platform|0\.1\.0|CANARY/);
  for (const wrong of ["Bearer CANARY-pag", "Bearer", basic(""), "CANARY-page", basic("CANARY-page "), "Basic %%%"])
    expect((await get(wrong)).status).toBe(401);
  const known = await get("Bearer CANARY-page");
  expect(known.headers.get("content-type")).toMatch(/^application\/json/);
  const { targets } = (await known.json()) as { targets: { resources: unknown[]; troubled: number }[] };
  expect(targets[0]).toMatchObject({ target: "prod", sync: "OutOfSync", troubled: 7, leftOut: 0, passes: [{}, pass] });
  expect(targets[0]?.resources).toHaveLength(608);
  expect((await get(basic("CANARY-page"))).status).toBe(200);
});

test("S36 without a token the status is for this machine alone, whatever name it is asked by", async () => {
  const open = await started(null, { host: "0.0.0.0" });
  expect((await fetch(open)).status).toBe(401);
  const local = await started(null);
  expect((await fetch(local)).status).toBe(200);
  const { request } = await import("node:http");
  const status = await new Promise((resolve) => {
    request(local, { headers: { host: "rebound.example.com" } }, (answer) => resolve(answer.resume().statusCode)).end();
  });
  expect(status).toBe(401);
});

test("endless requests without a token are limited, and callers with the token get through", async () => {
  const url = await started("CANARY-page", { clock: standingClock().clock });
  const statuses = await Promise.all(Array.from({ length: 40 }, async () => (await fetch(url)).status));
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
  expect((await fetch(url, { headers: { authorization: "Bearer CANARY-page" } })).status).toBe(200);
});

test("while the state cannot be read, the status says since when, and the daemon is alive but not ready", async () => {
  const url = await started(null, { stateLostSince: () => NOW - 60_000 });
  expect(await (await fetch(url)).json()).toMatchObject({ stateUnreadableSince: "2026-11-22T11:59:00.000Z" });
  const ready = await fetch(url.replace("/status", "/readyz"));
  expect([ready.status, await ready.json()]).toEqual([503, { status: "not ready", reason: "state-unavailable" }]);
  expect((await fetch(url.replace("/status", "/healthz"))).status).toBe(200);
});
