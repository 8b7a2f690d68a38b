import { gzipSync } from "node:zlib";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import type { Change } from "../../../src/core/plan/plan.ts";
import type { Outcome } from "../../../src/core/report/report.ts";
import type { PassRecord, TargetStatus } from "../../../src/core/report/target-status.ts";
import type { ExplainedValue } from "../../../src/daemon/api/dashboard-source.ts";
import { newStatus } from "../../../src/daemon/status-after-pass.ts";
import { sampleApplyEvent } from "../../support/sample-apply-event.ts";
import { serveTargets, storedTarget } from "./shown-daemon.ts";
import { openShownPage, type ShownPage } from "./shown-page.ts";

const OLD = "3f2b9c1d7a60e4855a1c0f6d2b9e8c7a6f5d4e3b";
const NEW = "9d01b2c3e4f5061728394a5b6c7d8e9f00112233";
const lastPass: PassRecord = {
  startedAt: "2026-11-22T11:58:00.000Z",
  endedAt: "2026-11-22T11:58:04.000Z",
  commit: NEW,
  result: "incomplete",
  reason: "Failed",
  message: "2 failed",
  counts: { created: 1, unchanged: 118, failed: 2 },
};

const synced = (name: string): TargetStatus => ({
  ...newStatus(name, "platform"),
  ...{ sync: "Synced", condition: "Ready", reason: null, wantedRevision: NEW, appliedRevision: NEW },
  ...{ counts: { unchanged: 118 } },
  lastPass: { ...lastPass, result: "applied", reason: null, message: null },
});

const stalled = (name: string, text: string): TargetStatus => ({
  ...newStatus(name, text),
  ...{
    sync: "OutOfSync",
    condition: "Stalled",
    reason: "Failed",
    message: text,
    wantedRevision: NEW,
    appliedRevision: OLD,
  },
  ...{ counts: lastPass.counts, unknown: [text] },
  lastPass: { ...lastPass, message: text },
  invalid: [
    { identity: "service/dev:web/api", file: "web/api.yaml", line: 7, message: text, lastGood: null },
    { identity: text, file: text, line: null, message: "no type", lastGood: { at: lastPass.endedAt, version: 4 } },
  ],
  oldestUnapplied: { commit: NEW, since: "2026-11-22T11:41:00.000Z" },
  frozen: { until: null, reason: text },
  registryOnly: [{ kind: "chat_prompt", count: 12, identities: [text] }],
  gates: {
    ...{ passed: 3, failed: 1, unanswered: 0 },
    closed: [
      {
        ...{ identity: text, name: text, verdict: "fail", score: 0.5, summary: text, at: lastPass.endedAt },
        place: { file: text, line: 7 },
      },
    ],
  },
});

const outcome = (identity: string, rest: Partial<Outcome> = {}): Outcome => ({
  ...{ identity, kind: "service", result: "unchanged", file: null, rollout: null, error: null, attempts: 0 },
  ...rest,
});

/** What is said of a resource where somebody has changed one field. */
const explained = (identity: string, text: string): ExplainedValue => ({
  ...{ at: lastPass.endedAt, manifests: "last-pass" },
  versions: [{ version: 4, subject: text, subjectId: text, at: lastPass.endedAt }],
  report: {
    ...{ format_version: "2.2", server: text, identity, pointer: "", diagnostics: [] },
    wanted: { value: { [text]: text }, file: text, line: 7, commit: NEW, author: text, at: text, isOldest: true },
    written: { value: { [text]: text }, at: text, version: 3, commit: OLD, isUncommitted: false },
    live: {
      value: { [text]: text },
      version: 4,
      subject: text,
      subjectId: text,
      at: text,
      cause: "drift",
      isSince: true,
    },
    changes: [
      {
        ...{
          path: "/replicas",
          label: text,
          before: `${text} live`,
          after: `${text} desired`,
          recorded: text,
          cause: "drift",
        },
        ...{ diff: `-${text}\n+${text}`, file: text, line: 8 },
        changedBy: { subject: text, subjectId: text, at: text },
      },
    ],
    gates: [
      { name: text, place: { file: text, line: 7 }, verdict: "fail", score: 0.5, summary: text, at: lastPass.endedAt },
    ],
    changedSince: [{ path: "/image", label: "image", before: "was", after: "is", cause: "drift", diff: null }],
  },
});

