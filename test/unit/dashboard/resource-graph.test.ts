import axe from "axe-core";
import type { Page } from "playwright-core";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import type { ResourceGraphReply } from "../../../src/contract/generated/output.ts";
import type { Outcome } from "../../../src/core/report/report.ts";
import type { TargetReferences } from "../../../src/daemon/api/dashboard-source.ts";
import type { DaemonServer } from "../../../src/daemon/http/daemon-server.ts";
import { newStatus } from "../../../src/daemon/status-after-pass.ts";
import { sampleApplyEvent } from "../../support/sample-apply-event.ts";
import { referencesOf, serveTargets, storedTarget } from "./shown-daemon.ts";
import { openShownPage, type ShownPage } from "./shown-page.ts";

let shown: ShownPage;
let page: Page;
let asked: string[] = [];
beforeAll(async () => {
  shown = await openShownPage(90_000);
  ({ page } = shown);
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  return shown.close;
});

function open(...where: Parameters<ShownPage["open"]>): Promise<void> {
  asked = [];
  return shown.open(...where);
}

async function screenshot(name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

const outcome = (identity: string, rest: Partial<Outcome> = {}): Outcome => ({
  ...{ identity, kind: "service", result: "unchanged", file: null, rollout: null, error: null, attempts: 0 },
  ...rest,
});

type Graph = {
  readonly server: DaemonServer;
  readonly observe: ReturnType<DaemonServer["observe"]>;
  /** Ends a pass that has found this. */
  readonly end: (outcomes: readonly Outcome[]) => Promise<void>;
};

/** Serves a target with these resources and references, as its last pass has left them. */
async function serveGraph(outcomes: readonly Outcome[], references: TargetReferences | null): Promise<Graph> {
  const status = { ...newStatus("prod", "platform"), sync: "Synced" } as const;
  const target = await storedTarget({ status });
  const server = await serveTargets([{ ...target, lastReferences: () => references }]);
  const observe = server.observe("prod");
  const end: Graph["end"] = async (found) => {
    observe.emit(sampleApplyEvent(found));
    await target.keep({ status: { ...status, counts: { unchanged: found.length } } });
    observe.stored?.();
  };
  observe.emit(sampleApplyEvent(outcomes));
  observe.stored?.();
  return { server, observe, end };
}

const platform = {
  "cluster/dev": [],
  "workspace/dev:web": ["cluster/dev"],
  "service/dev:web/api": ["workspace/dev:web", "team/nobody-declares"],
  "service/dev:web/worker": ["workspace/dev:web", "service/dev:web/api"],
  "team/ml": ["team/ml"],
};
const refused = { result: "failed", error: { code: "x", message: "not allowed" } } as const;
const outcomes = Object.keys(platform).map((identity) =>
  outcome(identity, identity === "service/dev:web/api" ? refused : {}),
);

const nodes = () => page.locator("a.node");
const labels = () => nodes().evaluateAll((all) => all.map((one) => one.querySelector("title")?.textContent ?? ""));
const named = (beginning: string) =>
  page.locator("a.node", { has: page.locator("title", { hasText: new RegExp(`^${beginning}`) }) });
const layouts = () => asked.filter((path) => path.startsWith("/assets/graph-layout-"));
/** Counts from then on how often the page has a graph laid out. */
const countLayouts = `
  window.layouts = 0;
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (message) {
    window.layouts += 1;
    postMessage.call(this, message);
  };
`;
const focused = () => page.evaluate("document.activeElement.querySelector('title')?.textContent ?? ''");

test("the graph says what the interface says, and what lays it out is loaded when it is opened", async () => {
  const { server } = await serveGraph(outcomes, referencesOf(platform));
  await open(`${server.url}/targets/prod`);
  await page.locator(".row", { hasText: "not allowed" }).waitFor();
  expect(layouts()).toEqual([]);
  await page.getByRole("link", { name: "Graph", exact: true }).click();
  await nodes().first().waitFor();
  expect(page.url()).toBe(`${server.url}/targets/prod?view=graph`);
  expect(layouts()).toHaveLength(1);
  const reply = (await (await fetch(`${server.url}/api/v1/targets/prod/graph`)).json()) as ResourceGraphReply;
  expect([reply.nodes.length, reply.edges.length]).toEqual([6, 6]);
  const said = reply.nodes.map(({ identity, state }) => {
    const targets = reply.edges.flatMap(({ from, to }) => (from === identity ? [to] : []));
    const is = `${identity}: ${state ?? "not declared"}`;
    return targets.length === 0 ? is : `${is}; refers to ${targets.join(", ")}`;
  });
  expect((await labels()).toSorted()).toEqual(said.toSorted());
  expect(await page.locator(".edge").count()).toBe(6);
  // What the browser tells a screen reader.
  const session = await page.context().newCDPSession(page);
  const { nodes: tree } = await session.send("Accessibility.getFullAXTree");
  const links = tree.flatMap(({ role, name }) => (role?.value === "link" ? [name?.value] : []));
  expect(links).toEqual(expect.arrayContaining(said));
  // The state is a word, which has the colour of the table.
  const failed = page.locator("a.node", { hasText: "service/dev:web/api" }).first();
  await expect.poll(() => failed.getAttribute("class")).toBe("node bad");
  await expect.poll(() => failed.locator(".words").textContent()).toBe("failed service");
  await expect.poll(() => page.locator("a.node.absent").count()).toBe(1);
  await page.getByText("5 of 5 resources are shown, and 1 that they are connected with.").waitFor();
  await page
    .getByText("What is referred to is on the left, in the manifests that the last pass has read (c0ffee).")
    .waitFor();
  // A filter, and the way back to the table.
  await page.getByRole("combobox", { name: "Kind" }).selectOption("team");
  await page.getByText("1 of 1 resources are shown.").waitFor();
  expect(page.url()).toBe(`${server.url}/targets/prod?view=graph&kind=team`);
  await page.getByRole("link", { name: "Table", exact: true }).click();
  await expect.poll(() => page.locator(".row .name").allInnerTexts()).toEqual(["team/ml"]);
});

test("by keyboard alone: every resource in the order of the drawing, move, zoom, and the graph around one", async () => {
  const { server } = await serveGraph(outcomes, referencesOf(platform));
  await open(`${server.url}/targets/prod?view=graph`, { refusals: /status of 409/ });
  await nodes().first().waitFor();
  await page.locator(".graph").focus();
  const order: unknown[] = [];
  for (let nth = 0; nth < 6; nth += 1) {
    await page.keyboard.press("Tab");
    order.push(await focused());
  }
  expect(order).toEqual(await labels());
  const places = await nodes().evaluateAll((all) => all.map((one) => one.getBoundingClientRect().x));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(await page.locator(".edge.chosen").count()).toBeGreaterThan(0);
  const width = () => page.locator(".graph > svg").evaluate((svg) => svg.getBoundingClientRect().width);
  const before = await width();
  await page.keyboard.press("+");
  await page.keyboard.press("+");
  await expect.poll(width).toBeGreaterThan(before * 1.5);
  await page.keyboard.press("0");
  await expect.poll(width).toBeLessThan(before * 1.01);
  await page.getByRole("link", { name: "workspace/dev:web: unchanged; refers to cluster/dev" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "workspace/dev:web" }).waitFor();
  await page.getByRole("link", { name: "Graph of what it refers to, and what refers to it" }).focus();
  await page.keyboard.press("Enter");
  await nodes().first().waitFor();
  expect(page.url()).toBe(`${server.url}/targets/prod?view=graph&around=workspace%2Fdev%3Aweb`);
  await expect.poll(() => nodes().count()).toBe(4);
  await page.getByLabel("How many references away").selectOption("1");
  await page.waitForURL(/depth=1$/);
  await page.getByRole("link", { name: "Graph of all resources" }).focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => nodes().count()).toBe(6);
});

