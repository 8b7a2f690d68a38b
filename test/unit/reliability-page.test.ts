import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { faultKinds } from "../soak/fault-kinds.ts";
import { reliabilityPage } from "../soak/reliability-page.ts";
import { nothingFound, type SweepName, type SweepResult, sweeps } from "../soak/sweep.ts";

const docs = resolve(import.meta.dirname, "../../docs");
const page = readFileSync(join(docs, "reliability.md"), "utf8");

const results = (Object.keys(sweeps) as SweepName[]).map(
  (sweep): SweepResult => ({
    ...nothingFound,
    ...{ sweep, on: "full", seed: 7, killPoints: 1, faults: 2, randomSteps: 3 },
  }),
);

/** The page without what differs from run to run. */
function formOf(text: string): string {
  return text
    .replace(/\(seed [\d, ]+\)/, "(seeds)")
    .replaceAll(/\d+/g, "0")
    .replaceAll(/^(- \*\*.*?\*\*) \(.*?\):/gm, "$1:");
}

test("the published page is that of the sweeps, faults, defects and safeguards that there are", () => {
  expect(formOf(page)).toBe(formOf(reliabilityPage({ date: "2026-01-01", results })));
});

test("the published run has tried something in every sweep, and found nothing", () => {
  const rows = [...page.matchAll(/^\| (.+?) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$/gm)];
  expect(rows.map(([, name]) => name)).toEqual([...Object.keys(sweeps), "all"]);
  for (const [, name, ...counts] of rows) {
    const [killPoints = 0, faults = 0, randomSteps = 0, ...found] = counts.map(Number);
    expect([name, killPoints + faults + randomSteps > 0, found]).toEqual([name, true, [0, 0, 0]]);
  }
});

test("a run that lacks a sweep is not published", () => {
  expect(() => reliabilityPage({ date: "2026-01-01", results: results.slice(1) })).toThrow(
    'the sweep "first start and upgrades" has no result',
  );
});

test("there are 39 kinds of fault", () => {
  expect(Object.keys(faultKinds)).toHaveLength(39);
});