let page: Page;
let open: ShownPage["open"];
beforeAll(async () => {
  const shown = await openShownPage(30_000);
  ({ page, open } = shown);
  return shown.close;
});

async function screenshot(name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

const names = () => page.locator(".targets h3").allTextContents();

test("the fleet shows what needs somebody first, and filters stand in the address", async () => {
  const held: TargetStatus = { ...synced("held"), sync: "OutOfSync", condition: "Held", reason: "Held" };
  const statuses = [synced("a"), held, synced("b"), stalled("prod", "2 failed")];
  const stage = { name: "all", after: [], state: "Failed", targets: [] } as const;
  const server = await serveTargets(await Promise.all(statuses.map((status) => storedTarget({ status }))), {
    stages: [stage, { ...stage, name: "next", after: ["all"], state: "Waiting" }],
  });
  await open(server.url);
  await page.getByText("4 targets", { exact: true }).waitFor();
  await expect.poll(() => names()).toEqual(["prod", "held", "a", "b"]);
  await expect.poll(() => page.title()).toBe("(2) Holdfast");
  await expect
    .poll(() => page.locator(".tile").allInnerTexts())
    .toEqual(["2\nSynced", "2\nOutOfSync", "0\nUnknown", "2\nReady", "1\nHeld", "1\nStalled"]);
  await expect
    .poll(() => page.locator(".oldest").innerText())
    .toMatch(/^Oldest unapplied commit\n9d01b2c3e4f5 on prod, \d+ d ago$/);
  await expect
    .poll(() => page.locator(".stages > li").allInnerTexts())
    .toEqual(["all Failed", "next Waiting\n\nafter all"]);
  // By keyboard alone: the link over the header, then a filter.
  await page.keyboard.press("Tab");
  await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Skip to the content");
  await page.getByRole("link", { name: "1 Held" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("1 of 4 targets").waitFor();
  expect([page.url(), await names()]).toEqual([`${server.url}/?condition=Held`, ["held"]]);
  await page.getByRole("searchbox").fill("nothing like it");
  await page.getByText("No target matches.").waitFor();
  await page.goBack();
  await page.goto(`${server.url}/?sync=OutOfSync&q=PRO`);
  await page.getByText("1 of 4 targets").waitFor();
  await page.getByRole("link", { name: "prod" }).last().focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "prod" }).waitFor();
  await expect.poll(() => page.evaluate("document.activeElement.tagName")).toBe("H1");
});

test("a target shows why it is as it is, with file, line, reason and end", async () => {
  const hold = { what: "service/dev:web/api", reason: "an incident", until: "2027-11-23T09:00:00.000Z" };
  const target = await storedTarget({ status: stalled("prod/eu", "it was refused"), holds: [hold] });
  const server = await serveTargets([target]);
  await open(`${server.url}/targets/prod%2Feu`);
  await page.getByRole("heading", { name: "Invalid manifests (2)" }).waitFor();
  const callouts = await page.locator(".callout").allInnerTexts();
  expect(callouts.map((text) => text.replaceAll(/\s+/g, " "))).toEqual([
    "Failed it was refused",
    "Invalid manifests (2) web/api.yaml:7 service/dev:web/api it was refused Nothing was applied of it. it was refused it was refused no type What was applied 7 d ago (version 4) stays in force.".replace(
      "7 d ago",
      await page.locator(".callout time").first().innerText(),
    ),
    "The outcome of these writes is unknown it was refused",
    "Held by a person service/dev:web/api an incident until 2027-11-23 09:00:00 UTC",
    "Frozen: nothing is written No end is known: it was refused",
    expect.stringMatching(
      /^Gates that have not passed it was refused failed it was refused \(0.5\): it was refused it was refused:7, /,
    ),
    "Held by the registry alone 12 chat_prompt: it was refused, …",
  ]);
  await expect
    .poll(() => page.locator(".passes tbody tr").innerText())
    .toMatch(/9d01b2c3e4f5\s+incomplete\s+Failed: it was refused/);
});

test("what happens is shown at once, without another load; a lost stream says so and comes back", async () => {
  const target = await storedTarget({ status: synced("prod") });
  const first = await serveTargets([target]);
  await open(`${first.url}/targets/prod`);
  await page.getByText("live", { exact: true }).waitFor();
  await page.evaluate("window.isSame = true");
  const observe = first.observe("prod");
  observe.emit(sampleApplyEvent([outcome("service/dev:web/api"), outcome("team/ml")]));
  observe.stored?.();
  await page.getByRole("link", { name: "service/dev:web/api" }).waitFor();
  observe.begin?.({ target: "prod", scope: "all", cause: "webhook" });
  observe.emit({ what: "begun", steps: 4 });
  await page.getByText("A pass writes: 0 of 4").waitFor();
  const error = { code: "x", message: "not allowed" };
  const failed = outcome("service/dev:web/api", { result: "failed", error });
  const told = page.locator(".row", { hasText: "not allowed" }).waitFor();
  observe.emit({ what: "finished", step: {} as never, outcome: failed, place: null });
  const before = performance.now();
  await told;
  expect(performance.now() - before).toBeLessThan(10_000);
  await page.getByText("A pass writes: 1 of 4, 1 failed").waitFor();
  await target.keep({ status: stalled("prod", "not allowed") });
  observe.emit(sampleApplyEvent([failed, outcome("team/ml")]));
  observe.stored?.();
  await page.locator(".callout h2", { hasText: "Failed" }).waitFor();
  await page.getByText("2, 1 need attention").waitFor();
  await expect.poll(() => page.locator(".pass").count()).toBe(0);

  await first[Symbol.asyncDispose]();
  await page.getByText("connection lost, trying again").waitFor();
  await target.keep({ status: synced("prod") });
  const second = await serveTargets([target], { port: Number(new URL(first.url).port) });
  await page.getByText("live", { exact: true }).waitFor();
  await page.locator("h1 .badge", { hasText: "Ready" }).waitFor();
  await expect.poll(() => page.evaluate("window.isSame")).toBe(true);
  second.configured("holdfast.yaml:3 is broken");
  await page.goto(second.url);
  await page.getByText("holdfast.yaml:3 is broken").waitFor();
});

test("a page of an older build loads itself again, once", async () => {
  const server = await serveTargets([await storedTarget({ status: synced("prod") })]);
  onTestFinished(() => page.unroute(`${server.url}/`));
  let loads = 0;
  await page.route(`${server.url}/`, async (route) => {
    loads += 1;
    const reply = await route.fetch();
    await route.fulfill({
      response: reply,
      body: (await reply.text()).replace(/name="build" content="\w+"/, 'name="build" content="old"'),
    });
  });
  await open(server.url);
  // A function that is waited for is evaluated by the page, which its policy does not let it do.
  const reloaded = () => page.evaluate('sessionStorage.getItem("holdfast-reloaded-for")').catch(() => null);
  await expect.poll(reloaded).not.toBe(null);
  await page.getByText("live", { exact: true }).waitFor();
  expect(loads).toBe(2);
});

test("100,000 resources are few rows in the page, and the last one is near", async () => {
  const server = await serveTargets([await storedTarget({ status: synced("prod") })]);
  const many = Array.from({ length: 100_000 }, (_, nth) => outcome(`service/dev:w/s${String(nth).padStart(5, "0")}`));
  server.observe("prod").emit(sampleApplyEvent([outcome("team/last", { result: "failed" }), ...many]));
  await open(`${server.url}/targets/prod`);
  await page.getByText("100,001, 1 need attention").waitFor();
  await expect.poll(() => page.locator(".row .name").first().innerText()).toBe("team/last");
  await expect.poll(() => page.getByRole("table", { name: "Resources" }).getAttribute("aria-rowcount")).toBe("100002");
  await page.locator(".rows").focus();
  const before = performance.now();
  await page.keyboard.press("End");
  await page.getByRole("link", { name: "service/dev:w/s99999" }).waitFor();
  expect(performance.now() - before).toBeLessThan(10_000);
  expect(await page.locator(".rows *").count()).toBeLessThan(600);
  await page.getByRole("searchbox").fill("s00042");
  await page.getByText("1 match").waitFor();
  await page.locator(".row .name").getByText("service/dev:w/s00042").waitFor();
  await expect.poll(() => page.locator(".row .name").count()).toBe(1);
  // No part of the only row is cut off.
  const cut = await page
    .locator(".rows")
    .evaluate((box: { scrollHeight: number; clientHeight: number }) => box.scrollHeight - box.clientHeight);
  expect(cut).toBe(0);
  expect(page.url()).toBe(`${server.url}/targets/prod?search=s00042`);
});

test("a resource shows what is desired, recorded and live, whose change it is, and what to do next", async () => {
  const identity = "service/dev:web/api";
  const status = stalled("prod", "it was refused");
  const hold = { what: identity, reason: "an incident", until: "commit" };
  const event = { identity, state: "failed", rollout: null, hasDrifted: true, why: "it was refused" } as const;
  const asked: string[] = [];
  const target = await storedTarget({ status, holds: [hold], resources: [event] }, async ({ pointer }) => {
    asked.push(pointer);
    const { report, ...rest } = explained(identity, "Ada");
    return pointer === "" ? { ...rest, report } : { ...rest, report: { ...report, pointer }, versions: null };
  });
  const server = await serveTargets([target]);
  await open(`${server.url}/targets/prod`);
  const observe = server.observe("prod");
  observe.emit(
    sampleApplyEvent([outcome(identity, { result: "failed", error: { code: "x", message: "it was refused" } })]),
  );
  observe.stored?.();
  await page.getByRole("link", { name: identity }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: `${identity} failed` }).waitFor();
  expect(page.url()).toBe(`${server.url}/targets/prod/resources/service%2Fdev%3Aweb%2Fapi`);
  await expect.poll(() => page.title()).toBe(`(1) ${identity} – prod – Holdfast`);
  await page.getByText("Newest versions").waitFor();
  const rows = await page.locator(".cards tbody tr").allInnerTexts();
  expect(rows.map((text) => text.replaceAll(/\s+/g, " "))).toEqual([
    "Ada Ada:8 Ada desired Difference, from live Ada Ada live drift by Ada, Ada",
    "image is was is drift",
  ]);
  await page.getByText(/^Ada fail \(0\.5\) Ada, \d+ d ago$/).waitFor();
  const callouts = await page.locator(".callout").allInnerTexts();
  expect(callouts.map((text) => text.replaceAll(/\s+/g, " "))).toEqual([
    expect.stringMatching(/^It is not as declared it was refused \(\d+ d ago\)$/),
    "Held by a person an incident, until the next commit that changes it",
  ]);
  await expect
    .poll(() => page.locator(".commands code").allInnerTexts())
    .toEqual([
      `holdfast plan --only ${identity} --target prod`,
      `holdfast why ${identity} --target prod`,
      `holdfast history ${identity} --target prod`,
      `holdfast release ${identity} --target prod`,
    ]);
  await expect
    .poll(() => page.locator("section[aria-labelledby=events] li").innerText())
    .toMatch(/failed drifted 9d01b2c3e4f5 it was refused$/);
  // One field, by keyboard.
  await page.getByRole("link", { name: "Ada", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 3, name: "/replicas" }).waitFor();
  await page.getByRole("heading", { level: 4, name: "Live drift" }).waitFor();
  expect(asked).toEqual(["", "/replicas"]);
  // What a pass does is shown at once; the values are read again when something became of the resource.
  await target.keep({
    status: synced("prod"),
    resources: [{ ...event, state: "updated", hasDrifted: false, why: null }],
  });
  observe.emit(sampleApplyEvent([outcome(identity, { result: "updated" })]));
  observe.stored?.();
  await page.getByRole("heading", { level: 1, name: `${identity} updated` }).waitFor();
  await expect.poll(() => page.getByText("It is not as declared").count()).toBe(0);
  await expect.poll(() => asked.toSorted()).toEqual(["", "", "/replicas", "/replicas"]);
  await page.getByRole("link", { name: "Close" }).click();
  await page.getByRole("link", { name: "prod", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "prod Synced Ready" }).waitFor();
});

