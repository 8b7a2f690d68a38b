import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, readdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/clock/system.ts";
import { blameLine } from "../../../src/source/git/blame-line.ts";
import { isOneRepository, parseRemoteAddress } from "../../../src/source/remote/address.ts";
import { createRemote, type RemoteOptions } from "../../../src/source/remote/remote.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { commitAll, git } from "../../support/git.ts";
import { serveFlood, serveGit } from "../../support/git-http.ts";

const signal = new AbortController().signal;
const none = { username: null, tokenFile: null, sshKeyFile: null, tokenText: null };

/** A repository with one commit, and what follows it from another folder. */
async function followed(more: Partial<RemoteOptions> = {}) {
  const upstream = join(await temporaryFolder(), "platform");
  await mkdir(upstream);
  await writeFile(join(upstream, "team.yaml"), "type: team\nname: ml\n");
  const first = await commitAll(upstream, "Begin");
  const folder = join(await temporaryFolder(), "platform.git");
  const options: RemoteOptions = {
    clock: systemClock,
    name: "platform",
    folder,
    address: parseRemoteAddress(upstream),
    ref: "main",
    credentials: none,
    caFile: null,
    knownHosts: null,
    env: {},
    ...more,
  };
  const commit = async (text: string): Promise<string> => {
    await writeFile(join(upstream, "team.yaml"), text);
    return commitAll(upstream, "Change");
  };
  return { upstream, folder, first, options, commit, remote: createRemote(options) };
}

