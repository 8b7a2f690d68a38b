import axe from "axe-core";
import type { Page } from "playwright-core";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { addUser, startControlPlane } from "../control-plane.ts";
import { launchBrowser } from "../support/browser.ts";

let page: Page;
let complaints: string[] = [];
let asked: string[] = [];
// One page for all tests: this browser is a single process, which ends with a page.
beforeAll(async () => {
  const browser = await launchBrowser();
  page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => asked.push(request.url()));
  return () => browser.close();
});

/** Opens the reference of a new server; at the end of the test, the page must have complained of nothing and asked nobody else. */
async function open({ documentedOnly = false, refusals = /^$/ } = {}) {
  complaints = [];
  asked = [];
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.emulateMedia({ colorScheme: "light" });
  const plane = await startControlPlane({ documentedOnly });
  onTestFinished(async () => {
    await page.goto("about:blank");
    expect(complaints.filter((text) => !refusals.test(text))).toEqual([]);
    expect(asked.filter((url) => !/^(?:data|about):/.test(url) && !url.startsWith(`${plane.url}/`))).toEqual([]);
  });
  await page.goto(plane.url);
  expect(page.url()).toBe(`${plane.url}/docs`);
  await page.getByRole("searchbox").waitFor();
  return plane;
}

const search = () => page.getByRole("searchbox", { name: "Search the reference" });
const results = () => page.locator(".results a");
const focused = () => page.evaluate("document.activeElement.id || document.activeElement.textContent");

/** What axe finds in these parts of the page. */
async function axeFindings(...parts: readonly string[]): Promise<unknown> {
  await page.evaluate(axe.source);
  const include = parts.map((part) => [part]);
  const found = await page.evaluate(`axe.run(${JSON.stringify({ include })}, { resultTypes: ["violations"] })`);
  const { violations } = found as axe.AxeResults;
  return violations.map(({ id, nodes }) => [id, nodes.slice(0, 5).map(({ html }) => html)]);
}

// Each kind of what is on the page: the whole of it has more than 20,000 elements.
const PARTS = [".bar", "aside", ".intro", "#getCluster", "#putApp", "#schema-ServiceManifest"];

test("search finds operations, fields and error codes, by keyboard alone", async () => {
  await open();
  await page.keyboard.press("/");
  await page.keyboard.type("putworksp");
  await expect
    .poll(() => results().first().innerText())
    .toBe("Create or update a workspace\nPUT /api/svc/v1/workspaces");
  await page.keyboard.press("Enter");
  await expect.poll(focused).toBe("putWorkspace");
  expect(new URL(page.url()).hash).toBe("#putWorkspace");
  await expect
    .poll(() => page.locator("#putWorkspace h3").evaluate((heading) => heading.getBoundingClientRect().top))
    .toBeLessThan(200);
  expect(await results().count()).toBe(0);

  await search().fill("lease-held");
  await page.keyboard.press("ArrowDown");
  await expect.poll(focused).toBe("lease-held error 409");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect.poll(focused).toBe("error-lease-held");

  // A field within folds: they are opened.
  await search().fill("auto_rotate_interval VirtualAccountManifest");
  await results().first().click();
  await expect.poll(focused).toBe("auto_rotate_interval");
  expect(await page.locator("#schema-VirtualAccountManifest .name:focus").isVisible()).toBe(true);

  await search().fill("zzqx");
  await page.getByText("Nothing matches.").waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => search().inputValue()).toBe("");
});

test("examples are shown in the chosen language, which the address keeps, and are copied as they are shown", async () => {
  const { url } = await open();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const pane = page.locator("#putWorkspace .request");
  const shown = () => pane.locator("pre:visible").innerText();
  expect(await shown()).toMatch(/^curl --fail-with-body -X PUT/);
  // The arrows of the keyboard go through the languages.
  await pane.getByRole("radio", { name: "curl" }).focus();
  for (const [language, beginning] of [
    ["Python", "import os"],
    ["TypeScript", "const response"],
    ["Go", "package main"],
  ] as const) {
    await page.keyboard.press("ArrowRight");
    await expect.poll(shown).toMatch(new RegExp(`^${beginning}`));
    expect(await page.locator("#getCluster .request pre:visible").innerText()).toMatch(new RegExp(`^${beginning}`));
    expect(new URL(page.url()).searchParams.get("language")).toBe(language);
  }
  await pane.getByRole("button", { name: "Copy" }).click();
  await pane.getByRole("button", { name: "Copy" }).getByText("Copied").waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(await shown());
  await page.goto(`${url}/docs?language=Python#getCluster`);
  expect(await page.locator("#getCluster .request pre:visible").innerText()).toMatch(/^import os/);
  await page.goto(`${url}/docs?language=%22%5D%3Cb%3E`);
  expect(await page.locator("#getCluster .request pre:visible").innerText()).toMatch(/^curl/);
  expect(await page.evaluate("localStorage.length + sessionStorage.length + document.cookie.length")).toBe(0);
});

