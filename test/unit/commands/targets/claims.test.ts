import { expect, test } from "vitest";
import { keptReads } from "../../../../src/commands/targets/claims.ts";

test("what was read for other targets is kept for at most so many resources, until each pass takes it", () => {
  const reads = keptReads<string>(10);
  expect([reads.keep("a", "read of a", 6), reads.keep("b", "read of b", 5), reads.keep("c", "read of c", 4)]).toEqual([
    true,
    false,
    true,
  ]);
  expect([reads.take("a"), reads.take("a"), reads.take("b"), reads.take("d")]).toEqual(["read of a", null, null, null]);
  // What was taken makes room, and what is read again takes the place of what was read before.
  expect([reads.keep("b", "read of b", 5), reads.keep("b", "later read of b", 6)]).toEqual([true, true]);
  expect(reads.take("b")).toBe("later read of b");
});