describe("a remote that is followed", () => {
  test("is fetched at depth 1, then incrementally, and says what became of the commit before", async () => {
    const { remote, first, commit, folder } = await followed();
    expect(await remote.fetch({ signal })).toEqual({ commit: first, before: null, change: "first" });
    expect(await remote.fetch({ signal })).toEqual({ commit: first, before: first, change: "unchanged" });
    const second = await commit("type: team\nname: two\n");
    const third = await commit("type: team\nname: three\n");
    expect(await remote.fetch({ signal })).toEqual({ commit: third, before: first, change: "forward" });
    expect(await git(folder, "rev-list", `${first}..${third}`)).toBe(`${third}\n${second}`);
  });

  test("has the history before its first commit on request, as far as the remote gives it", async () => {
    const { remote, folder, upstream, first, commit } = await followed();
    const commits = [first];
    for (const name of ["two", "three", "four"]) commits.push(await commit(`type: team\nname: ${name}\n`));
    await remote.fetch({ signal });
    const known = () => git(folder, "rev-list", "refs/holdfast/head");
    expect(await known()).toBe(commits[3]);
    const typeOf = { commit: commits[3] ?? "", path: "team.yaml", line: 1 };
    expect(await blameLine(remote.repository, typeOf, { signal })).toMatchObject({
      commit: commits[3],
      isOldest: true,
    });
    await remote.deepen(2, { signal });
    expect(await blameLine(remote.repository, typeOf, { signal })).toMatchObject({
      commit: commits[1],
      isOldest: true,
    });
    expect(await known()).toBe(commits.slice(1).toReversed().join("\n"));
    const fifth = await commit("type: team\nname: five\n");
    expect(await remote.fetch({ signal })).toMatchObject({ commit: fifth, before: commits[3], change: "forward" });
    // Once is enough, and a remote that is away takes nothing away.
    const later = createRemote({
      ...(await followed()).options,
      folder,
      address: parseRemoteAddress(`${upstream}-gone`),
    });
    await later.deepen(9, { signal });
    expect(await known()).toBe([...commits.slice(1), fifth].toReversed().join("\n"));
  });

  test("F50 a force-push and an unrelated history are followed, and said to be rewritten", async () => {
    const { remote, upstream, first, commit } = await followed();
    const second = await commit("type: team\nname: two\n");
    await remote.fetch({ signal });
    await git(upstream, "reset", "--hard", "--quiet", first);
    const other = await commit("type: team\nname: other\n");
    expect(await remote.fetch({ signal })).toEqual({ commit: other, before: second, change: "rewritten" });
    await git(upstream, "checkout", "--quiet", "--orphan", "fresh");
    const fresh = await commitAll(upstream, "Begin again");
    await git(upstream, "branch", "--force", "main", fresh);
    expect(await remote.fetch({ signal })).toEqual({ commit: fresh, before: other, change: "rewritten" });
  });

  test("another ref than before is no rewritten history, whichever way it is named; a force-push of it is", async () => {
    const { options, upstream, first, commit, folder } = await followed();
    await commit("type: team\nname: two\n");
    await createRemote(options).fetch({ signal });
    await git(upstream, "checkout", "--quiet", "-b", "release", first);
    const release = await commit("type: team\nname: release\n");
    const other = createRemote({ ...options, ref: "release" });
    expect(await other.fetch({ signal })).toMatchObject({ commit: release, change: "switched" });
    expect(await createRemote({ ...options, ref: first }).fetch({ signal })).toMatchObject({ change: "switched" });
    expect(await other.fetch({ signal })).toMatchObject({ commit: release, change: "switched" });
    await git(upstream, "reset", "--hard", "--quiet", first);
    await commit("type: team\nname: forced\n");
    expect(await other.fetch({ signal })).toMatchObject({ change: "rewritten" });
    expect(await git(folder, "rev-parse", "refs/holdfast/head")).toBe(await git(upstream, "rev-parse", "release"));
  });

  test("S82 a host that sends messages without end is given up", async () => {
    const { options } = await followed();
    const remote = createRemote({ ...options, address: parseRemoteAddress(`${await serveFlood()}/platform`) });
    await expect(remote.fetch({ signal })).rejects.toMatchObject({
      reason: "TooLarge",
      message: expect.stringContaining("messages or names of refs without end"),
    });
  });

  test("packs are joined when there are many, and the branch is found among packed refs", async () => {
    const { remote, folder, commit } = await followed();
    await remote.fetch({ signal });
    const packs = join(folder, "objects/pack");
    const arrived = (await readdir(packs)).filter((name) => /\.(?:pack|idx)$/.test(name));
    for (let nth = 10; nth <= 60; nth += 1) {
      for (const name of arrived)
        await copyFile(join(packs, name), join(packs, name.replace(/[0-9a-f]{2}\./, `${nth}.`)));
    }
    const second = await commit("type: team\nname: two\n");
    await remote.fetch({ signal });
    expect((await readdir(packs)).filter((name) => name.endsWith(".pack")).length).toBeLessThan(10);
    await git(folder, "pack-refs", "--all", "--prune");
    expect(await remote.fetch({ signal })).toEqual({ commit: second, before: second, change: "unchanged" });
  });

  test("F51 a deleted branch, an emptied repository and one that is gone are told apart", async () => {
    const { remote, upstream, options } = await followed();
    await remote.fetch({ signal });
    await git(upstream, "checkout", "--quiet", "-b", "elsewhere");
    await git(upstream, "branch", "--delete", "--force", "--quiet", "main");
    await expect(remote.fetch({ signal })).rejects.toMatchObject({ reason: "RefNotFound", code: "refused" });
    // HEAD names the branch that is gone, and there is another one.
    await git(upstream, "symbolic-ref", "HEAD", "refs/heads/main");
    const headless = createRemote({ ...options, ref: null });
    await expect(headless.fetch({ signal })).rejects.toMatchObject({
      reason: "RefNotFound",
      message: "source platform: the remote's default branch does not exist",
    });
    const empty = await temporaryFolder();
    await git(empty, "init", "--quiet");
    const emptied = createRemote({ ...options, ref: null, address: parseRemoteAddress(empty) });
    await expect(emptied.fetch({ signal })).rejects.toMatchObject({ reason: "EmptyRepository" });
    const gone = createRemote({ ...options, address: parseRemoteAddress(join(empty, "gone")) });
    await expect(gone.fetch({ signal })).rejects.toMatchObject({ reason: "RepositoryNotFound" });
  });

  test("F53 locks and temporary files that a killed fetch has left are removed", async () => {
    const { remote, folder, commit } = await followed();
    await remote.fetch({ signal });
    for (const left of ["shallow.lock", "refs/holdfast/head.lock", "packed-refs.lock", "objects/pack/tmp_pack_x1"])
      await writeFile(join(folder, left), "");
    const second = await commit("type: team\nname: two\n");
    expect(await remote.fetch({ signal })).toMatchObject({ commit: second });
    expect(existsSync(join(folder, "objects/pack/tmp_pack_x1"))).toBe(false);
  });

  test("F54 a damaged repository is fetched anew", async () => {
    const { remote, folder, commit } = await followed();
    await remote.fetch({ signal });
    await git(folder, "repack", "-adq");
    const packs = (await readdir(join(folder, "objects/pack"))).filter((name) => name.endsWith(".pack"));
    for (const pack of packs) {
      await git(folder, "-c", "core.sharedRepository=0600", "status").catch(() => undefined);
      await chmod(join(folder, "objects/pack", pack), 0o600);
      await truncate(join(folder, "objects/pack", pack), 20);
    }
    const second = await commit("type: team\nname: two\n");
    const found = await remote.fetch({ signal }).catch(() => {
      remote.discard();
      return remote.fetch({ signal });
    });
    expect(found).toMatchObject({ commit: second });
    expect(await git(folder, "show", `${second}:team.yaml`)).toBe("type: team\nname: two");
  });

  test("F55 a repository beyond the limit is dropped and said to be too large; what was fetched before stays, and it goes on once it is smaller", async () => {
    const { options, upstream, first, folder } = await followed();
    const remote = createRemote({ ...options, maxBytes: 1_000_000 });
    await remote.fetch({ signal });
    await writeFile(join(upstream, "large.bin"), randomBytes(8_000_000));
    await commitAll(upstream, "Add a large file");
    for (const _ of ["at first", "again"])
      await expect(remote.fetch({ signal })).rejects.toMatchObject({ reason: "TooLarge" });
    expect(await git(folder, "show", `${first}:team.yaml`)).toBe("type: team\nname: ml");
    const anew = createRemote({ ...options, folder: join(await temporaryFolder(), "anew.git"), maxBytes: 1_000_000 });
    await expect(anew.fetch({ signal })).rejects.toMatchObject({ reason: "TooLarge" });
    await git(upstream, "reset", "--hard", "--quiet", "HEAD~1");
    expect(await remote.fetch({ signal })).toEqual({ commit: first, before: first, change: "unchanged" });
    expect(await anew.fetch({ signal })).toMatchObject({ commit: first, change: "first" });
    const slow = createRemote({ ...options, maxMs: 1 });
    await expect(slow.fetch({ signal })).rejects.toMatchObject({ reason: "Unreachable" });
  });

  test("F59 an annotated tag is its commit, a tag of a file is none, and a branch beside a tag is ambiguous", async () => {
    const { options, upstream, first } = await followed();
    await git(upstream, "tag", "--annotate", "--message", "One", "v1");
    await git(upstream, "tag", "file", `${first}:team.yaml`);
    await git(upstream, "tag", "main");
    const at = (ref: string) => createRemote({ ...options, ref }).fetch({ signal });
    expect(await at("v1")).toMatchObject({ commit: first });
    await expect(at("file")).rejects.toMatchObject({ reason: "NotACommit" });
    await expect(at("main")).rejects.toMatchObject({ reason: "RefAmbiguous" });
    expect(await at("refs/heads/main")).toMatchObject({ commit: first });
    expect(await at(first)).toMatchObject({ commit: first });
  });

  test("F59 a tag that becomes one of a file keeps the commit before, and so what lies between when it is moved again", async () => {
    const { options, upstream, first, commit } = await followed();
    await git(upstream, "tag", "--annotate", "--message", "One", "v1");
    const remote = createRemote({ ...options, ref: "v1" });
    await remote.fetch({ signal });
    await git(upstream, "tag", "--force", "v1", `${first}:team.yaml`);
    await expect(remote.fetch({ signal })).rejects.toMatchObject({ reason: "NotACommit" });
    const second = await commit("type: team\nname: two\n");
    const third = await commit("type: team\nname: three\n");
    await git(upstream, "tag", "--force", "--annotate", "--message", "Three", "v1");
    expect(await remote.fetch({ signal })).toEqual({ commit: third, before: first, change: "forward" });
    expect(await remote.between(first, third, { signal })).toEqual([second, third]);
  });

  test("F59 a repository with SHA-256 names is followed, and so is one that has become one", async () => {
    const { options } = await followed();
    const upstream = await temporaryFolder();
    await git(upstream, "init", "--quiet", "--object-format=sha256", "--initial-branch", "main");
    await writeFile(join(upstream, "team.yaml"), "type: team\nname: ml\n");
    const commit = await commitAll(upstream, "Begin");
    await createRemote(options).fetch({ signal });
    const remote = createRemote({ ...options, address: parseRemoteAddress(upstream) });
    expect(await remote.fetch({ signal })).toMatchObject({ commit, change: "first" });
  });
});