test("the pointer moves and zooms it, and opens a resource only where it has not moved", async () => {
  const services = Array.from({ length: 60 }, (_, nth) => `service/dev:web/${nth}`);
  const list = { "workspace/dev:web": [], ...Object.fromEntries(services.map((one) => [one, ["workspace/dev:web"]])) };
  const { server } = await serveGraph(
    Object.keys(list).map((identity) => outcome(identity)),
    referencesOf(list),
  );
  await open(`${server.url}/targets/prod?view=graph`, { refusals: /status of 409/ });
  await nodes().first().waitFor();
  const box = page.locator(".graph");
  await page.getByRole("button", { name: "Zoom in" }).click();
  await page.getByRole("button", { name: "Zoom in" }).click();
  await box.scrollIntoViewIfNeeded();
  const scrolled = () => box.evaluate(({ scrollLeft, scrollTop }) => [Math.round(scrollLeft), Math.round(scrollTop)]);
  const before = await scrolled();
  const { x = 0, y = 0, width = 0, height = 0 } = (await box.boundingBox()) ?? {};
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width / 2 - 90, y + height / 2 - 60, { steps: 3 });
  await page.mouse.up();
  await expect.poll(scrolled).toEqual([(before[0] ?? 0) + 90, (before[1] ?? 0) + 60]);
  expect(new URL(page.url()).pathname).toBe("/targets/prod");
  const size = () => page.locator(".graph > svg").evaluate((svg) => svg.getBoundingClientRect().width);
  const was = await size();
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -200);
  await page.keyboard.up("Control");
  await expect.poll(size).toBeGreaterThan(was);
  await page.getByRole("button", { name: "Whole graph" }).click();
  await expect.poll(() => box.evaluate((one) => one.scrollHeight <= one.clientHeight + 1)).toBe(true);
  await nodes().nth(7).click();
  await page.waitForURL(/\/resources\//);
});

