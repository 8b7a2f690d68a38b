import type { Page } from "playwright-core";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import type { Clock } from "../../../src/clock/clock.ts";
import { systemClock } from "../../../src/clock/system.ts";
import type { CommitSummary } from "../../../src/contract/generated/output.ts";
import { HoldfastError } from "../../../src/core/errors.ts";
import type { Change } from "../../../src/core/plan/plan.ts";
import type { PassRecord, ResourceStatus, TargetStatus } from "../../../src/core/report/target-status.ts";
import type { DashboardTarget, ExplainedValue } from "../../../src/daemon/api/dashboard-source.ts";
import { newStatus } from "../../../src/daemon/status-after-pass.ts";
import { escapeUnprintable } from "../../../src/model/unprintable.ts";
import { launchBrowser } from "../../support/browser.ts";
import { hostileShownTexts } from "../../support/hostile-shown-texts.ts";
import { plansDaemon, planToSend } from "../../support/plans-daemon.ts";
import { sampleChange, samplePlan, sampleStep } from "../../support/sample-plan.ts";
import { serveTargets, storedTarget } from "./shown-daemon.ts";

const TOKEN = "CANARY-page";
const AT = "2026-11-22T11:58:04.000Z";
const COMMIT = "9d01b2c3e4f5061728394a5b6c7d8e9f00112233";

let page: Page;
let complaints: string[] = [];
let asked: string[] = [];
// One page for all tests: this browser is a single process, which ends with a page.
beforeAll(async () => {
  const browser = await launchBrowser();
  page = await browser.newPage({ httpCredentials: { username: "Ada", password: TOKEN } });
  page.setDefaultTimeout(60_000);
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => complaints.push(dialog.message()));
  page.on("request", (request) => asked.push(request.url()));
  return () => browser.close();
});

/** The same texts, and harmless ones of the same length and lines, by which the page has the same elements. */
type Texts = { readonly texts: readonly string[]; readonly all: string };

const textsOf = (texts: readonly string[]): Texts => ({ texts, all: texts.join("\n") });
const harmless = (text: string, nth: number): string => {
  const lines = text.split("\n").map((line) => escapeUnprintable(line).replace(/./gu, "p"));
  return `${lines.join("\n")}n${nth}`;
};
const hostile = textsOf(hostileShownTexts.map((text, nth) => `${text}n${nth}`));
const plain = textsOf(hostileShownTexts.map(harmless));
// Of a plan, the daemon makes the differences, by what is long as it was written.
const unwritten = textsOf(hostileShownTexts.map((text, nth) => `${text.replaceAll(/[^\n]/g, "p")}n${nth}`));
/** The same as names, which are not as long. */
const named = ({ texts }: Texts): readonly string[] => texts.map((text, nth) => `${nth} ${text.slice(0, 60)}`);

/** What the page has made: its elements with the names of their attributes, and what people read and follow. */
type Seen = {
  readonly elements: readonly string[];
  readonly text: string;
  readonly told: readonly string[];
  readonly links: readonly string[];
};

const LOOK = `(() => {
  const all = [...document.querySelectorAll("*")];
  const valuesOf = (name) => all.flatMap((one) => one.getAttribute(name) ?? []);
  return {
    elements: all.map((one) => one.localName + " " + one.getAttributeNames().toSorted().join(" ")),
    text: document.body.textContent,
    told: [document.title, ...["title", "aria-label", "alt", "placeholder", "data-label"].flatMap(valuesOf)],
    links: [...document.links].map(({ href }) => href),
  };
})()`;

const UNFOLD = "for (const fold of document.querySelectorAll('details')) fold.open = true;";
// The browser reads nothing of a table that is not high enough.
const UNROLL = "for (const box of document.querySelectorAll('.rows')) box.style.maxHeight = 'none';";

