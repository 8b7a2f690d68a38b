import { expect, test } from "vitest";
import { passedBy } from "../../../src/client/sweep.ts";

test("what came over the wire does not pile up, though nothing else is collected meanwhile", () => {
  const piece = 64 * 1024;
  const held = (): number => process.memoryUsage().arrayBuffers / 1024 / 1024;
  passedBy(8 * 1024 * 1024);
  const before = held();
  let most = 0;
  for (let nth = 0; nth < 2000; nth += 1) {
    Buffer.allocUnsafeSlow(piece);
    passedBy(piece);
    most = Math.max(most, held() - before);
  }
  expect(most).toBeLessThan(32);
});
