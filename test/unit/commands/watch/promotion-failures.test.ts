import { expect, test } from "vitest";
import { promotionFailures } from "../../../../src/commands/watch/promotion-failures.ts";
import { UnsettledSourceError } from "../../../../src/source/source-error.ts";

const changing = new UnsettledSourceError("error", "api.yaml was changed while it was being read");

test("what is being changed is waited for once, and told when it lasts, once", () => {
  const { failed } = promotionFailures();
  expect([1, 2, 3, 4].map(() => failed(changing).is)).toEqual(["waiting", "told", "known", "known"]);
});

test("a look that succeeds, or fails otherwise, begins anew", () => {
  const { failed, succeeded } = promotionFailures();
  expect(failed(changing).is).toBe("waiting");
  succeeded();
  expect(failed(changing).is).toBe("waiting");
  expect(failed(new Error("the forge is away"))).toEqual({ is: "told", message: "the forge is away" });
  expect(failed(new Error("the forge is away")).is).toBe("known");
  expect(failed(changing).is).toBe("waiting");
});
