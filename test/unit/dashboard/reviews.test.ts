import axe from "axe-core";
import type { Page } from "playwright-core";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/clock/system.ts";
import type { PlanReply, PlanSent } from "../../../src/contract/generated/output.ts";
import { hostileTexts } from "../../support/hostile-texts.ts";
import { type PlansDaemon, plansDaemon, planToSend, signedWith } from "../../support/plans-daemon.ts";
import { sampleChange, samplePlan, sampleStep } from "../../support/sample-plan.ts";
import { openShownPage, type ShownPage } from "./shown-page.ts";

let shown: ShownPage;
let page: Page;
beforeAll(async () => {
  shown = await openShownPage(30_000);
  ({ page } = shown);
  return shown.close;
});

const open = (url: string): Promise<void> => shown.open(url, { refusals: /status of 404/ });

async function sendTo(daemon: PlansDaemon, ...more: Parameters<typeof planToSend>): Promise<string> {
  const reply = await daemon.post(planToSend(...more));
  expect(reply.status).toBeLessThan(300);
  return ((await reply.json()) as PlanSent).path;
}

/** Opens all that is folded, which makes what is in it; answers how many differences are shown. */
const unfolded = (): Promise<unknown> =>
  page.evaluate(
    "for (const fold of document.querySelectorAll('main details')) fold.open = true; document.querySelectorAll('.diff').length",
  );

const plan = samplePlan([
  sampleStep("team/ml", { changes: [sampleChange("members[eve@example.com]", null, "eve@example.com")] }),
  sampleStep("service/dev:web/api", {
    ...{
      action: "create",
      risks: ["exposure"],
      changedBy: { subject: "user:ada@example.com", subjectId: null, at: null },
    },
    changes: [sampleChange("replicas", 2, 5)],
  }),
  sampleStep("service/dev:web/old", { causedBy: "drift", changes: [sampleChange("replicas", 2, 7, "drift")] }),
  sampleStep("service/dev:web/wait", { causedBy: "pending", changes: [sampleChange("replicas", 1, 3, "pending")] }),
]);