describe("a remote over HTTP", () => {
  test("takes credentials from a file, anew for each fetch, and repeats them in no message", async () => {
    const { upstream, options, commit, first } = await followed();
    const server = await serveGit(join(upstream, ".."));
    const tokenFile = join(await temporaryFolder(), "token");
    await writeFile(tokenFile, "CANARY-old\n");
    const basic = (token: string): string => `Basic ${Buffer.from(`git:${token}`).toString("base64")}`;
    server.require(basic("CANARY-new"));
    const address = parseRemoteAddress(`${server.url}/platform/.git`);
    const remote = createRemote({ ...options, address, credentials: { ...none, tokenFile } });
    const error = await remote.fetch({ signal }).catch((failure: unknown) => failure);
    expect(error).toMatchObject({ reason: "Unauthorized", code: "unauthorized" });
    expect(JSON.stringify(error) + String(error)).not.toContain("CANARY");
    await writeFile(tokenFile, "CANARY-new\n");
    expect(await remote.fetch({ signal })).toMatchObject({ commit: first });
    const second = await commit("type: team\nname: two\n");
    expect(await remote.fetch({ signal })).toMatchObject({ commit: second, change: "forward" });
    expect(server.requests.some(({ path }) => path.includes("CANARY"))).toBe(false);
  });

  test("F52 a remote that fails, or is not there, is unreachable, and the repository stays usable", async () => {
    const { upstream, options, first } = await followed();
    const server = await serveGit(join(upstream, ".."));
    const remote = createRemote({ ...options, address: parseRemoteAddress(`${server.url}/platform/.git`) });
    server.answerWith(503);
    await expect(remote.fetch({ signal })).rejects.toMatchObject({ reason: "Unreachable" });
    server.answerWith(404);
    await expect(remote.fetch({ signal })).rejects.toMatchObject({ reason: "RepositoryNotFound" });
    server.answerWith(null);
    expect(await remote.fetch({ signal })).toMatchObject({ commit: first });
    const nowhere = createRemote({ ...options, address: parseRemoteAddress("http://127.0.0.1:9/platform.git") });
    await expect(nowhere.fetch({ signal })).rejects.toMatchObject({ reason: "Unreachable" });
  });

  test("S7 a redirect is not followed, so that no credentials reach another host", async () => {
    const { upstream, options } = await followed();
    const server = await serveGit(join(upstream, ".."));
    server.answerWith(302);
    const remote = createRemote({ ...options, address: parseRemoteAddress(`${server.url}/platform/.git`) });
    await expect(remote.fetch({ signal })).rejects.toMatchObject({
      reason: "Redirected",
      code: "refused",
      message: expect.stringContaining("not followed"),
      hint: expect.stringContaining("correct `url`"),
    });
    expect(server.requests.length).toBe(1);
  });
});

