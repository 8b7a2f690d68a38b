import { expect, test } from "vitest";
import { type ClaimedTarget, claimAfter, claimRefusal } from "../../../src/daemon/target-claim.ts";
import type { TargetClaim } from "../../../src/state/target-store.ts";

const one = { name: "prod", serverName: "https://one", sourceDigest: "s1", machine: "m1 1" };
const two = { name: "prod", serverName: "https://two", sourceDigest: "s1", machine: "m2 1" };

const after = (own: ClaimedTarget, before?: TargetClaim) => claimAfter(own, before, 1_000_000, 60_000);
const why = (claim: TargetClaim | undefined, own: ClaimedTarget, now = 1_000_000) =>
  claimRefusal(claim, own, now)?.error.message;

test("a target is refused while a configuration with another control plane has passes over it, and not after two intervals", () => {
  expect(why(after(one), two, 1_119_999)).toBe(
    "another configuration has the target prod in this database, with the control plane https://one; here it has https://two",
  );
  expect(why(after(one), two, 1_120_000)).toBeUndefined();
});

test("a target goes on in any process with its control plane, and with another address in the process that ran it last", () => {
  expect(why(after(one), { ...one, machine: "m2 1" })).toBeUndefined();
  expect(why(after(one), { ...two, machine: "m1 1" })).toBeUndefined();
  expect(why(undefined, two)).toBeUndefined();
});

test("a target gets another source at once, and those that still have a former one are refused for two intervals", () => {
  const [second, third] = ["s2", "s3"].map((sourceDigest) => ({ ...one, sourceDigest, machine: sourceDigest }));
  expect(why(after(one), second as ClaimedTarget)).toBeUndefined();
  const claim = after(third as ClaimedTarget, after(second as ClaimedTarget, after(one)));
  const refusal =
    "another configuration has the target prod in this database, with another source, which has replaced the one here";
  for (const former of [{ ...one, machine: "m3 1" }, second as ClaimedTarget]) {
    expect(why(claim, former, 1_119_999)).toBe(refusal);
    expect(why(claim, former, 1_120_000)).toBeUndefined();
  }
  // It was given back.
  expect(why(after(one, claim), second as ClaimedTarget)).toBe(refusal);
  expect(why(after(one, claim), { ...one, machine: "m3 1" })).toBeUndefined();
  // Each machine has its own folder.
  expect(why(after({ ...one, sourceDigest: null }, claim), second as ClaimedTarget)).toBeUndefined();
});