/** Shows the same screen with harmless texts and with hostile ones; they are text, and nothing else is different. */
async function compared(show: (texts: Texts) => Promise<void>, beside = plain): Promise<Seen> {
  const seen: Seen[] = [];
  onTestFinished(() => page.goto("about:blank").then(() => undefined));
  for (const texts of [beside, hostile]) {
    [complaints, asked] = [[], []];
    await show(texts);
    await page.evaluate(UNFOLD);
    seen.push((await page.evaluate(LOOK)) as Seen);
    await harmed();
  }
  const [before, after] = seen;
  if (before === undefined || after === undefined) throw new Error("nothing was shown");
  expect(after.elements).toEqual(before.elements);
  expect([after.text, ...after.told].flatMap(unseenIn)).toEqual([]);
  return after;
}

/** The places of a text where there is something that nobody sees. */
function unseenIn(text: string): readonly string[] {
  return text.split("\n").flatMap((line) => {
    const shown = escapeUnprintable(line);
    if (shown === line) return [];
    let at = 0;
    while (shown[at] === line[at]) at += 1;
    return [shown.slice(Math.max(0, at - 40), at + 20)];
  });
}

/** Fails if a script ran, if the page complained, or if it asked or links to another origin. */
async function harmed(): Promise<void> {
  const { origin } = new URL(page.url());
  expect(await page.evaluate("[globalThis.owned, document.querySelectorAll('h1').length]")).toEqual([undefined, 1]);
  // What is refused, and what the network of the machine does, is told by the browser too.
  expect(complaints.filter((text) => !/status of 4\d\d|net::ERR_/.test(text))).toEqual([]);
  expect(asked.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith("data:"))).toEqual([]);
  const links = (await page.evaluate("[...document.links].map(({ href }) => href)")) as string[];
  expect(
    links.filter((url) => !url.startsWith(`${origin}/`) && url !== "https://github.com/ml/platform/pull/7"),
  ).toEqual([]);
}

/** The texts that are not there, each as it should be shown. */
function missing({ text }: Seen, texts: readonly string[]): readonly string[] {
  // What is stored has no half characters.
  return texts.filter((one) => ![one, one.toWellFormed()].some((form) => text.includes(escapeUnprintable(form))));
}

const stalled = (name: string, text: string, texts: readonly string[]): TargetStatus => ({
  ...newStatus(name, text),
  ...{ sync: "OutOfSync", condition: "Stalled", reason: "Failed", message: text, wantedRevision: COMMIT },
  lastPass: { ...pass(AT), message: text },
  unknown: texts,
  invalid: texts.map((one) => ({ identity: one, file: one, line: 7, message: one, lastGood: { at: AT, version: 4 } })),
  frozen: { until: null, reason: text },
  registryOnly: texts.map((one) => ({ kind: one, count: 12, identities: [one] })),
  gates: {
    ...{ passed: 3, failed: 1, unanswered: 0 },
    closed: texts.map((one) => ({
      ...{ identity: one, name: one, verdict: "fail", score: 0.5, summary: one, at: AT },
      place: { file: one, line: 7 },
    })),
  },
});

const pass = (endedAt: string): PassRecord => ({
  ...{ startedAt: endedAt, endedAt, commit: COMMIT, result: "incomplete", reason: "Failed", message: null },
  counts: { failed: 2 },
});

const resource = (identity: string, text: string): ResourceStatus => ({
  ...{ identity, state: "failed", rollout: null, hasDrifted: true, why: text },
  changedBy: { subject: text, subjectId: text, at: text },
});

/** A clock by which requests are far apart, so that none is one too many. */
function hasty(): Clock {
  let passed = 0;
  const later = (): number => {
    passed += 1000;
    return passed;
  };
  return {
    ...systemClock,
    now: () => systemClock.now() + later(),
    monotonic: () => systemClock.monotonic() + later(),
  };
}

test("the corpus has more than two hundred texts, each another one", () => {
  expect(new Set(hostileShownTexts).size).toBeGreaterThan(200);
});

