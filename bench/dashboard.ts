import { mkdirSync } from "node:fs";
import chromium from "@sparticuz/chromium";
import { type Page, chromium as playwright } from "playwright-core";
import { systemClock, systemRandom } from "../src/clock/system.ts";
import type { Outcome } from "../src/core/report/report.ts";
import type { DashboardTarget } from "../src/daemon/api/dashboard-source.ts";
import { nothingShown } from "../src/daemon/api/dashboard-source.ts";
import { type DaemonServer, startDaemonServer } from "../src/daemon/http/daemon-server.ts";
import { newStatus } from "../src/daemon/status-after-pass.ts";
import { createLog } from "../src/log/log.ts";
import { stateAt } from "../src/state/open-state.ts";
import { sampleApplyEvent } from "../test/support/sample-apply-event.ts";
import { noteShown, pageTime, shownAt } from "../test/support/shown-at.ts";

/** What the page of a daemon takes in a browser, in milliseconds. */
export type DashboardTimes = {
  /** From opening a target until its first resources are shown. */
  readonly firstViews: readonly number[];
  /** From an event of a pass until the page shows it. */
  readonly updates: readonly number[];
};

const TARGET = "prod";

/** Measures the page of a target with so many resources, so many times. */
export async function measureDashboard(
  work: string,
  { count, pairs }: { readonly count: number; readonly pairs: number },
): Promise<DashboardTimes> {
  mkdirSync(work, { recursive: true });
  const state = stateAt(work, { clock: systemClock, random: systemRandom, readKey: () => null });
  const target: DashboardTarget = {
    ...{ name: TARGET, isNamed: true, hasLease: () => true, recorded: state.recorded },
    status: async () => newStatus(TARGET, null),
    read: async (read) => read(await state.target()),
    explain: async () => Promise.reject(new Error("nothing is explained")),
    commits: async () => [],
    lastReferences: () => null,
    readReferences: async () => Promise.reject(new Error("nothing is read")),
  };
  const server = await startDaemonServer({
    ...{ host: "127.0.0.1", port: 0, clock: systemClock, random: systemRandom },
    log: createLog({ level: "silent", format: "json", stream: { write: () => {} } }),
    stopping: new AbortController().signal,
    hookOf: () => undefined,
    token: () => null,
    build: { version: "bench", commit: null },
    targets: async () => [],
    gates: async () => ({}),
    dashboard: { ...nothingShown, targets: () => [target] },
  });
  const browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: [...chromium.args, "--no-sandbox"],
    headless: true,
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    return await measured(page, server, { count, pairs });
  } finally {
    await browser.close();
    await server[Symbol.asyncDispose]();
    await state[Symbol.asyncDispose]();
  }
}

async function measured(
  page: Page,
  server: DaemonServer,
  { count, pairs }: { readonly count: number; readonly pairs: number },
): Promise<DashboardTimes> {
  const observe = server.observe(TARGET);
  observe.emit(sampleApplyEvent(Array.from({ length: count }, (_, nth) => outcomeOf(nth, nth === 0 ? "first" : null))));
  const firstViews: number[] = [];
  // The first one of each does not count.
  for (let nth = 0; nth <= pairs; nth += 1) {
    await page.goto("about:blank");
    const began = performance.now();
    await page.goto(`${server.url}/targets/${TARGET}`, { waitUntil: "commit" });
    await page.locator(".row .why", { hasText: "first" }).waitFor();
    firstViews.push(performance.now() - began);
  }
  await page.getByText("live", { exact: true }).waitFor();
  await noteShown(page);
  const updates: number[] = [];
  for (let nth = 0; nth <= 4 * pairs; nth += 1) {
    const at = pageTime();
    observe.emit({ what: "finished", step: {} as never, outcome: outcomeOf(0, `told-${nth}`), place: null });
    updates.push((await shownAt(page, `told-${nth}`)) - at);
  }
  return { firstViews: firstViews.slice(1), updates: updates.slice(1) };
}

function outcomeOf(nth: number, message: string | null): Outcome {
  return {
    ...{ identity: `service/bench:block-0/svc-${nth}`, kind: "service", file: null, rollout: null, attempts: 1 },
    ...(message === null
      ? { result: "unchanged", error: null }
      : { result: "failed", error: { code: "refused", message } }),
  };
}
