import { expect, test } from "vitest";
import { soakDaemon, soakText } from "../soak/soak-daemon.ts";
import { seedOf } from "../soak/sweep.ts";

// The long form is part of `npm run soak`.
test("F47 a daemon loses and doubles nothing over passes with commits and faults, and stays small", async () => {
  const soak = { passes: 50, manifests: 50, seed: seedOf() };
  const report = await soakDaemon(soak);
  process.stdout.write(soakText(soak, report));
  expect(report).toMatchObject({ commits: 5, doubled: [], lost: [] });
  expect(report.peakMegabytes).toBeLessThan(300);
  expect(report.moreFiles).toBeLessThan(5);
});