test("S17 targets, sources, messages and stages are text in the list of targets", async () => {
  const seen = await compared(async (texts) => {
    const names = named(texts);
    const stored = await storedTarget({ status: newStatus("base", null) });
    const targets = names.map((name, nth): DashboardTarget => {
      const text = texts.texts[nth] ?? "";
      return { ...stored, name, status: async () => stalled(name, text, [text]) };
    });
    const stages = names.map((name, nth) => {
      const message = texts.texts[nth] ?? "";
      return {
        name,
        after: [message],
        state: "Failed",
        targets: [{ target: name, state: "Failed", commit: null, message }],
      } as const;
    });
    const server = await serveTargets(targets, { stages });
    server.configured(texts.all);
    for (const name of names.slice(0, 3)) {
      const observe = server.observe(name);
      observe.begin?.({ target: name, scope: "all", cause: "interval" });
      observe.emit({ what: "waiting", text: texts.all } as never);
    }
    await page.goto(server.url);
    await page.getByText(`${names.length} targets`, { exact: true }).waitFor();
    await page.getByRole("button", { name: /^Show \d+ more$/ }).click();
    await expect.poll(() => page.locator(".target").count()).toBe(names.length);
  });
  expect(missing(seen, [...hostile.texts, ...named(hostile)])).toEqual([]);
});

test("S17 what a target has to say is text, in its table and in the dialogs too", async () => {
  const seen = await compared(async (texts) => {
    const names = named(texts);
    const stored = await storedTarget({
      status: stalled("prod", texts.all, texts.texts),
      holds: names.map((what) => ({ what, reason: what, by: what, until: "commit" })),
      resources: names.map((name, nth) => resource(`service/dev:web/${name}`, texts.texts[nth] ?? "")),
    });
    const stage = { name: texts.all, after: [], state: "Failed" } as const;
    const others = names.map((target) => ({ target, state: "Failed", commit: null, message: null }) as const);
    const server = await serveTargets([stored], {
      ...{ token: TOKEN, access: "token" },
      stages: [
        { ...stage, targets: [{ target: "prod", state: "Failed", commit: null, message: texts.all }, ...others] },
      ],
    });
    await page.goto(`${server.url}/targets/prod`);
    await page.locator(".row .why").first().waitFor();
    await page.locator(".passes tbody tr").first().waitFor();
    await page.evaluate(UNROLL);
    await expect.poll(() => page.locator(".row .why").count()).toBe(names.length);
    await page.getByRole("button", { name: "Release…" }).click();
    await page.locator("dialog[open]").waitFor();
  });
  expect(missing(seen, [...hostile.texts, ...named(hostile)])).toEqual([]);
  const told = await page.locator("dialog option").allTextContents();
  expect(missing({ ...seen, text: told.join() }, named(hostile))).toEqual([]);
});

test("S17 why an action is refused is text", async () => {
  const target = await storedTarget({ status: newStatus("prod", null) });
  const refusing: DashboardTarget = {
    ...target,
    carryOut: async () => {
      throw new HoldfastError("locked", hostile.all);
    },
  };
  const server = await serveTargets([refusing], { token: TOKEN, access: "token" });
  [complaints, asked] = [[], []];
  onTestFinished(() => page.goto("about:blank").then(() => undefined));
  await page.goto(`${server.url}/targets/prod`);
  await page.getByRole("button", { name: "Reconcile…" }).click();
  await page.getByLabel("Your name").fill("Ada");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator("dialog [role=alert]").textContent()).toBe(escapeUnprintable(hostile.all));
  expect(await page.locator("dialog [role=alert] *").count()).toBe(0);
  await harmed();
});

const explained = (identity: string, { texts, all }: Texts): ExplainedValue => ({
  ...{ at: AT, manifests: "last-pass" },
  versions: texts.map((text, version) => ({ version, subject: text, subjectId: text, at: text })),
  report: {
    ...{ format_version: "2.2", server: all, identity, pointer: "", diagnostics: [] },
    wanted: { value: keyed(texts), file: all, line: 7, commit: COMMIT, author: all, at: all, isOldest: true },
    written: { value: keyed(texts), at: all, version: 3, commit: COMMIT, isUncommitted: false },
    live: { value: keyed(texts), version: 4, subject: all, subjectId: all, at: all, cause: "drift", isSince: true },
    changes: texts.map((text) => ({
      ...{ path: `/${text}`, label: text, before: `${text} live`, after: keyed([text]), recorded: text },
      ...{ cause: "drift", diff: `-${text}\n+${text}`, file: text, line: 8 },
      changedBy: { subject: text, subjectId: text, at: text },
    })),
    gates: texts.map((text) => ({
      ...{ name: text, place: { file: text, line: 7 }, verdict: "fail", score: 0.5, summary: text, at: text },
    })),
    changedSince: texts.map((text) => ({
      ...{ path: `/${text}`, label: text, before: text, after: text, cause: "drift", diff: null },
    })),
  },
});

