import { expect, test } from "vitest";
import { addHold, type Hold, heldResources, readDecisions, release, resourceHolds } from "../../../src/daemon/holds.ts";
import { temporaryFolder } from "../../support/folder.ts";

const NOW = Date.parse("2027-03-01T12:00:00Z");
const END = "2027-03-01T16:00:00.000Z";

async function held(hold: Partial<Hold>) {
  const folder = await temporaryFolder();
  addHold(folder, { what: "team/ml", reason: "incident 12", until: END, content: "one", ...hold }, NOW);
  const after = (revision: string, content: string | null, now = NOW) =>
    resourceHolds(folder, { revision, contents: new Map([["team/ml", content]]) }, now).get("team/ml");
  return { folder, after };
}

test("a hold with an end outlasts the commits that change its resource, names the newest of them, and then ends", async () => {
  const { folder, after } = await held({});
  expect(after("aaaaaaa", "one")).toBe(`team/ml until ${END}: incident 12`);
  expect(after("bbbbbbb", "two")).toBe(`team/ml until ${END}: incident 12; commit bbbbbbb waits`);
  expect(after("ccccccc", "two")).toContain("commit bbbbbbb waits");
  expect(after("ddddddd", null)).toContain("commit ddddddd waits");
  expect(after("eeeeeee", "one")).toBe(`team/ml until ${END}: incident 12`);
  expect(after("fffffff", "two", Date.parse(END))).toBeUndefined();
  expect(release(folder, "team/ml", Date.parse(END))).toBe(false);
});

test("a hold until a commit ends with the commit that changes its resource, and not before", async () => {
  const { folder, after } = await held({ until: "commit" });
  const later = NOW + 90 * 86_400_000;
  expect(after("aaaaaaa", "one", later)).toBe("team/ml until the next commit that changes it: incident 12");
  // A revision that is not in force, and one in which the manifest is invalid.
  expect(resourceHolds(folder, null, later).size).toBe(1);
  expect(resourceHolds(folder, { revision: "bbbbbbb", contents: new Map() }, later).size).toBe(1);
  expect(after("ccccccc", "two", later)).toBeUndefined();
  expect(heldResources(folder, later)).toEqual([]);
});

test("a hold whose content was not known takes that of the next revision", async () => {
  const folder = await temporaryFolder();
  addHold(folder, { what: "team/ml", reason: "incident 12", until: "commit" }, NOW);
  const after = (content: string) =>
    resourceHolds(folder, { revision: "aaaaaaa", contents: new Map([["team/ml", content]]) }, NOW).size;
  expect([after("one"), after("one"), after("two")]).toEqual([1, 1, 0]);
  expect(readDecisions(folder, NOW)).toEqual({ holds: [], released: [] });
});
