import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { everyKind } from "../support/manifests.ts";
import { sourceOf } from "../support/source.ts";
import { soakSizes } from "./sizes.ts";
import { runOnSmallDisk, whyNoSmallDisk } from "./small-disk.ts";
import { runWithFault, whyNoStrace } from "./strace.ts";
import { countPoints, nothingFound, record } from "./sweep.ts";

/** A source, and a command for it that makes both databases and all the small files beside them. */
async function firstStart() {
  const { folder } = await sourceOf(everyKind);
  const state = join(folder, ".holdfast");
  return { folder, state, args: [inject("holdfast"), "plan", "--embedded", "--state", join(state, "state")] };
}

const works = { code: 0, stderr: expect.stringMatching(/^embedded control plane at [^\n]*\n$/) };

const noStrace = whyNoStrace();
if (noStrace !== null) process.stdout.write(`F72 small files are not swept: ${noStrace}\n`);

describe.skipIf(noStrace !== null)("F72 a first start", () => {
  test.each([
    { call: "openat", fault: "killed" },
    { call: "fsync", fault: "killed" },
    { call: "?unlink,unlinkat", fault: "killed" },
    { call: "?link,linkat", fault: "killed" },
    { call: "?rename,?renameat,renameat2", fault: "killed" },
    { call: "?link,linkat", fault: "full once" },
    { call: "?rename,?renameat,renameat2", fault: "full once" },
  ] as const)("with the fault `$fault` at any $call is followed by one that works", async ({ call, fault }) => {
    const { folder, state, args } = await firstStart();
    const count = countPoints((nth) => {
      if (!runWithFault(args, folder, fault, { call, nth }).isReached) return false;
      const env = { PATH: process.env.PATH ?? "", HOME: folder };
      const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", env });
      expect({ code: status, stderr }).toEqual(works);
      rmSync(state, { recursive: true, force: true });
      return true;
    }, soakSizes);
    const counts = fault === "killed" ? { killPoints: count, faults: 0 } : { killPoints: 0, faults: count };
    const on = `plan --embedded, ${fault} at ${call}`;
    record({ sweep: "first start, small files", on, seed: null, randomSteps: 0, ...counts, ...nothingFound });
    expect(count).toBeGreaterThan(0);
  });

  test("works on a file system that has no links", async () => {
    const { folder, args } = await firstStart();
    const point = { call: "?link,linkat", nth: 1 };
    const { isReached, code, stderr } = runWithFault(args, folder, "unsupported from then on", point);
    expect({ isReached, code, stderr }).toEqual({ isReached: true, ...works });
  });
});

const noDisk = whyNoSmallDisk();
if (noDisk !== null) process.stdout.write(`F72 full disks are not tried: ${noDisk}\n`);

describe.skipIf(noDisk !== null)("F72 a first start on a disk that is too small", () => {
  test("says so with a path, whatever the size, and the same command works once there is room", async () => {
    const { folder, state, args } = await firstStart();
    mkdirSync(state);
    let size = 4;
    for (; ; size += 4) {
      const [refused, again] = await runOnSmallDisk([process.execPath, ...args], { size, disk: state, cwd: folder });
      expect({ size, code: again.code, stderr: again.stderr }).toEqual({ size, ...works });
      expect(refused.stderr).not.toContain("a fault of holdfast");
      if (refused.code === 0 && !refused.stderr.includes("warning")) break;
      expect(refused.stderr).toMatch(/^(?:error|warning): .*\/\.holdfast\/state.*(?:no space|is full)/m);
      if (refused.code !== 0) expect({ size, ...refused }).toMatchObject({ size, code: 1, stdout: "" });
    }
    const on = `plan --embedded, on disks of 4 to ${size - 4} KiB`;
    const counts = { killPoints: 0, faults: size / 4 - 1, randomSteps: 0 };
    record({ sweep: "first start, small files", on, seed: null, ...counts, ...nothingFound });
    expect(size).toBeGreaterThan(100);
  });
});