test("a resource that cannot be explained says why, and what is stored of it", async () => {
  const server = await serveTargets([await storedTarget({ status: synced("prod") })]);
  await open(`${server.url}/targets/prod/resources/team%2Fgone`, { refusals: /status of 409/ });
  await page.getByText("team/gone is not declared").waitFor();
  await page.getByText("No event of it is stored.").waitFor();
  await page.getByRole("button", { name: "Read again" }).waitFor();
  await page.getByText("holdfast hold team/gone --reason why --until 4h --target prod").waitFor();
});

test("the history shows drift with who and how long, and each pass with its commit and what it changed", async () => {
  const drift = {
    identity: "team/ml",
    state: "updated",
    rollout: null,
    hasDrifted: true,
    why: null,
    changedBy: { subject: "user:ada@example.com", subjectId: null, at: "2026-11-22T09:58:04.000Z" },
  } as const;
  const target = await storedTarget(
    { status: synced("prod"), resources: [drift] },
    async () => explained("team/ml", "Ada"),
    [{ commit: NEW, author: "Grace <grace@example.com>", at: lastPass.startedAt, subject: "Rename the team" }],
  );
  const older = Array.from({ length: 59 }, (_, nth): PassRecord => {
    const at = new Date(Date.parse(lastPass.endedAt) - (59 - nth) * 3_600_000).toISOString();
    return { ...lastPass, startedAt: at, endedAt: at, commit: OLD, message: `pass ${nth}` };
  });
  const status = synced("prod");
  await target.read(async (store) => {
    const { entries } = await store.passes({ limit: 1 });
    expect(entries).toEqual([status.lastPass]);
    await store.keep({ status, records: [...older, ...entries] });
  });
  const server = await serveTargets([target]);
  await open(`${server.url}/targets/prod`);
  await page.getByRole("link", { name: "All passes, and when live had drifted" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "History of prod" }).waitFor();
  await expect
    .poll(() => page.locator("section[aria-labelledby=drifts] li").innerText())
    .toMatch(/^\d+ [dh] ago team\/ml updated by user:ada@example\.com for 2 h$/);
  await page.locator("summary").click();
  await page.getByText("2026-11-22: 1 drift of 1 resource").waitFor();
  await page.getByText("Rename the team Grace <grace@example.com>").first().waitFor();
  const rows = () => page.locator(".cards tbody tr").count();
  await expect.poll(rows).toBe(50);
  await expect
    .poll(async () => (await page.locator(".cards tbody tr").first().innerText()).replaceAll(/\s+/g, " "))
    .toMatch(/^\d+ [dh] ago 9d01b2c3e4f5 Rename the team Grace <grace@example\.com> applied 4\.0 s 1 created, /);
  await page.getByRole("button", { name: "Older passes" }).focus();
  await page.keyboard.press("Enter");
  await expect.poll(rows).toBe(61);
  await page.getByRole("link", { name: "Resources that it changed" }).first().click();
  await page.locator(".cards").getByRole("link", { name: "team/ml" }).first().click();
  await page.getByRole("heading", { level: 1, name: "team/ml" }).waitFor();
});