test("what a pass does colours the graph at once, and everything stays in its place", async () => {
  const { server, observe, end } = await serveGraph(outcomes, referencesOf(platform));
  await open(`${server.url}/targets/prod?view=graph`);
  await nodes().first().waitFor();
  await page.getByText("live", { exact: true }).waitFor();
  const places = () => nodes().evaluateAll((all) => all.map((one) => one.querySelector("svg")?.getAttribute("x")));
  const before = await places();
  observe.begin?.({ target: "prod", scope: "all", cause: "webhook" });
  const rolling = outcome("service/dev:web/worker", { result: "updated", rollout: "progressing" });
  observe.emit({ what: "finished", step: {} as never, outcome: rolling, place: null });
  const worker = named("service/dev:web/worker");
  await expect.poll(() => worker.locator(".words").textContent()).toBe("updated · rollout progressing service");
  await expect.poll(() => worker.getAttribute("class")).toBe("node busy");
  // Another filter says nothing newer, and neither does the table.
  await page.getByRole("combobox", { name: "Kind" }).selectOption("service");
  await expect.poll(() => page.locator("a.node.context").count()).toBe(2);
  await expect.poll(() => worker.getAttribute("class")).toBe("node busy");
  await page.getByRole("link", { name: "Table", exact: true }).click();
  await page.locator(".row", { hasText: "rollout progressing" }).waitFor();
  await page.getByRole("link", { name: "Graph", exact: true }).click();
  await page.getByRole("combobox", { name: "Kind" }).selectOption("");
  await expect.poll(() => nodes().count()).toBe(6);
  await expect.poll(() => worker.getAttribute("class")).toBe("node busy");
  await page.evaluate("window.kept = [...document.querySelectorAll('a.node')]");
  await page.evaluate(countLayouts);
  observe.emit({ what: "rolled-out", identity: rolling.identity, rollout: "timeout" });
  await expect.poll(() => worker.getAttribute("class")).toBe("node bad");
  // The end of the pass says the same, and nothing is laid out again.
  await end(outcomes.map((one) => (one.identity === rolling.identity ? rolling : outcome(one.identity))));
  await expect.poll(() => page.locator("a.node.bad").count()).toBe(0);
  expect(await places()).toEqual(before);
  expect(await page.evaluate("window.kept.every((one) => one.isConnected)")).toBe(true);
  expect(await page.evaluate("window.layouts")).toBe(0);
});

test("a graph that is too large shows what needs attention, says what it leaves out, and stays quick", async () => {
  const services = Array.from({ length: 10_000 }, (_, nth) => `service/dev:web${nth % 10}/${nth}`);
  const list = {
    ...Object.fromEntries(Array.from({ length: 10 }, (_, nth) => [`workspace/dev:web${nth}`, ["cluster/dev"]])),
    ...Object.fromEntries(services.map((one, nth) => [one, [`workspace/dev:web${nth % 10}`]])),
  };
  const referrers = Map.groupBy(Object.entries(list), ([, [to = ""]]) => to);
  const { server } = await serveGraph(
    Object.keys(list).map((identity) => outcome(identity, identity === "service/dev:web7/77" ? refused : {})),
    {
      commit: "c0ffee",
      of: (identity) => list[identity] ?? null,
      to: (identity) => (referrers.get(identity) ?? []).map(([from]) => from),
    },
  );
  await open(`${server.url}/targets/prod?view=graph`);
  const began = performance.now();
  await nodes().first().waitFor();
  expect(performance.now() - began).toBeLessThan(60_000);
  await page.getByText(/^\d+ of 10,010 resources are shown/).waitFor();
  await page.getByText(/ are left out, since those that need attention come first: use the filters, /).waitFor();
  const failed = named("service/dev:web7/77: failed");
  await failed.waitFor();
  const isSeen = await failed.evaluate((node) => {
    const [own, box] = [node, node.closest(".graph") ?? node].map((one) => one.getBoundingClientRect());
    return own !== undefined && box !== undefined && own.top >= box.top && own.bottom <= box.bottom;
  });
  expect(isSeen).toBe(true);
  await screenshot("graph-large");
  await page.getByRole("checkbox", { name: "Needs attention" }).check();
  await page.getByText("1 of 1 resources are shown, and 1 that they are connected with.").waitFor();
  const label = await named("workspace/dev:web7").locator("title").textContent();
  expect(label).toMatch(/; 1,000 more references from it and to it are not shown; does not match the filters$/);
});

