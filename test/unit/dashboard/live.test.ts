import { expect, test } from "vitest";
import type { Outcome } from "../../../src/core/report/report.ts";
import { newStatus } from "../../../src/daemon/status-after-pass.ts";
import { startBrowser } from "../../support/browser.ts";
import { sampleApplyEvent } from "../../support/sample-apply-event.ts";
import { noteShown, pageTime, shownAt } from "../../support/shown-at.ts";
import { serveTargets, storedTarget } from "./shown-daemon.ts";

const outcome = (identity: string, message: string | null): Outcome => ({
  ...{ identity, kind: "service", result: message === null ? "unchanged" : "failed", file: null, rollout: null },
  ...{ error: message === null ? null : { code: "x", message }, attempts: 1 },
});

const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN;

test("what became of a resource of 10,000 reaches the page within 200 ms of the daemon's knowing it", async () => {
  const server = await serveTargets([await storedTarget({ status: newStatus("prod", null) })]);
  const observe = server.observe("prod");
  const all = Array.from({ length: 10_000 }, (_, nth) =>
    outcome(`service/dev:web/s${nth}`, nth === 0 ? "first" : null),
  );
  observe.emit(sampleApplyEvent(all));
  const browser = await startBrowser();
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(60_000);
  await page.goto(`${server.url}/targets/prod`);
  await page.getByText("10,000, 1 need attention").waitFor();
  await page.locator(".row .why", { hasText: "first" }).waitFor();
  await page.getByText("live", { exact: true }).waitFor();
  await noteShown(page);
  observe.begin?.({ target: "prod", scope: "all", cause: "webhook" });
  observe.emit({ what: "begun", steps: 40 });
  const [told, idle]: [number[], number[]] = [[], []];
  for (let nth = 0; nth < 20; nth += 1) {
    const before = pageTime();
    // What a busy machine takes for anything that this browser does.
    idle.push(
      Number(
        await page.evaluate(
          "new Promise(requestAnimationFrame).then(() => performance.timeOrigin + performance.now())",
        ),
      ) - before,
    );
    const at = pageTime();
    observe.emit({
      what: "finished",
      step: {} as never,
      outcome: outcome("service/dev:web/s0", `told-${nth}`),
      place: null,
    });
    told.push((await shownAt(page, `told-${nth}`)) - at);
  }
  expect(Math.min(...told)).toBeGreaterThan(0);
  // An event that waits for a tick of a timer, or is polled for, is later than this on every machine.
  expect(median(told) - median(idle), told.map(Math.round).join()).toBeLessThan(200);
});
