import { expect, test } from "vitest";
import type { PassEvent } from "../../../../src/core/report/events.ts";
import { createReadiness } from "../../../../src/daemon/http/readiness.ts";
import { StoreError } from "../../../../src/store/store-error.ts";

const standby: PassEvent = { what: "standing-by", message: "another one has the lease" };

test("a daemon is ready when every target has made a pass, or stands by", () => {
  const readiness = createReadiness();
  expect(readiness.reason()).toBe("starting");
  const [one, other] = [readiness.observe("one"), readiness.observe("other")];
  one.emit(standby);
  expect(readiness.reason()).toBe("starting");
  other.failure(new Error("unreachable"));
  expect(readiness.reason()).toBe("first-pass-failed");
  other.emit(standby);
  expect([readiness.reason(), readiness.standsBy()]).toEqual([null, true]);
  other.failure(new Error("unreachable"));
  one.emit({ what: "taking-over" });
  expect([readiness.reason(), readiness.standsBy()]).toEqual([null, false]);
});

test("F35 a full disk under the state takes the daemon out of service until a pass succeeds", () => {
  const readiness = createReadiness();
  const target = readiness.observe("prod");
  target.emit(standby);
  const full = new StoreError("full", "the disk is full");
  target.failure(new Error("the pass failed", { cause: full }));
  expect(readiness.reason()).toBe("state-full");
  target.failure(new StoreError("inaccessible", "read-only"));
  expect(readiness.reason()).toBe("state-unavailable");
  target.emit(standby);
  expect(readiness.reason()).toBeNull();
});
