import { afterAll, test } from "vitest";

afterAll(() => {
  throw new Error("a hook that fails");
});
test("passes", () => {});
