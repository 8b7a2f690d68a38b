import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const bound = import.meta.resolve("../../../src/commands/young-generation.ts");
const MIB = 1024 * 1024;

// Much is made and outlives a look or two, as pages of a list do; what has no bound grows to several times as much.
const program = (isBound: boolean) => `
  import { getHeapSpaceStatistics } from "node:v8";
  import { boundYoungGeneration } from ${JSON.stringify(bound)};
  if (${isBound}) boundYoungGeneration();
  const kept = [];
  for (let round = 0; round < 200; round += 1) {
    kept[round % 4] = Array.from({ length: 20_000 }, (_, nth) => ({ nth, text: String(nth) }));
    await new Promise((resolve) => setImmediate(resolve));
  }
  console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size);
`;

async function youngBytes(isBound: boolean): Promise<number> {
  const args = ["--max-semi-space-size=64", "--input-type=module", "--eval", program(isBound)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return Number(stdout);
}

test("the young generation grows as far as is needed, and no further", async () => {
  const [left, held] = [await youngBytes(false), await youngBytes(true)];
  expect(left).toBeGreaterThan(64 * MIB);
  expect(held).toBeGreaterThanOrEqual(32 * MIB);
  expect(held).toBeLessThanOrEqual(64 * MIB);
});
