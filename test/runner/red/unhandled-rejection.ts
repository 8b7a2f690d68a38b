import { test } from "vitest";

test("passes", async () => {
  void Promise.reject(new Error("a rejection that nobody handles"));
  await new Promise((resolve) => setImmediate(resolve));
});