/** A value with each text as a key too; `__proto__` is one like others. */
function keyed(texts: readonly string[]): { readonly [text: string]: string } {
  return Object.fromEntries(texts.map((text) => [text, text]));
}

test("S17 values, authors, differences, versions and events of a resource are text", async () => {
  const seen = await compared(async (texts) => {
    const status = { ...newStatus("prod", null), lastPass: pass(AT) };
    const hold = { what: "team/ml", reason: texts.all, by: texts.all, until: "commit" } as const;
    const target = await storedTarget(
      { status, holds: [hold], resources: [resource("team/ml", texts.all)] },
      async ({ identity, pointer }) => {
        const { report, ...rest } = explained(identity, texts);
        return { ...rest, report: { ...report, pointer } };
      },
    );
    const server = await serveTargets([target]);
    const field = encodeURIComponent(`/${texts.texts[0]}`);
    await page.goto(`${server.url}/targets/prod/resources/team%2Fml?field=${field}`);
    await page.getByRole("heading", { level: 4, name: "Live drift" }).waitFor();
    await page.locator("section[aria-labelledby=events] li").first().waitFor();
    await page.getByRole("heading", { name: "Next step" }).waitFor();
  });
  expect(missing(seen, hostile.texts)).toEqual([]);
});

test("S17 authors, subjects, writers and messages are text in the history", async () => {
  const seen = await compared(async (texts) => {
    const status = { ...newStatus("prod", null), lastPass: pass(AT) };
    const at = (nth: number) => new Date(Date.parse(AT) - (nth + 1) * 60_000).toISOString();
    const idOf = (nth: number) => nth.toString(16).padStart(40, "0");
    const commits = texts.texts.map(
      (text, nth): CommitSummary => ({ commit: idOf(nth), author: text, at: text, subject: text }),
    );
    const target = await storedTarget({ status: newStatus("prod", null) }, undefined, commits);
    const records = texts.texts.map(
      (text, nth): PassRecord => ({ ...pass(at(nth)), commit: idOf(nth), message: text, machine: text }),
    );
    await target.read((store) => store.keep({ status, records, resources: null }));
    const resources = named(texts).map((name, nth) => resource(`service/dev:web/${name}`, texts.texts[nth] ?? ""));
    await target.keep({ status, resources });
    const server = await serveTargets([target], { clock: hasty() });
    await page.goto(`${server.url}/targets/prod/history?pass=${AT}`);
    await page.locator(".cards a.name").first().waitFor();
    for (const [button, list] of [
      ["Older drift", "section[aria-labelledby=drifts] > ul > li"],
      ["Older passes", ".cards > tbody > tr"],
      ["Older entries", ".cards td li"],
    ] as const) {
      for (let shown = 50; shown < texts.texts.length; shown += 50) {
        await expect.poll(() => page.locator(list).count(), { message: button }).toBe(shown);
        await page.getByRole("button", { name: button }).click();
      }
      await expect.poll(() => page.locator(list).count()).toBeGreaterThanOrEqual(texts.texts.length);
    }
    await expect.poll(() => page.locator(".cards > tbody > tr p > .soft").count()).toBe(texts.texts.length);
  });
  expect(missing(seen, [...hostile.texts, ...named(hostile)])).toEqual([]);
});

