import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const lean = import.meta.resolve("../../../src/commands/lean-heap.ts");

type Leaner = "startLean" | "stayLean";

// Some is kept, as a run keeps what it reads, and as much is not.
const program = (kept: number, leaner: Leaner) => `
  import { getHeapStatistics } from "node:v8";
  import { ${leaner} } from ${JSON.stringify(lean)};
  const objects = (count) => Array.from({ length: count }, (_, nth) => ({ nth, text: String(nth) }));
  const used = () => getHeapStatistics().used_heap_size;
  const kept = objects(${kept});
  let rest = objects(${kept});
  rest = null;
  const before = used();
  ${leaner}();
  const after = used();
  console.log(JSON.stringify({ before, after, kept: kept.length }));
`;

async function heap(kept: number, leaner: Leaner): Promise<{ readonly before: number; readonly after: number }> {
  const args = ["--input-type=module", "--eval", program(kept, leaner)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout);
}

test.each(["startLean", "stayLean"] as const)("a large heap loses at once what nobody keeps: %s", async (leaner) => {
  const { before, after } = await heap(1_500_000, leaner);
  expect(after).toBeLessThan(0.75 * before);
});

test.each(["startLean", "stayLean"] as const)("a small heap is left as it is: %s", async (leaner) => {
  const { before, after } = await heap(10_000, leaner);
  expect(after).toBeGreaterThanOrEqual(before);
});