test.each([
  [false, "light", 1280],
  [false, "dark", 360],
  [true, "dark", 1280],
] as const)(
  "the page has no finding of axe and fits its width (documented only: %s, %s, %i px)",
  async (documentedOnly, colorScheme, width) => {
    await open({ documentedOnly });
    expect(await page.locator("#putWorkspace").count()).toBe(documentedOnly ? 0 : 1);
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    await search().fill("cluster");
    await results().first().waitFor();
    expect(await axeFindings(...PARTS)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
  },
);

const CLUSTER = { type: "cluster", name: "prod-eu", cluster_type: "generic" };

/** Opens the form of an operation. */
async function tryIt(operationId: string) {
  const section = page.locator(`#${operationId}`);
  await section.locator(".try > button").click();
  const form = section.locator("form");
  await form.waitFor();
  const reply = () => form.locator("[role=status]").innerText();
  const send = form.locator("button[type=submit]");
  return { form, reply, send, token: form.getByLabel(/^Token:/), field: (name: string) => form.getByLabel(name) };
}

const REFUSED = /the server responded with a status of 4\d\d/;

test("a call is tried with the caller's token, which is stored nowhere and forgotten when asked", async () => {
  const plane = await open({ refusals: REFUSED });
  await plane.admin.put("/api/svc/v1/clusters", { manifest: CLUSTER });
  const { form, reply, send, token } = await tryIt("getCluster");
  expect(await send.innerText()).toBe("Send");
  await send.click();
  await expect.poll(reply).toMatch(/^401 Unauthorized request \S+\s+→ Give a token above. What unauthorized means/);
  await token.fill("no-such-token");
  await send.click();
  await expect.poll(reply).toContain("The server does not know this token");
  // By keyboard alone; what is pasted may end with a line feed or a space.
  await token.fill(` ${plane.adminToken.open()} `);
  await token.press("Enter");
  await expect.poll(reply).toMatch(/^200 OK/);
  expect(await reply()).toContain('"name": "prod-eu"');
  expect(await page.evaluate("getComputedStyle(document.querySelector('.token input')).webkitTextSecurity")).toBe(
    "disc",
  );
  // All forms have the same token.
  const other = await tryIt("listClusters");
  expect(await other.token.inputValue()).toBe(plane.adminToken.open());
  await form.getByRole("button", { name: "Forget the token" }).click();
  await expect.poll(reply).toBe("");
  expect([await token.inputValue(), await other.token.inputValue()]).toEqual(["", ""]);
  expect(await page.evaluate("document.documentElement.outerHTML")).not.toContain(plane.adminToken.open());
  expect(await page.evaluate("localStorage.length + sessionStorage.length + document.cookie.length")).toBe(0);
  expect(asked.filter((url) => url.includes(plane.adminToken.open()))).toEqual([]);
});

test("a write is a dry run until that is taken out, and what cannot be sent is told", async () => {
  const plane = await open({ refusals: REFUSED });
  await plane.admin.put("/api/svc/v1/clusters", { manifest: CLUSTER });
  const { reply, send, token, field } = await tryIt("putWorkspace");
  const count = async () => (await plane.admin.get("/api/svc/v1/workspaces")).body.pagination.total;
  await token.fill(plane.adminToken.open());
  expect(await send.innerText()).toBe("Send: a dry run, which writes nothing");
  const key = await field("Idempotency-Key").inputValue();
  await send.click();
  await expect.poll(reply).toMatch(/^200 OK/);
  expect([await count(), (await field("Idempotency-Key").inputValue()) === key]).toEqual([0, false]);
  const body = await field("Body, JSON").inputValue();
  await field("Body, JSON").fill(body.replace('"dryRun": true', '"dryRun": false'));
  expect(await send.innerText()).toBe("Send: this writes");
  await send.click();
  await expect.poll(count).toBe(1);
  await field("Body, JSON").fill("{");
  await send.click();
  await expect.poll(reply).toMatch(/^Body: it is not JSON → /);
  const read = await tryIt("getCluster");
  for (const [id, told] of [
    ["", "id: is required → give it"],
    ["..", 'id: ".." cannot be sent in a path'],
  ] as const) {
    await read.form.getByLabel("id path, required").fill(id);
    await read.send.click();
    await expect.poll(read.reply).toBe(told);
  }
});

test("a token of no administrator sees what its roles permit, and is told where they are", async () => {
  const plane = await open({ refusals: REFUSED });
  await addUser(plane, "ada@example.com");
  await plane.admin.put("/api/svc/v1/clusters", { manifest: CLUSTER });
  const read = await tryIt("getCluster");
  await read.token.fill("token-of-ada-at-example.com");
  await read.send.click();
  await expect.poll(read.reply).toMatch(/^404 Not Found[\s\S]*the roles of the token permit this/);
  const write = await tryIt("putCluster");
  await write.send.click();
  await expect.poll(write.reply).toMatch(/^403 Forbidden/);
  await write.form.getByRole("link", { name: "What forbidden means" }).click();
  expect(new URL(page.url()).hash).toBe("#error-forbidden");
  await page.setViewportSize({ width: 360, height: 900 });
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await axeFindings(".try")).toEqual([]);
});

test("without its script the page is read as before", async () => {
  const { url } = await open({ refusals: /ERR_FAILED/ });
  await page.route("**/docs/page.js", (route) => route.abort());
  onTestFinished(() => page.unroute("**/docs/page.js"));
  await page.goto("about:blank");
  await page.goto(`${url}/docs#getCluster`);
  expect(await page.locator("#getCluster .request pre:visible").innerText()).toMatch(/^curl/);
  expect(await page.locator("input, button").count()).toBe(0);
});
