import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const lean = import.meta.resolve("../../../src/commands/lean-heap.ts");
const MIB = 1024 * 1024;

// Much is kept, as a run keeps what it reads; then more is made that lives for a while and is kept no longer.
const program = (isLean: boolean) => `
  import { getHeapStatistics } from "node:v8";
  import { stayLean } from ${JSON.stringify(lean)};
  const objects = (count) => Array.from({ length: count }, (_, nth) => ({ nth, text: String(nth) }));
  const kept = objects(1_000_000);
  if (${isLean}) stayLean();
  let most = 0;
  const passing = [];
  for (let round = 0; round < 600; round += 1) {
    passing[round % 24] = objects(10_000);
    most = Math.max(most, getHeapStatistics().total_heap_size);
    await new Promise((resolve) => setImmediate(resolve));
  }
  console.log(JSON.stringify({ most, kept: kept.length }));
`;

async function mostBytes(isLean: boolean): Promise<number> {
  const args = ["--input-type=module", "--eval", program(isLean)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { most }: { readonly most: number } = JSON.parse(stdout);
  return most;
}

test("a lean heap grows by less than one that is left alone", async () => {
  const [left, held] = [await mostBytes(false), await mostBytes(true)];
  expect(held).toBeLessThan(left - 10 * MIB);
});