describe("the address of a remote", () => {
  test.each([
    "ext::sh -c 'touch /tmp/marker'",
    "ext::sh%20-c%20true",
    "file:///etc",
    "--upload-pack=touch /tmp/marker",
    "-cfoo",
    "git@-oProxyCommand=true:x",
    "ssh://-oProxyCommand=true/x",
    "-oProxyCommand=x:y",
    "https://example.com/x\n",
    "https://example.com/x%0ay",
    "https://example.com/x\r",
    "https://ada:secret@example.com/x",
    "http://example.com/x",
    "git://example.com/x",
    "ftp://example.com/x",
    "relative/path",
    "",
  ])("S1 %j is refused before git is started", (url) => {
    expect(() => parseRemoteAddress(url)).toThrow(expect.objectContaining({ code: "invalid" }));
  });

  test("S1 a password in a refused address is not repeated", () => {
    expect(() => parseRemoteAddress("https://ada:CANARY@example.com/x")).toThrow(expect.not.stringContaining("CANARY"));
    expect(() => parseRemoteAddress("git://ada:CANARY@example.com/x")).toThrow(/^(?!.*CANARY)/);
  });

  test.each([
    ["https://example.com/platform.git", "https"],
    ["ssh://git@example.com:2222/platform.git", "ssh"],
    ["git@example.com:team/platform.git", "ssh"],
    ["http://127.0.0.1:8080/platform.git", "http"],
    ["http://[::1]/platform.git", "http"],
    ["/srv/git/platform.git", "file"],
  ])("%s is taken, for %s alone", (url, protocol) => {
    expect(parseRemoteAddress(url).protocol).toBe(protocol);
  });
});