test("a list that breaks off is left out, and the page goes on", async () => {
  const server = await serveTargets([await storedTarget({ status: synced("a") })]);
  const cut = "**/passes?**";
  onTestFinished(() => page.unroute(cut));
  await page.route(cut, (route) => route.fulfill({ contentType: "application/json", body: '{ "passes": [' }));
  const answered = page.waitForResponse(cut);
  await open(`${server.url}/targets/a`);
  await answered;
  await page.locator("h1", { hasText: "a" }).waitFor();
});

test("what a write has changed is read by keyboard, has no finding of axe and fits 360 px", async () => {
  const long = "registry.example.com/a/very/long/repository/name".repeat(6);
  const fields = Array.from({ length: 12 }, (_, nth): Change => {
    const values = nth === 0 ? { before: long, after: `${long}:2` } : { before: nth, after: null };
    const diff = nth === 1 ? `-${long}\n+${long}:2` : null;
    return { path: `/field/${nth}`, label: `field.${nth}`, ...values, cause: nth % 2 ? "drift" : "manifest", diff };
  });
  const updated = { rollout: null, hasDrifted: true, why: null, state: "updated" } as const;
  const target = await storedTarget({
    status: synced("a"),
    resources: ["team/few", "team/many"].map((identity) => ({ identity, ...updated })),
    changed: new Map([
      ["team/few", { fields: fields.slice(0, 3), leftOut: 0, cut: 0 }],
      ["team/many", { fields, leftOut: 7, cut: 1 }],
    ]),
  });
  const server = await serveTargets([target]);
  for (const colorScheme of ["light", "dark"] as const) {
    await open(`${server.url}/targets/a/history?pass=${lastPass.endedAt}`);
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width: 360, height: 900 });
    await page.locator("details.written[open] li").first().waitFor();
    const many = page.locator("summary", { hasText: "12 fields, 7 more fields not kept" });
    expect(await page.locator("details.written[open]").count()).toBe(1);
    await many.focus();
    await page.keyboard.press("Enter");
    await page.getByText("field.11").waitFor();
    await page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true;");
    await page.evaluate(axe.source);
    const { violations } = (await page.evaluate("axe.run()")) as axe.AxeResults;
    expect([colorScheme, violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])]).toEqual([
      colorScheme,
      [],
    ]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
  }
});

