import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/clock/system.ts";
import type { Forge } from "../../../src/forge/forge.ts";
import { createGitHub } from "../../../src/forge/github.ts";
import { createGitLab } from "../../../src/forge/gitlab.ts";
import { postStickyProposal, type StickyProposal, withdrawStickyProposal } from "../../../src/forge/sticky-proposal.ts";
import { type FakeForge, forgeFacts, startGitHub, startGitLab } from "../../support/fake-forge.ts";

const forges = [
  { name: "GitHub", start: startGitHub, create: createGitHub },
  { name: "GitLab", start: startGitLab, create: createGitLab },
] as const;

const branch = "holdfast/promote-staging-to-prod";
const [PARENT, LATER] = ["a".repeat(40), "b".repeat(40)];
const names = { name: "promote staging prod", branch, base: "main" };

const proposal = (text: string, parent = PARENT): StickyProposal => ({
  name: names.name,
  title: `Promote ${text}`,
  body: `Body of ${text}.`,
  base: "main",
  commit: {
    branch,
    parent,
    message: `Promote ${text}\n`,
    files: [
      { path: "prod/api.yaml", text, isNew: false },
      { path: "patches/prod/promoted.yaml", text, isNew: true },
    ],
  },
});

const isWrite = (request: string): boolean => !request.startsWith("GET") && !request.endsWith("/graphql");

describe.each(forges)("a proposed change on $name", ({ start, create }) => {
  async function open(): Promise<{ readonly fake: FakeForge; readonly forge: Forge }> {
    const fake = await start(onTestFinished);
    const { repository, token } = forgeFacts;
    const { signal } = new AbortController();
    const place = { apiUrl: fake.apiUrl, repository, token, clock: systemClock, secondMs: 1, signal };
    return { fake, forge: create(place) };
  }

  test("has one pull request with one commit, which is updated, and nothing is written for the same content", async () => {
    const { fake, forge } = await open();
    expect(await postStickyProposal(forge, proposal("one"))).toMatchObject({ what: "created", number: 21 });
    expect(fake.branches.get(branch)).toMatchObject({
      parent: PARENT,
      message: "Promote one\n",
      files: { "prod/api.yaml": "one", "patches/prod/promoted.yaml": "one" },
    });
    const writes = fake.requests.filter(isWrite).length;
    // Another commit of the base does not change what is proposed.
    expect(await postStickyProposal(forge, proposal("one", LATER))).toMatchObject({ what: "unchanged", number: 21 });
    expect(fake.requests.filter(isWrite)).toHaveLength(writes);
    expect(await postStickyProposal(forge, proposal("two", LATER))).toMatchObject({ what: "updated", number: 21 });
    expect(fake.branches.get(branch)).toMatchObject({ parent: LATER, files: { "prod/api.yaml": "two" } });
    expect(fake.proposals).toMatchObject([{ title: "Promote two", state: "open", base: "main" }]);
    expect(fake.proposals[0]?.body).toMatch(
      /^<!-- holdfast name=promote%20staging%20prod revision=\w+ -->\nBody of two\.$/,
    );
  });

  test("stays closed if a person has closed it, and is opened again for another content or after a merge", async () => {
    const { fake, forge } = await open();
    await postStickyProposal(forge, proposal("one"));
    const [first] = fake.proposals;
    if (first !== undefined) first.state = "closed";
    expect(await postStickyProposal(forge, proposal("one"))).toMatchObject({ what: "closed", number: 21 });
    expect(await postStickyProposal(forge, proposal("two"))).toMatchObject({ what: "created", number: 22 });
    const [, second] = fake.proposals;
    if (second !== undefined) second.state = "merged";
    expect(await postStickyProposal(forge, proposal("two"))).toMatchObject({ what: "created", number: 23 });
  });

  test("is withdrawn by closing it, once, and may be proposed again", async () => {
    const { fake, forge } = await open();
    expect(await withdrawStickyProposal(forge, names, "Nothing is left.")).toBeNull();
    await postStickyProposal(forge, proposal("one"));
    expect(await withdrawStickyProposal(forge, names, "Nothing is left.")).toMatchObject({ number: 21 });
    expect(fake.proposals).toMatchObject([{ state: "closed", title: "Promote one" }]);
    expect(fake.proposals[0]?.body).toContain("\nNothing is left.\n");
    const writes = fake.requests.filter(isWrite).length;
    expect(await withdrawStickyProposal(forge, names, "Nothing is left.")).toBeNull();
    expect(fake.requests.filter(isWrite)).toHaveLength(writes);
    expect(await postStickyProposal(forge, proposal("one"))).toMatchObject({ what: "created", number: 22 });
  });

  test("leaves pull requests of other accounts alone, also those with its marker", async () => {
    const { fake, forge } = await open();
    await postStickyProposal(forge, proposal("one"));
    const [ours] = fake.proposals.splice(0, 1);
    fake.proposals.push({
      number: 21,
      author: "mallory",
      branch,
      base: "main",
      title: "Mine",
      body: ours?.body ?? "",
      state: "open",
    });
    const writes = fake.requests.filter(isWrite).length;
    await expect(postStickyProposal(forge, proposal("two"))).rejects.toThrow("is another account's");
    expect(await withdrawStickyProposal(forge, names, "Nothing is left.")).toBeNull();
    expect(fake.requests.filter(isWrite)).toHaveLength(writes);
    expect(fake.proposals).toMatchObject([{ title: "Mine", state: "open" }]);
  });

  test("is not kept by a fork that has a branch of its name, nor hidden by a newer one that is closed", async () => {
    const { fake, forge } = await open();
    const other = { author: "mallory", branch, base: "main", title: "Mine", body: "" };
    fake.proposals.push({ ...other, number: 20, state: "open", isOfFork: true });
    const { number } = await postStickyProposal(forge, proposal("one"));
    fake.proposals.push({ ...other, number: 30, state: "closed" });
    expect(await postStickyProposal(forge, proposal("two"))).toMatchObject({ what: "updated", number });
  });

  test("fails with the request and a next step, and the next try completes what a failed one has begun", async () => {
    const { fake, forge } = await open();
    fake.commits = new Set();
    await expect(postStickyProposal(forge, proposal("one"))).rejects.toThrow(`writing the branch ${branch}`);
    fake.commits = null;
    fake.fail(/POST .*\/(?:pulls|merge_requests)$/, { status: 502, body: "<html>" });
    await expect(postStickyProposal(forge, proposal("one"))).rejects.toMatchObject({ hint: expect.any(String) });
    expect(fake.proposals).toEqual([]);
    expect(await postStickyProposal(forge, proposal("one"))).toMatchObject({ what: "created" });
    fake.fail(/(?:PATCH|PUT) .*\/(?:pulls|merge_requests)\/21$/, { status: 403 });
    await expect(withdrawStickyProposal(forge, names, "Nothing is left.")).rejects.toThrow(
      /closing (?:pull|merge) request 21/,
    );
    expect(fake.proposals).toMatchObject([{ state: "open" }]);
  });
});
