import { describe, expect, test } from "vitest";
import { exploreFleet, safeguards } from "../../support/fleet-protocol.ts";

describe.each([true, false])("two processes of a fleet, on a control plane with leases: %s", (hasLeases) => {
  test("write nothing twice, in whatever order they are killed, suspended and delayed", () => {
    const { states, fault } = exploreFleet({ hasLeases });
    expect(fault).toBeNull();
    expect(states).toBeGreaterThan(500);
  });

  test("write nothing twice where a jump of the clock ends the lock of one that lives", () => {
    expect(exploreFleet({ hasLeases, takesHeldLock: true }).fault).toBeNull();
  });
});

test.each(safeguards)("without the safeguard that %s, the search finds a content that is written twice", (without) => {
  const faults = [true, false].map((hasLeases) => exploreFleet({ hasLeases, without }).fault);
  expect(faults.some((fault) => fault !== null)).toBe(true);
});