const screens = (target: string) => [
  { name: "fleet", path: "/", shows: "2 targets" },
  { name: "target", path: `/targets/${target}`, shows: "Last passes that changed something" },
  { name: "history", path: `/targets/${target}/history?pass=${lastPass.endedAt}`, shows: "team/ml" },
  { name: "resource", path: `/targets/${target}/resources/team%2Fml?field=%2Freplicas`, shows: "Close" },
];

test("the screens have no finding of axe in both themes, fit 360 px and ask no other origin", async () => {
  const target = await storedTarget(
    {
      status: stalled("production-with-a-long-name", "the control plane refused it"),
      holds: [{ what: "service/dev:web/api", reason: "an incident", until: "commit" }],
      resources: [{ identity: "team/ml", state: "failed", rollout: null, hasDrifted: true, why: "it was refused" }],
    },
    async ({ pointer }) => {
      const { report, ...rest } = explained("team/ml", "virtualaccount:somebody-with-a-long-name");
      return { ...rest, report: { ...report, pointer } };
    },
  );
  const stage = {
    name: "all",
    after: [],
    state: "Healthy",
    targets: [{ target: "a", state: "Healthy", commit: OLD, message: null }],
  } as const;
  const server = await serveTargets([target, await storedTarget({ status: synced("a") })], {
    stages: [stage, { ...stage, name: "b" }],
  });
  const observe = server.observe(target.name);
  observe.begin?.({ target: target.name, scope: "all", cause: "interval" });
  observe.emit({ what: "begun", steps: 4 });
  await open(server.url);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 900 });
      for (const { name, path, shows } of screens(target.name)) {
        await page.goto(server.url + path);
        await page.getByText(shows).first().waitFor();
        for (const summary of await page.locator("summary").all()) await summary.click();
        await page.evaluate(axe.source);
        const { violations } = (await page.evaluate("axe.run()")) as axe.AxeResults;
        const found = violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
        expect([colorScheme, width, path, found]).toEqual([colorScheme, width, path, []]);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
        await screenshot(`${name}-${colorScheme}-${width}`);
      }
    }
  }
  expect(asked.filter((url) => !url.startsWith(`${server.url}/`) && !url.startsWith("data:"))).toEqual([]);
});

test("the first view is small, and the page is served with its policy and under its addresses alone", async () => {
  const { url } = await serveTargets([]);
  const reply = await fetch(url);
  const html = await reply.text();
  expect(reply.headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self';/,
  );
  expect(html).not.toMatch(/<style|<script(?! type="module" src="\/assets\/)| on\w+=/);
  const assets = html.match(/\/assets\/[\w.-]+/g) ?? [];
  const texts = await Promise.all(assets.map(async (path) => (await fetch(url + path)).text()));
  const bytes = [html, ...texts].reduce((sum, text) => sum + gzipSync(text).length, 0);
  expect([assets.length, bytes < 150_000]).toEqual([2, true]);
  for (const path of ["/targets/any", "/targets/any/history", "/targets/any/resources/service%2Fdev%3Aweb%2Fapi"])
    expect(await (await fetch(url + path)).text()).toBe(html);
  for (const path of [
    "/assets/other.js",
    "/assets/..%2f..%2fpackage.json",
    "/assets/__proto__",
    "/targets/a/b",
    "/index.html",
  ])
    expect([path, (await fetch(url + path)).status]).toEqual([path, 404]);
});
