import { expect, test } from "vitest";
import {
  afterRevision,
  decisionsAt,
  type Hold,
  heldResources,
  holdOn,
  holdOnStage,
  holdsAt,
  holdText,
  isCommitPrefix,
  isReleased,
  isStage,
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

test("a hold is on a resource, a commit or a stage", () => {
  const hold = (what: string): Hold => ({ what, reason: "waits", until: END });
  const decisions = { holds: [hold("team/ml"), hold("abcdef1"), hold("stage/prod")], released: ["1234567"] };
  expect([...heldResources(decisions).keys()]).toEqual(["team/ml"]);
  expect(holdOnStage(decisions)?.what).toBe("stage/prod");
  expect(holdOn(decisions, "abcdef1234")?.what).toBe("abcdef1");
  expect([holdOn(decisions, "abcdef2234"), holdOn(decisions, "team/ml"), holdOnStage(NONE)]).toEqual([
    null,
    null,
    null,
  ]);
  expect([isReleased(decisions, "1234567890"), isReleased(decisions, "123456")]).toEqual([true, false]);
  expect([isStage("stage/prod"), isStage("team/stage/prod")]).toEqual([true, false]);
});

test.each([
  ["abcdef1", true],
  ["abcdef", false],
  ["abcdefg", false],
  ["a".repeat(64), true],
  ["a".repeat(65), false],
  ["xabcdef1", false],
])("%s is the beginning of a commit: %s", (text, is) => {
  expect(isCommitPrefix(text)).toBe(is);
});

test("a hold is told with who made it, and the commit that waits", () => {
  const hold: Hold = { what: "team/ml", reason: "incident 12", until: END, by: "Ada" };
  expect(holdText(hold)).toBe(`team/ml until ${END}: incident 12 (Ada)`);
  expect(holdText({ ...hold, waiting: { commit: "0123456789abcdef", content: null } })).toBe(
    `team/ml until ${END}: incident 12 (Ada); commit 0123456789ab waits`,
  );
  expect(holdText({ ...hold, waiting: { commit: null, content: null } })).toContain("; a change of its manifest waits");
});

test("the last hundred releases are kept", () => {
  let decisions: Parameters<typeof withoutHold>[0] = NONE;
  for (let at = 0; at < 101; at += 1) decisions = withoutHold(decisions, `abcdef${100 + at}`);
  expect([decisions.released.length, decisions.released[0]]).toEqual([100, "abcdef101"]);
  expect(withoutHold(decisions, "team/ml").released).toBe(decisions.released);
});