test("S17 fields, values and lines that a write has changed are text", async () => {
  const seen = await compared(async (texts) => {
    const status = { ...newStatus("prod", null), lastPass: pass(AT) };
    const fields = texts.texts.map((text, nth): Change => {
      return {
        ...{ path: `/${nth}`, label: text, before: text, after: text },
        cause: "drift",
        diff: text,
      };
    });
    const target = await storedTarget({
      status,
      resources: [resource("service/dev:web/api", "no")],
      changed: new Map([["service/dev:web/api", { fields, leftOut: 1, cut: 1 }]]),
    });
    const server = await serveTargets([target], { clock: hasty() });
    await page.goto(`${server.url}/targets/prod/history?pass=${AT}`);
    await page.locator("details.written > summary").waitFor();
    await expect.poll(() => page.locator("details.written > ul > li").count()).toBe(texts.texts.length);
  });
  expect(missing(seen, hostile.texts)).toEqual([]);
});

test("S17 whatever a plan of a pull request says is text", async () => {
  const seen = await compared(async (texts) => {
    const daemon = await plansDaemon({ clock: hasty() });
    const steps = texts.texts.map((text, nth) =>
      sampleStep(`service/dev:web/${named(texts)[nth]}`, {
        ...{ file: text, causedBy: nth % 2 === 0 ? "change" : "drift" },
        changes: [
          sampleChange(text, text, `${text}!`),
          { ...sampleChange("", null, keyed([text.replaceAll("\n", " ")])), path: "" },
        ],
        changedBy: { subject: text, subjectId: null, at: text },
      }),
    );
    const targets = [{ target: texts.texts[0], ...samplePlan(steps, { server: texts.all.slice(0, 2000) }) }];
    const sent = await daemon.post(planToSend({ format_version: "2.2", targets }));
    await page.goto(daemon.url + ((await sent.json()) as { path: string }).path);
    await page.getByRole("heading", { name: "This plan is not verified" }).waitFor();
    await page.evaluate(UNFOLD);
    await expect.poll(() => page.locator(".plan-block > details > ul > li").count()).toBe(texts.texts.length);
    await page.evaluate(UNFOLD);
    await expect.poll(() => page.locator(".diff").count()).toBe(texts.texts.length);
  }, unwritten);
  // A longer line is cut, and says so.
  const first = hostile.texts.map((text) => text.slice(0, 180).replace(/[\ud800-\udbff]$/, ""));
  expect(missing(seen, [...first, ...named(hostile)])).toEqual([]);
});

/** Goes to addresses within the page, and fails if one does not show what it should, as text. */
const VISIT = `async (visits) => {
  for (const { path, shows } of visits) {
    history.pushState(null, "", path);
    dispatchEvent(new PopStateEvent("popstate"));
    const began = performance.now();
    while (!document.querySelector("h1")?.textContent.includes(shows)) {
      if (performance.now() - began > 60_000) throw new Error("not shown: " + path);
      await new Promise((done) => requestAnimationFrame(done));
    }
  }
}`;

test("S17 names in addresses and filters are text on each screen", async () => {
  const names = named(hostile).map((name) => name.toWellFormed());
  const server = await serveTargets([await storedTarget({ status: newStatus("prod", null) })], { clock: hasty() });
  [complaints, asked] = [[], []];
  onTestFinished(() => page.goto("about:blank").then(() => undefined));
  await page.goto(server.url);
  await page.getByText("1 target", { exact: true }).waitFor();
  const visits = names.flatMap((name, nth) => {
    const [path, shows] = [`/targets/${encodeURIComponent(name)}`, escapeUnprintable(name)];
    const query = new URLSearchParams(
      ["q", "sync", "condition", "search", "state", "kind", "sort", "field", "pass"].map((filter): [string, string] => [
        filter,
        name,
      ]),
    );
    const others = [
      { path: `/?${query}`, shows: "Targets" },
      { path: `/targets/prod?${query}`, shows: "prod" },
      { path: `${path}/history?${query}`, shows: `History of ${shows}` },
      { path: `/reviews/${encodeURIComponent(name)}`, shows: "Review" },
    ];
    return [
      { path, shows },
      { path: `/targets/prod/resources/${encodeURIComponent(name)}?${query}`, shows },
      ...others.slice(nth % 4, (nth % 4) + 1),
    ];
  });
  await page.evaluate(`(${VISIT})(${JSON.stringify(visits)})`);
  await harmed();
  expect(unseenIn(await page.title())).toEqual([]);
});