test("the reviews are listed, and each shows what it does by cause; the keyboard is enough", async () => {
  const daemon = await plansDaemon();
  await open(`${daemon.url}/reviews`);
  await page.getByText("No plan was sent.").waitFor();
  // What is sent is shown at once.
  await sendTo(daemon, signedWith(daemon.key, plan));
  await page.getByRole("link", { name: "Pull request 7" }).waitFor();
  await sendTo(daemon, plan, { forge: "gitlab", pullRequest: 9, name: "prod", url: null });
  await expect
    .poll(async () => (await page.locator(".target").allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ")))
    .toEqual([
      "Merge request 9 ml/platform unverified 1 to create, 1 to update; not from it: 2 Commit aaaaaaaaaaaa prod just now",
      "Pull request 7 ml/platform verified 1 to create, 1 to update; not from it: 2 Commit aaaaaaaaaaaa default just now",
    ]);
  await page.getByRole("link", { name: "Targets", exact: true }).focus();
  await page.keyboard.press("Tab");
  await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Reviews");
  await page.getByRole("link", { name: "Pull request 7" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Pull request 7 verified" }).waitFor();
  await expect.poll(() => page.evaluate("document.activeElement.tagName")).toBe("H1");
  expect(await page.locator("h3").allInnerTexts()).toEqual([
    "This change: 2 resources",
    "Merged, not yet applied: 1 resource",
    "Drift: 1 resource",
  ]);
  expect(await page.locator(".callout").count()).toBe(0);
  expect(await page.getByRole("link", { name: "ml/platform #7" }).getAttribute("href")).toBe(
    "https://github.com/ml/platform/pull/7",
  );
  expect(await page.locator(".diff").count()).toBe(0);
  await page.locator("summary", { hasText: "service/api" }).focus();
  await page.keyboard.press("Enter");
  await page.locator(".diff").waitFor();
  expect(await page.locator(".diff").innerText()).toBe("@@ replicas (manifest) @@\n- 2\n+ 5\n");
  await page.getByText("Last written by user:ada@example.com").waitFor();
  await page.goto(`${daemon.url}/reviews/${"0".repeat(32)}`);
  await page.getByText("the plan was not found").waitFor();
  await page.goto(`${daemon.url}/reviews`);
  await page.getByRole("link", { name: "Merge request 9" }).click();
  await page.getByRole("heading", { name: "This plan is not verified" }).waitFor();
  await page.getByText("It is not signed.").waitFor();
  expect(await page.locator(".facts a").count()).toBe(0);
});

test("more than a page of reviews are shown when they are asked for", async () => {
  let now = Date.parse("2026-11-29T10:00:00Z");
  const daemon = await plansDaemon({ clock: { ...systemClock, now: () => (now += 1000) } });
  for (let nth = 1; nth <= 60; nth += 1) await sendTo(daemon, samplePlan([]), { pullRequest: nth });
  await open(`${daemon.url}/reviews`);
  await page.getByRole("link", { name: "Pull request 60" }).waitFor();
  await expect.poll(() => page.locator(".target").count()).toBe(50);
  await page.getByRole("button", { name: "Show more" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Pull request 1", exact: true }).waitFor();
  await expect.poll(() => page.locator(".target").count()).toBe(60);
  await expect.poll(() => page.getByRole("button", { name: "Show more" }).count()).toBe(0);
});

const attacks = [
  "<script>document.title='owned'</script>",
  "<img src=x onerror=\"document.title='owned'\">",
  "</style></script><h1>forged</h1>",
  '" onmouseover="document.title=1" x="',
  "javascript:document.title='owned'",
  "__proto__",
  "service/dev:web/\u202eipa",
  "../../targets/other?state=failed#x",
  "\u0007\u001b[2J{{constructor.constructor('x')()}}",
];

test("S17 whatever a plan says is text", async () => {
  const daemon = await plansDaemon();
  const texts = [...attacks, ...Object.values(hostileTexts).map((make) => make(300))].map((text) => text.slice(0, 290));
  const steps = texts.map((text, nth) =>
    sampleStep(`service/dev:web/${text}`, {
      ...{ file: text, causedBy: nth % 2 === 0 ? "change" : "drift", reason: null },
      changes: [sampleChange(text, text, `${text}!`), { ...sampleChange("", null, { [`x${text}`]: text }), path: "" }],
      changedBy: { subject: text, subjectId: null, at: text },
    }),
  );
  const diagnostics = texts.map((text) => ({
    ...{ severity: "warning", code: text, summary: text, detail: text, file: text, line: 1, column: 1 },
  }));
  const [text = ""] = texts;
  const targets = [
    { target: text, ...samplePlan(steps, { server: text, diagnostics: diagnostics as never }) },
    { target: texts[1], format_version: "2.2", error: { code: "error", message: text, hint: text }, diagnostics: [] },
    { target: texts[2], ...samplePlan([]) },
  ];
  const path = await sendTo(daemon, { format_version: "2.2", targets }, { repository: text, name: text });
  await open(daemon.url + path);
  await page.getByRole("heading", { name: "This plan is not verified" }).waitFor();
  await expect.poll(unfolded).toBe(texts.length);
  expect(await page.locator("script, img, iframe, form, style").count()).toBe(1);
  expect(await page.locator("h1").count()).toBe(1);
  expect(await page.locator("[onmouseover], [onerror]").count()).toBe(0);
  expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
  expect(await page.locator("body").innerText()).not.toMatch(/(?![\n\t])[\p{Cc}\u202e]/u);
  expect(await page.title()).toBe("Reviews – Holdfast");
  await page.goto(`${daemon.url}/reviews`);
  await page.getByRole("link", { name: "Pull request 7" }).waitFor();
  expect(await page.locator("script, img, iframe, form, style").count()).toBe(1);
});

test("S17 only an address of the web becomes a link, whatever a daemon says", async () => {
  const daemon = await plansDaemon();
  const path = await sendTo(daemon, plan);
  const reply = (await (await fetch(`${daemon.url}/api/v1/plans/${path.split("/").at(-1)}`)).json()) as PlanReply;
  const asked = "**/api/v1/plans/*";
  onTestFinished(() => page.unroute(asked));
  let url = "";
  await page.route(asked, (route) => route.fulfill({ json: { ...reply, plan: { ...reply.plan, url } } }));
  for (url of ["javascript:document.title='owned'", "data:text/html,x", "//[", "ftp://example.com/"]) {
    await open(daemon.url + path);
    await page.getByText("ml/platform #7").waitFor();
    expect([url, await page.locator(".facts a").count()]).toEqual([url, 0]);
  }
});

test("both screens have no finding of axe in both themes, and fit 360 px", async () => {
  const daemon = await plansDaemon();
  const long = `service/dev:web/${"a-long-name-".repeat(20)}`;
  const steps = [
    ...plan.steps,
    sampleStep(long, { changes: [sampleChange("image", "b".repeat(300), "c".repeat(300))] }),
  ];
  const path = await sendTo(daemon, samplePlan(steps, { complete: false }), {
    repository: `ml/${"platform-".repeat(9)}`,
  });
  await sendTo(daemon, signedWith(daemon.key, plan), { pullRequest: 8 });
  await open(daemon.url);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 900 });
      for (const shown of ["/reviews", path]) {
        await page.goto(daemon.url + shown);
        if (shown === path) {
          await page.locator("h3").first().waitFor();
          await expect.poll(unfolded).toBe(5);
        } else await page.getByRole("link", { name: "Pull request 8" }).waitFor();
        await page.evaluate(axe.source);
        const { violations } = (await page.evaluate("axe.run()")) as axe.AxeResults;
        const found = violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
        expect([colorScheme, width, shown, found]).toEqual([colorScheme, width, shown, []]);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
        const folder = process.env.SCREENSHOTS;
        const name = `${shown === path ? "review" : "reviews"}-${colorScheme}-${width}`;
        if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
      }
    }
  }
  expect(asked.filter((url) => !url.startsWith(`${daemon.url}/`) && !url.startsWith("data:"))).toEqual([]);
});
