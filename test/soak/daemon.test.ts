import { expect, test } from "vitest";
import { soakDaemon, soakText } from "./soak-daemon.ts";
import { seedOf } from "./sweep.ts";

// With a pass each minute, 6 MiB a day; runs differ by 4 kB. What is resident comes in steps, and is printed: it must stay
// within the limit of the image.
const MAX_USED_KILOBYTES = 4;
const MAX_MEGABYTES = 300;

test("F47 the memory of a daemon is flat over 2,000 passes with commits and faults, and nothing is lost or doubled", async () => {
  const soak = { passes: 2000, manifests: Number(process.env.SOAK_MANIFESTS ?? 1000), seed: seedOf() };
  const report = await soakDaemon(soak);
  process.stdout.write(soakText(soak, report));
  expect(report).toMatchObject({ commits: 200, doubled: [], lost: [] });
  expect(report.faults).toBeGreaterThan(30);
  expect(report.usedKilobytesPerPass).toBeLessThan(MAX_USED_KILOBYTES);
  expect(report.peakMegabytes).toBeLessThan(MAX_MEGABYTES);
  expect(report.moreFiles).toBeLessThan(5);
});
