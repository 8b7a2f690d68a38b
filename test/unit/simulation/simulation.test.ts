import { globSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { filesOf } from "../../mutations/apply-mutation.ts";
import { safeguards } from "../../simulation/safeguards.ts";
import { scriptOf } from "../../simulation/script.ts";
import { startNode } from "../../support/process.ts";

const root = join(import.meta.dirname, "../../..");
const faults = join(root, "test/simulation/faults");

const simulate = (...args: readonly string[]) =>
  startNode([join(root, "test/simulation/run.ts"), ...args], { cwd: root }).ended;

test("20,000 events of a simulated world violate nothing", async () => {
  const { code, stdout, stderr } = await simulate("--seed", "1", "--steps", "20000");
  expect(stdout + stderr).toContain("no violation");
  expect(code).toBe(0);
});

// With a token of limited permissions each request is verified in a thread of its own.
test.each([
  { seed: 7, isLimited: false },
  { seed: 51, isLimited: true },
])("the same seed is the same run: $seed", async ({ seed, isLimited }) => {
  expect(scriptOf(seed)).toMatchObject({ isLimited });
  const runs = await Promise.all(Array.from({ length: 2 }, () => simulate("--seed", `${seed}`, "--steps", "4000")));
  const [first = "", second = ""] = runs.map(({ stdout }) => /trace ([\da-f ]+)/.exec(stdout)?.[1]);
  expect(first).not.toBe("");
  expect(second).toBe(first);
  expect(scriptOf(seed)).toEqual(scriptOf(seed));
  expect(scriptOf(seed)).not.toEqual(scriptOf(seed + 1));
});

describe("a fault that the simulation has found does not come back", () => {
  const files = globSync("*.json", { cwd: faults }).toSorted();

  test.each(files.map((file) => [file.replace(/\.json$/, "").replaceAll("-", " "), file] as const))(
    "%s",
    async (_, file) => {
      const { code, stdout } = await simulate("--replay", join(faults, file));
      expect(stdout).toMatch(/\d+ events, trace/);
      expect(code, stdout.slice(-2000)).toBe(0);
    },
  );

  test("there are some", () => {
    expect(files.length).toBeGreaterThanOrEqual(2);
  });
});

test("each safeguard that is taken out for the simulation is in the code once", () => {
  const counts = safeguards.map((safeguard) => [safeguard.name, filesOf(safeguard, root).length]);
  expect(counts).toEqual(safeguards.map(({ name }) => [name, 1]));
});