describe("one repository", () => {
  const isOne = (one: string, other: string): boolean =>
    isOneRepository(parseRemoteAddress(one), parseRemoteAddress(other)) &&
    isOneRepository(parseRemoteAddress(other), parseRemoteAddress(one));

  test.each([
    ["https://git.example.com/team/platform", "https://git.example.com/team/platform.git"],
    ["https://git.example.com/team/platform", "https://git.example.com/team//platform.git/"],
    ["https://git.example.com/team/platform", "https://GIT.Example.com.:443/Team/platform"],
    ["https://git.example.com/team/platform", "https://git.example.com/te%61m/platform"],
    ["https://git.example.com/team/platform", "git@git.example.com:team/platform.git"],
    ["https://git.example.com/team/platform", "ssh://git@git.example.com:2222/team/platform.git"],
    ["git@git.example.com:team/platform", "ssh://ci@git.example.com:22/team/platform.git/"],
    ["http://127.0.0.1:8080/platform", "http://localhost:8080/platform.git"],
    ["/srv/git/platform", "/srv/git/../git//platform/"],
  ])("%s and %s name the same", (one, other) => {
    expect(isOne(one, other)).toBe(true);
  });

  test.each([
    ["https://git.example.com/team/platform", "https://git.example.com/team/platform2"],
    ["https://git.example.com/team/platform", "https://git.example.org/team/platform"],
    ["https://git.example.com/team/platform", "https://git.example.com:8443/team/platform"],
    ["http://127.0.0.1:8080/platform", "/platform"],
    ["/srv/git/platform", "/srv/git/platform2"],
    ["https://git.example.com/%FF", "https://git.example.com/%FE"],
  ])("%s and %s are two", (one, other) => {
    expect(isOne(one, other)).toBe(false);
  });

  test("a local one is the same through a link, without `.git`, and from a linked worktree", async () => {
    const { upstream: folder } = await followed();
    const beside = await temporaryFolder();
    await symlink(folder, join(beside, "linked"));
    await git(folder, "worktree", "add", "--quiet", "-b", "other", join(beside, "worktree"));
    await git(beside, "clone", "--quiet", "--bare", folder, "bare.git");
    for (const same of [join(beside, "linked"), `${folder}/`, join(folder, ".git"), join(beside, "worktree")])
      expect(isOne(folder, same), same).toBe(true);
    expect(isOne(join(beside, "bare.git"), join(beside, "bare"))).toBe(true);
    expect(isOne(folder, join(beside, "bare"))).toBe(false);
  });
});

test("S2 S3 hooks, configuration of the user, and an alternate transport run nothing", async () => {
  const marker = join(await temporaryFolder(), "marker");
  const { upstream, options, first, folder } = await followed();
  await writeFile(join(upstream, ".gitattributes"), "* filter=evil ident\n");
  await writeFile(join(upstream, ".gitmodules"), `[submodule "x"]\n\tpath = x\n\turl = ext::sh -c "touch ${marker}"\n`);
  await git(upstream, "config", "uploadpack.packObjectsHook", `touch ${marker};`);
  await commitAll(upstream, "Bring everything that could run");
  await mkdir(join(upstream, ".git/hooks"), { recursive: true });
  for (const hook of ["post-checkout", "post-merge", "reference-transaction", "pre-upload"])
    await writeFile(join(upstream, ".git/hooks", hook), `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
  const home = await temporaryFolder();
  await writeFile(
    join(home, ".gitconfig"),
    `[core]\n\tfsmonitor = touch ${marker}\n\thooksPath = ${upstream}/.git/hooks\n`,
  );
  const env = { HOME: home, GIT_SSH_COMMAND: `touch ${marker}`, GIT_CONFIG_GLOBAL: join(home, ".gitconfig") };
  expect(await createRemote({ ...options, env }).fetch({ signal })).not.toMatchObject({ commit: first });
  expect(existsSync(marker)).toBe(false);
  expect(await git(folder, "config", "--list", "--local")).not.toContain("hook");
});