test("what is refused since too much is read at once is read again, and what cannot be laid out is told", async () => {
  const { server } = await serveGraph(outcomes, referencesOf(platform));
  const [api, script] = ["**/prod/graph?**", "**/assets/graph-layout-*"];
  onTestFinished(async () => void (await Promise.all([api, script].map((path) => page.unroute(path)))));
  const body = '{ "code": "busy", "message": "too much is being read" }';
  let isBusy = true;
  await page.route(api, (route) =>
    isBusy ? route.fulfill({ status: 503, contentType: "application/json", body }) : route.continue(),
  );
  await open(`${server.url}/targets/prod?view=graph`, { refusals: /status of (?:503|404)/ });
  await page.getByText("too much is being read").waitFor();
  isBusy = false;
  await expect.poll(() => nodes().count()).toBe(6);
  await expect.poll(() => page.getByText("too much is being read").count()).toBe(0);
  await page.route(script, (route) => route.fulfill({ status: 404 }));
  await page.reload();
  await page.getByText("the browser cannot lay it out").waitFor();
});

test("where no manifests can be read, the graph says so and why, without credentials", async () => {
  const { server } = await serveGraph(outcomes, null);
  await open(`${server.url}/targets/prod?view=graph`);
  await page.getByRole("heading", { name: "It is not known what refers to what" }).waitFor();
  await page.getByText(/the source of https:\/\/\S+example\.com is away \(try again\)/).waitFor();
  await expect.poll(() => nodes().count()).toBe(5);
  expect(await page.locator("body").innerText()).not.toContain("CANARY");
});

const attacks = [
  "<script>document.title='owned'</script>",
  '" onmouseover="document.title=1" x="',
  "</svg></style><h1>forged</h1>",
  "javascript:document.title='owned'",
  "__proto__",
  "constructor",
  "service/dev:web/\u202eipa",
  `service/dev:web/${"w".repeat(5000)}`,
];

test("S17 whatever resources are called, the graph shows it as text within their place", async () => {
  const list = new Map(attacks.map((one, nth) => [one, [attacks[(nth + 1) % attacks.length] ?? ""]]));
  const { server } = await serveGraph(
    attacks.map((identity) => outcome(identity)),
    {
      commit: "c0ffee",
      of: (identity) => list.get(identity) ?? null,
      to: (identity) => attacks.filter((one) => list.get(one)?.includes(identity)),
    },
  );
  await open(`${server.url}/targets/prod?view=graph`);
  await expect.poll(() => nodes().count()).toBe(attacks.length);
  expect(await page.locator("script, img, iframe, form, style").count()).toBe(1);
  expect([await page.locator("h1").count(), await page.title()]).toEqual([1, "prod – Holdfast"]);
  expect(await page.locator("body").innerText()).not.toMatch(/(?![\n\t])[\p{Cc}\u202e]/u);
  expect(await page.locator('a[href^="javascript"], [onmouseover], [onerror]').count()).toBe(0);
  const texts = await page.locator("a.node .label").allTextContents();
  expect(texts.filter((text) => text.length > 28)).toEqual([]);
  await page.goto(`${server.url}/targets/prod?view=graph&depth=x&around=${encodeURIComponent(attacks[0] ?? "")}`);
  await page.getByText("depth must be a whole number from 1 to 20").waitFor();
  await page.getByRole("link", { name: "Graph of all resources" }).click();
  await expect.poll(() => nodes().count()).toBe(attacks.length);
  shown.complaints = shown.complaints.filter((text) => !/status of 400/.test(text));
});

test("the graph has no finding of axe in both themes, fits 360 px and asks no other origin", async () => {
  const { server } = await serveGraph(outcomes, referencesOf(platform));
  await open(server.url);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const width of [1440, 360]) {
      await page.setViewportSize({ width, height: 900 });
      for (const [name, query] of [
        ["graph", "view=graph"],
        ["graph-around", "view=graph&around=service%2Fdev%3Aweb%2Fworker"],
      ] as const) {
        await page.goto(`${server.url}/targets/prod?${query}`);
        await nodes().first().waitFor();
        await page.evaluate(axe.source);
        const { violations } = (await page.evaluate("axe.run()")) as axe.AxeResults;
        const found = violations.map(({ id, nodes: at }) => [id, at.map(({ html }) => html)]);
        expect([colorScheme, width, name, found]).toEqual([colorScheme, width, name, []]);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
        await screenshot(`${name}-${colorScheme}-${width}`);
      }
    }
  }
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "no-preference" });
});
