import { expect, test } from "vitest";
import type { PassEvent } from "../../../../src/core/report/events.ts";
import { createReadiness } from "../../../../src/daemon/http/readiness.ts";
import { StoreError } from "../../../../src/store/store-error.ts";

const standby: PassEvent = { what: "standing-by", message: "another one has the lease" };

test("a daemon is ready once it has begun its targets, whatever comes of their passes", () => {
  const readiness = createReadiness();
  expect(readiness.now()).toEqual({ is: "not-ready", reason: "starting" });
  const [one, other] = [readiness.observe("one"), readiness.observe("other")];
  expect(readiness.now()).toEqual({ is: "ready" });
  other.failure(new Error("unreachable"));
  expect(readiness.now()).toEqual({ is: "ready" });
  one.emit(standby);
  expect(readiness.now()).toEqual({ is: "standing-by" });
  one.failure(new Error("unreachable"));
  expect(readiness.now()).toEqual({ is: "ready" });
  one.emit(standby);
  one.emit({ what: "taking-over" });
  expect(readiness.now()).toEqual({ is: "ready" });
});

test("a daemon whose database does not answer is not ready until it does, and a pass need not run here for that", () => {
  let isLost = false;
  const readiness = createReadiness({ isStateLost: () => isLost });
  const target = readiness.observe("prod");
  isLost = true;
  target.failure(new StoreError("unreachable", "it cannot be reached"));
  expect(readiness.now()).toEqual({ is: "not-ready", reason: "state-unavailable" });
  isLost = false;
  expect(readiness.now()).toEqual({ is: "ready" });
});

test("F35 a full disk under the state takes the daemon out of service until a pass succeeds", () => {
  const readiness = createReadiness();
  const target = readiness.observe("prod");
  const full = new StoreError("full", "the disk is full");
  target.failure(new Error("the pass failed", { cause: full }));
  expect(readiness.now()).toEqual({ is: "not-ready", reason: "state-full" });
  target.failure(new Error("unreachable"));
  expect(readiness.now()).toEqual({ is: "not-ready", reason: "state-full" });
  target.failure(new StoreError("inaccessible", "read-only"));
  expect(readiness.now()).toEqual({ is: "not-ready", reason: "state-unavailable" });
  target.emit(standby);
  expect(readiness.now()).toEqual({ is: "standing-by" });
});
