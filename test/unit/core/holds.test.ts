import { expect, test } from "vitest";
import {
  afterRevision,
  decisionsAt,
  type Hold,
  heldResources,
  holdsAt,
  withHold,
  withoutHold,
  withProposalHolds,
} from "../../../src/core/holds.ts";

const NOW = Date.parse("2027-03-01T12:00:00Z");
const END = "2027-03-01T16:00:00.000Z";
const NONE = { holds: [], released: [] };

function held(hold: Partial<Hold>) {
  let decisions = withHold(NONE, { what: "team/ml", reason: "incident 12", until: END, content: "one", ...hold });
  const after = (revision: string, contents: ReadonlyMap<string, string | null>, now = NOW) => {
    decisions = afterRevision(decisionsAt(decisions, now), { revision, contents });
    return heldResources(decisions).get("team/ml");
  };
  return {
    after,
    afterContent: (revision: string, content: string | null, now = NOW) =>
      after(revision, new Map([["team/ml", content]]), now),
    decisions: () => decisions,
  };
}

test("a hold with an end outlasts the commits that change its resource, names the newest of them, and then ends", () => {
  const { afterContent } = held({});
  expect(afterContent("aaaaaaa", "one")).toBe(`team/ml until ${END}: incident 12`);
  expect(afterContent("bbbbbbb", "two")).toBe(`team/ml until ${END}: incident 12; commit bbbbbbb waits`);
  expect(afterContent("ccccccc", "two")).toContain("commit bbbbbbb waits");
  expect(afterContent("ddddddd", null)).toContain("commit ddddddd waits");
  expect(afterContent("eeeeeee", "one")).toBe(`team/ml until ${END}: incident 12`);
  expect(afterContent("fffffff", "two", Date.parse(END))).toBeUndefined();
});

test("a hold until a commit ends with the commit that changes its resource, and not before", () => {
  const { after, afterContent, decisions } = held({ until: "commit" });
  const later = NOW + 90 * 86_400_000;
  expect(afterContent("aaaaaaa", "one", later)).toBe("team/ml until the next commit that changes it: incident 12");
  // A revision in which the manifest is invalid.
  expect(after("bbbbbbb", new Map(), later)).toBeDefined();
  expect(afterContent("ccccccc", "two", later)).toBeUndefined();
  expect(decisions()).toEqual(NONE);
});

test("a hold whose content was not known takes that of the next revision", () => {
  const decisions = withHold(NONE, { what: "team/ml", reason: "incident 12", until: "commit" });
  const after = (before: typeof decisions, content: string) =>
    afterRevision(before, { revision: "aaaaaaa", contents: new Map([["team/ml", content]]) });
  const known = after(after(decisions, "one"), "one");
  expect(known.holds).toEqual([{ what: "team/ml", reason: "incident 12", until: "commit", content: "one" }]);
  expect(after(known, "two")).toEqual(NONE);
});

test("a hold on a commit takes back its release, and a release ends the hold on it", () => {
  const commit = "abcdef1234567";
  const hold = { what: "abcdef1", reason: "waits", until: END };
  const released = withoutHold(withHold(NONE, hold), commit);
  expect(released).toEqual({ holds: [], released: [commit] });
  expect(withHold(released, hold)).toEqual({ holds: [hold], released: [] });
});

test("a hold of what is proposed for git is no hold of a person's, and is remembered after its time", () => {
  const person = { what: "team/ml", reason: "incident 12", until: END };
  const proposed = { what: "team/web", reason: "proposed", until: END, pullRequest: { number: 21, url: null } };
  const other = { ...proposed, what: "team/ml" };
  const decisions = withProposalHolds(withHold(NONE, person), [proposed, other]);
  expect(decisions.holds).toEqual([person, proposed]);
  expect([...heldResources(decisions).keys()]).toEqual(["team/ml"]);
  expect(holdsAt(decisions, NOW)).toEqual([person, proposed]);
  const later = Date.parse(END);
  expect(decisionsAt(decisions, later).holds).toEqual([proposed]);
  expect(holdsAt(decisions, later)).toEqual([]);
  // A person who ends it lets git win, and one who puts it on hold has the last word.
  expect(holdsAt(withoutHold(decisions, "team/web"), NOW)).toEqual([person]);
  expect(withoutHold(decisions, "team/web").holds[1]).toMatchObject({ what: "team/web", pullRequest: { number: 21 } });
  expect(withHold(decisions, { ...person, what: "team/web" }).holds).toHaveLength(2);
  expect(withProposalHolds(decisions, []).holds).toEqual([person]);
});
