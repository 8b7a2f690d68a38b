import { describe, test } from "vitest";
import { systemClock } from "../../../src/clock/system.ts";
import type { Forge } from "../../../src/forge/forge.ts";
import { createGitHub } from "../../../src/forge/github.ts";
import { createGitLab } from "../../../src/forge/gitlab.ts";
import { postStickyComment } from "../../../src/forge/sticky-comment.ts";
import { postStickyIssue } from "../../../src/forge/sticky-issue.ts";
import { type FakeForge, forgeFacts, forgeFaults, startGitHub, startGitLab } from "../../support/fake-forge.ts";

const OLD = "a".repeat(40);
const NEW = "b".repeat(40);
const { number, repository, token } = forgeFacts;

const forges = [
  { name: "GitHub", start: startGitHub, create: createGitHub, write: /POST .*\/issues\/7\/comments/, change: /PATCH/ },
  { name: "GitLab", start: startGitLab, create: createGitLab, write: /POST .*\/notes/, change: /PUT/ },
] as const;

// A forge is paced by the second: what waits beside the others costs no time.
describe.concurrent.each(forges)("a comment on $name", ({ start, create, write, change }) => {
  const open = (fake: FakeForge, given: string = token): Forge => {
    return create({
      apiUrl: fake.apiUrl,
      repository,
      token: given,
      clock: systemClock,
      secondMs: 1,
      signal: new AbortController().signal,
    });
  };
  const comment = (revision: string, body = `Plan of ${revision.slice(0, 4)}`) => ({ name: "default", revision, body });
  const ours = (fake: FakeForge) => fake.comments.slice(2).map(({ body }) => body.split("\n").slice(1).join("\n"));

  test("is made once, follows each revision, and leaves those of others alone", async ({ expect, onTestFinished }) => {
    const fake = await start(onTestFinished);
    const forge = open(fake);
    expect(await postStickyComment(forge, number, comment(OLD))).toMatchObject({ what: "created" });
    fake.pull.head = NEW;
    expect(await postStickyComment(forge, number, comment(NEW))).toMatchObject({ what: "updated" });
    expect(await postStickyComment(forge, number, { ...comment(NEW), name: "other" })).toMatchObject({
      what: "created",
    });
    expect(ours(fake)).toEqual(["Plan of bbbb", "Plan of bbbb"]);
    expect(fake.comments.slice(0, 2).map(({ body }) => body)).toEqual([
      "Nice.",
      "<!-- holdfast name=default revision=0000000 -->\nNot ours.",
    ]);
  });

  test("S83 is never one of a user who has the app's name, nor is its issue", async ({ expect, onTestFinished }) => {
    const fake = await start(onTestFinished);
    const forge = open(fake);
    const marker = (name: string) => `<!-- holdfast name=${name} revision=${OLD} -->\nOurs, it says.`;
    const user = { author: "github-actions", body: marker("default") };
    fake.write(user.author, user.body);
    fake.issues.push({ number: 2, title: "Drift", isOpen: true, ...user, body: marker("drift%20prod") });
    for (const what of ["created", "updated"])
      expect(await postStickyComment(forge, number, comment(OLD))).toMatchObject({ what });
    const issue = { name: "drift prod", title: "Drift", body: "none", state: "good" } as const;
    expect(await postStickyIssue(forge, { ...issue, state: "wrong" })).toMatchObject({ what: "opened" });
    expect(await postStickyIssue(forge, issue)).toMatchObject({ what: "closed" });
    expect([fake.comments[2]?.body, fake.comments.length]).toEqual([user.body, 4]);
    expect(fake.issues.map(({ isOpen }) => isOpen)).toEqual([true, true, false]);
  });

  test("of an older revision is not written over that of a newer one", async ({ expect, onTestFinished }) => {
    const fake = await start(onTestFinished);
    const forge = open(fake);
    fake.pull.head = NEW;
    await postStickyComment(forge, number, comment(NEW));
    const late = await postStickyComment(forge, number, comment(OLD));
    expect(late).toEqual({
      what: "skipped",
      why: "its head is now bbbbbbbbbbbb, and this comment is about aaaaaaaaaaaa",
    });
    expect(ours(fake)).toEqual(["Plan of bbbb"]);
  });

  test("is not written once the pull request is closed", async ({ expect, onTestFinished }) => {
    const fake = await start(onTestFinished);
    fake.pull.isOpen = false;
    expect(await postStickyComment(open(fake), number, comment(OLD))).toEqual({ what: "skipped", why: "it is closed" });
    expect(ours(fake)).toEqual([]);
  });

  test("is found behind two hundred others", async ({ expect, onTestFinished }) => {
    const fake = await start(onTestFinished);
    for (let at = 0; at < 250; at += 1) fake.write("3", `Comment ${at}`);
    await postStickyComment(open(fake), number, comment(OLD));
    expect(await postStickyComment(open(fake), number, comment(OLD, "Again"))).toMatchObject({ what: "updated" });
    expect(fake.comments.filter(({ body }) => body.includes("Again"))).toHaveLength(1);
    expect(fake.comments).toHaveLength(253);
  });

  test("is one after two runs at once", async ({ expect, onTestFinished }) => {
    const fake = await start(onTestFinished);
    // Both have looked, and found none, before either writes.
    const both = Promise.withResolvers<void>();
    let waiting = 0;
    for (let run = 0; run < 2; run += 1) {
      fake.before(write, async () => {
        waiting += 1;
        if (waiting === 2) both.resolve();
        await both.promise;
      });
    }
    await Promise.all([
      postStickyComment(open(fake), number, comment(OLD)),
      postStickyComment(open(fake), number, comment(OLD)),
    ]);
    expect(ours(fake)).toEqual(["Plan of aaaa"]);
  });

  test("of an older revision gives way to a newer one that was written at the same time", async ({
    expect,
    onTestFinished,
  }) => {
    const fake = await start(onTestFinished);
    // The head moves, and its own run ends, after the older run has looked.
    fake.before(write, async () => {
      fake.pull.head = NEW;
      await postStickyComment(open(fake), number, comment(NEW));
    });
    await postStickyComment(open(fake), number, comment(OLD));
    expect(ours(fake)).toEqual(["Plan of bbbb"]);
  });

  test("is made anew when somebody deletes it in between", async ({ expect, onTestFinished }) => {
    const fake = await start(onTestFinished);
    await postStickyComment(open(fake), number, comment(OLD));
    fake.before(change, () => void fake.comments.pop());
    expect(await postStickyComment(open(fake), number, comment(OLD, "Again"))).toMatchObject({ what: "created" });
    expect(ours(fake)).toEqual(["Again"]);
  });

  test("is written after server errors and rate limits of its reads", async ({ expect, onTestFinished }) => {
    const fake = await start(onTestFinished);
    const limit = create === createGitHub ? forgeFaults.secondaryLimit : forgeFaults.tooMany;
    fake.fail(/GET .*(?:pulls|merge_requests)\/7$/, forgeFaults.down, forgeFaults.down);
    fake.fail(write, limit);
    // Octokit gives an answer that was cut off for an empty one, which is told as it is.
    if (create === createGitLab) fake.fail(/GET .*notes$/, forgeFaults.cut);
    expect(await postStickyComment(open(fake), number, comment(OLD))).toMatchObject({ what: "created" });
    expect(ours(fake)).toEqual(["Plan of aaaa"]);
  });

  test("whose outcome nobody knows is not sent twice", async ({ expect, onTestFinished }) => {
    const fake = await start(onTestFinished);
    fake.fail(write, forgeFaults.down);
    await expect(postStickyComment(open(fake), number, comment(OLD))).rejects.toThrow(/answered 502/);
    expect(fake.requests.filter((request) => write.test(request))).toHaveLength(1);
  });

  test("is refused in words for a token without rights, a wrong one, a page and a forge that is down", async ({
    expect,
    onTestFinished,
  }) => {
    const fake = await start(onTestFinished);
    fake.mayWrite = false;
    await expect(postStickyComment(open(fake), number, comment(OLD))).rejects.toMatchObject({
      code: "unauthorized",
      message: expect.stringContaining("answered 403"),
    });
    await expect(postStickyComment(open(fake, "wrong"), number, comment(OLD))).rejects.toMatchObject({
      code: "unauthorized",
      message: expect.stringContaining("answered 401"),
    });
    fake.fail(/GET .*(?:pulls|merge_requests)\/7$/, forgeFaults.page);
    await expect(postStickyComment(open(fake), number, comment(OLD))).rejects.toMatchObject({
      code: "error",
      message: expect.stringContaining("does not come from the forge's API"),
    });
    const nowhere = create({
      apiUrl: "http://127.0.0.1:9",
      repository,
      token,
      clock: systemClock,
      secondMs: 1,
      signal: AbortSignal.timeout(180_000),
    });
    await expect(postStickyComment(nowhere, number, comment(OLD))).rejects.toMatchObject({
      message: expect.stringContaining("cannot be reached"),
    });
    await expect(postStickyComment(open(fake), 8, comment(OLD))).rejects.toMatchObject({
      message: expect.stringContaining("answered 404"),
    });
  });

  test("is given up where the forge wants to be asked again in an hour, or has moved", async ({
    expect,
    onTestFinished,
  }) => {
    const fake = await start(onTestFinished);
    const isHourly = create === createGitHub;
    fake.fail(write, isHourly ? forgeFaults.hourLimit : { ...forgeFaults.tooMany, headers: { "retry-after": "3600" } });
    await expect(postStickyComment(open(fake), number, comment(OLD))).rejects.toMatchObject({
      code: "error",
      message: expect.stringContaining(isHourly ? "answered 403: API rate limit" : "answered 429"),
      hint: expect.stringContaining("the rate limit is exceeded"),
    });
    expect(fake.requests.filter((request) => write.test(request))).toHaveLength(1);
    fake.fail(/GET .*(?:pulls|merge_requests)\/7$/, { status: 301, headers: { location: "https://evil.example/" } });
    await expect(postStickyComment(open(fake), number, comment(OLD))).rejects.toMatchObject({
      hint: expect.stringContaining("the repository was moved"),
    });
  });

  test("finds the pull request of a head by the forge's own word", async ({ expect, onTestFinished }) => {
    const fake = await start(onTestFinished);
    const head = { owner: "stranger", branch: "feature", commit: OLD };
    expect(await open(fake).findPullRequest(head)).toBe(7);
    expect(await open(fake).findPullRequest({ ...head, commit: NEW })).toBeNull();
    expect(await open(fake).findPullRequest({ ...head, branch: "other" })).toBeNull();
  });

  test("has an issue beside it for drift: opened once, updated, closed when all is good, and never another's", async ({
    expect,
    onTestFinished,
  }) => {
    const fake = await start(onTestFinished);
    const issue = { name: "drift prod", title: "Drift", body: "1 drifted", state: "wrong" } as const;
    expect(await postStickyIssue(open(fake), { ...issue, state: "unclear" })).toMatchObject({ what: "none" });
    expect(await postStickyIssue(open(fake), issue)).toMatchObject({ what: "opened" });
    expect(await postStickyIssue(open(fake), { ...issue, body: "2 drifted" })).toMatchObject({ what: "updated" });
    expect(await postStickyIssue(open(fake), { ...issue, state: "unclear" })).toMatchObject({ what: "updated" });
    expect(fake.issues.map(({ isOpen }) => isOpen)).toEqual([true, true]);
    expect(await postStickyIssue(open(fake), { ...issue, body: "none", state: "good" })).toMatchObject({
      what: "closed",
    });
    expect(await postStickyIssue(open(fake), { ...issue, state: "good" })).toMatchObject({ what: "none" });
    expect(fake.issues).toMatchObject([
      { body: "It drifts", isOpen: true },
      { title: "Drift", body: expect.stringContaining("none"), isOpen: false },
    ]);
  });

  test("goes with a commit status under its own name", async ({ expect, onTestFinished }) => {
    const fake = await start(onTestFinished);
    const description = "1 to create ".repeat(20);
    await open(fake).setStatus({ commit: OLD, name: "holdfast/plan/prod", state: "failure", description });
    const [{ commit, body } = { commit: "", body: {} }] = fake.statuses;
    expect(commit).toBe(OLD);
    expect(Object.values(body)).toContain("holdfast/plan/prod");
    expect(String(body.description).length).toBeLessThanOrEqual(140);
    // A job that runs again says the same.
    await open(fake).setStatus({ commit: OLD, name: "holdfast/plan/prod", state: "failure", description });
  });
});
