import { test } from "vitest";

test("ends when it is killed", { timeout: 600_000 }, async () => {
  process.stderr.write("the endless test runs\n");
  await new Promise((resolve) => setTimeout(resolve, 600_000));
});
