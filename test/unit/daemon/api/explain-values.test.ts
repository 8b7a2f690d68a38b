import { expect, test } from "vitest";
import { HoldfastError } from "../../../../src/core/errors.ts";
import type { ExplainedValue } from "../../../../src/daemon/api/dashboard-source.ts";
import { newStatus } from "../../../../src/daemon/status-after-pass.ts";
import { serveTargets, storedTarget } from "../../dashboard/shown-daemon.ts";

const explained = {
  at: "2026-11-22T12:00:00.000Z",
  manifests: "now",
  versions: null,
  report: { format_version: "2.2" },
} as ExplainedValue;

test("four values are read at once, and one more is refused until one of them has been", async () => {
  const waiting: (() => void)[] = [];
  const target = await storedTarget({ status: newStatus("prod", null) }, async () => {
    await new Promise<void>((done) => waiting.push(done));
    return explained;
  });
  const { url } = await serveTargets([target]);
  const ask = async (): Promise<number> => (await fetch(`${url}/api/v1/targets/prod/why?identity=team/ml`)).status;
  const asked = Array.from({ length: 4 }, ask);
  await expect.poll(() => waiting.length).toBe(4);
  expect(await ask()).toBe(503);
  for (const done of waiting) done();
  expect(await Promise.all(asked)).toEqual([200, 200, 200, 200]);
  const again = ask();
  await expect.poll(() => waiting.length).toBe(5);
  waiting.at(-1)?.();
  expect(await again).toBe(200);
});

test("S10 why a value cannot be explained is told without credentials", async () => {
  const target = await storedTarget({ status: newStatus("prod", null) }, async () => {
    throw new HoldfastError("error", "https://ada:CANARY-password@example.com is away", { hint: "try again" });
  });
  const { url } = await serveTargets([target]);
  const reply = await fetch(`${url}/api/v1/targets/prod/why?identity=team/ml`);
  const text = await reply.text();
  expect([reply.status, JSON.parse(text).code, text.includes("CANARY")]).toEqual([409, "unexplained", false]);
  expect(JSON.parse(text).message).toMatch(/example\.com is away \(try again\)$/);
});
