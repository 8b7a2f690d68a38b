import axe from "axe-core";
import { expect, test } from "vitest";
import { HoldfastError } from "../../../src/core/errors.ts";
import type { TargetCommand } from "../../../src/daemon/control-socket.ts";
import { newStatus } from "../../../src/daemon/status-after-pass.ts";
import { startBrowser } from "../../support/browser.ts";
import { serveTargets, storedTarget } from "./shown-daemon.ts";

const API_TOKEN = "CANARY-page";

test("each action says what it does in a dialog that keyboards and screen readers can use, and shows why it is refused", async () => {
  const carried: TargetCommand[] = [];
  const name = "production-with-a-long-name";
  const stored = await storedTarget({
    status: { ...newStatus(name, "platform"), unknown: ["team/ml"] },
    holds: [{ what: "service/dev:web/api", reason: "an incident", until: "commit" }],
    resources: [{ identity: "team/ml", state: "failed", rollout: null, hasDrifted: true, why: "it was refused" }],
  });
  const target = {
    ...stored,
    carryOut: async (command: TargetCommand) => {
      carried.push(command);
      throw new HoldfastError("locked", "<script>alert(1)</script><img src=x onerror=alert(2)> \u202egnp");
    },
  };
  const { url } = await serveTargets([target], { token: API_TOKEN, access: "token" });
  const browser = await startBrowser();
  const page = await browser.newPage({ httpCredentials: { username: "Ada", password: API_TOKEN } });
  page.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => complaints.push(dialog.message()));
  const screens = [
    [`/targets/${name}`, ["Reconcile…", "Hold…", "Release…", "Resolve…"]],
    [`/targets/${name}/resources/team%2Fml`, ["Hold…", "Adopt…", "Redeploy…"]],
  ] as const;
  const offered = page.locator("main .actions > button");
  await page.setViewportSize({ width: 360, height: 800 });
  for (const [path, labels] of screens) {
    await page.goto(url + path);
    await expect.poll(() => offered.allInnerTexts()).toEqual(labels);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const label of labels) {
        await page.getByRole("button", { name: label }).focus();
        await page.keyboard.press("Enter");
        await page.locator("dialog[open]").waitFor();
        await page.evaluate(axe.source);
        const { violations } = (await page.evaluate("axe.run()")) as axe.AxeResults;
        const found = violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
        expect([colorScheme, label, found]).toEqual([colorScheme, label, []]);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
        const folder = process.env.SCREENSHOTS;
        const file = `action-${label.slice(0, -1)}-${colorScheme}.png`;
        if (folder !== undefined) await page.screenshot({ path: `${folder}/${file}` });
        await page.keyboard.press("Escape");
        await page.locator("dialog").waitFor({ state: "detached" });
      }
    }
  }
  await page.goto(`${url}/targets/${name}`);
  expect(carried).toEqual([]);
  // Nothing is sent without a name, and what the daemon refuses stays readable text.
  await page.getByRole("button", { name: "Reconcile…" }).click();
  await page.getByLabel("Your name").fill("");
  await page.getByRole("button", { name: "Reconcile now" }).click();
  expect(carried).toEqual([]);
  await page.getByLabel("Your name").fill("Ada");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  expect(await page.getByRole("alert").innerText()).toBe(
    "<script>alert(1)</script><img src=x onerror=alert(2)> \\u202egnp",
  );
  expect(carried).toEqual([{ is: "reconcile", by: "Ada" }]);
  expect(complaints).toEqual([]);
});

test("a page that may only read offers no action", async () => {
  const { url } = await serveTargets([await storedTarget({ status: newStatus("prod", "platform") })]);
  const browser = await startBrowser();
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  const asked = page.waitForResponse(`${url}/api/v1/session`);
  await page.goto(`${url}/targets/prod`);
  expect(await (await asked).json()).toMatchObject({ mayAct: false });
  await page.getByText("Last pass").first().waitFor();
  expect(await page.locator(".actions").count()).toBe(0);
});
