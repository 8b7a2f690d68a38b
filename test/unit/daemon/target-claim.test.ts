import { expect, test } from "vitest";
import { claimAfter, requireClaim } from "../../../src/daemon/target-claim.ts";

const one = { name: "prod", serverName: "https://one", machine: "m1 1" };
const two = { name: "prod", serverName: "https://two", machine: "m2 1" };

test("a target is refused while a configuration with another control plane has passes over it, and not after two intervals", () => {
  const claim = claimAfter(one, 1_000_000, 60_000);
  expect(() => requireClaim(claim, two, 1_119_999)).toThrow(
    "another configuration has the target prod in this database, with the control plane https://one; here it has https://two",
  );
  expect(() => requireClaim(claim, two, 1_120_000)).not.toThrow();
});

test("a target goes on in any process with its control plane, and with another address in the process that ran it last", () => {
  const claim = claimAfter(one, 1_000_000, 60_000);
  expect(() => requireClaim(claim, { ...one, machine: "m2 1" }, 1_000_000)).not.toThrow();
  expect(() => requireClaim(claim, { ...two, machine: "m1 1" }, 1_000_000)).not.toThrow();
  expect(() => requireClaim(undefined, two, 1_000_000)).not.toThrow();
});
