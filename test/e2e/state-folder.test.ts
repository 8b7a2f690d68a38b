import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { chown, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { needsRoot } from "../support/as-root.ts";
import { bundled } from "../support/bundled-commands.ts";
import { temporaryFolder } from "../support/folder.ts";
import { commitAll, git, notingGit } from "../support/git.ts";
import { everyKind, service } from "../support/manifests.ts";
import { inNamespace, needsMounts } from "../support/namespace-commands.ts";
import { type Ended, run, start } from "../support/process.ts";
import { startRecordingServer } from "../support/recording-server.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { placeSpecial, specialFiles } from "../support/special-file.ts";

type Hostile = (folder: string) => Promise<void>;

/** A checkout, as `git clone` leaves it, of a repository in which somebody has committed a state folder. */
async function clone(hostile: Hostile): Promise<string> {
  const top = await temporaryFolder();
  const [origin, checkout] = [join(top, "origin"), join(top, "checkout")];
  for (const [file, text] of Object.entries(everyKind)) {
    await mkdir(dirname(join(origin, file)), { recursive: true });
    await writeFile(join(origin, file), text);
  }
  await hostile(origin);
  await commitAll(origin, "a friendly change");
  await git(top, "clone", "--quiet", origin, checkout);
  return checkout;
}

async function put(folder: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

async function link(folder: string, path: string, target: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await symlink(target, join(folder, path));
}

/** Refused with exit code 3, the reason and a next step; no result, and nothing that asks for a report of a fault. */
function expectRefused(ended: Ended, message: RegExp): void {
  expect(ended).toMatchObject({ code: 3, signal: null, stdout: "" });
  expect(ended.stderr).toMatch(message);
  expect(ended.stderr).toMatch(/\n {2}→ \S/);
  expect(ended.stderr).not.toContain("fault of holdfast");
}

const commands = [
  ["validate"],
  ["plan"],
  ["plan", "--embedded"],
  ["drift"],
  ["apply", "--yes", "--embedded"],
  ["watch"],
  ["serve", "--port", "0"],
  ["backup", "copy.db"],
  ["revoke", "user:admin"],
  ["admin-token", "rotate"],
];

describe("S40 a state folder that a repository brings", () => {
  test("S40 sends no token to the endpoint that it names, in whatever command", async () => {
    const canary = `canary-${randomUUID()}`;
    const secret = join(await temporaryFolder(), "operators-token");
    writeFileSync(secret, `${canary}\n`, { mode: 0o600 });
    const recorder = await startRecordingServer();
    const checkout = await clone(async (folder) => {
      await put(folder, ".holdfast/control-plane/endpoint", `${recorder.url}\n`);
      await link(folder, ".holdfast/control-plane/admin-token", secret);
    });
    for (const args of commands) {
      const ended = await bundled().runHere(args, { cwd: checkout, env: { HOLDFAST_TOKEN: canary } });
      expectRefused(ended, /^error: the state folder .*\.holdfast is tracked by git, and was not read\n/m);
      expect(ended.stderr).toContain("--state");
      expect(ended.stdout + ended.stderr).not.toContain(canary);
    }
    expect(recorder.requests).toEqual([]);
    expect(readdirSync(checkout).toSorted()).not.toContain("copy.db");
  });

  test.each<readonly [string, Hostile, RegExp]>([
    [
      "a key",
      (folder) => put(folder, ".holdfast/key", `${Buffer.alloc(32, 7).toString("base64")}\n`),
      /tracked by git/,
    ],
    ["one file of any name", (folder) => put(folder, ".holdfast/notes", "x"), /tracked by git/],
    [
      "a link in its place",
      (folder) => link(folder, ".holdfast", "platform"),
      /\.holdfast is a symbolic link in the source/,
    ],
    ["a file in its place", (folder) => put(folder, ".holdfast", "x"), /\.holdfast is no folder/],
    ["a link for its cache", (folder) => link(folder, ".holdfast/cache", "../platform"), /cache is a symbolic link/],
  ])("S40 is refused with %s in it, and nothing is written", async (_, hostile, message) => {
    const server = await serve();
    const checkout = await clone(hostile);
    const env = { HOLDFAST_SERVER: server.url, HOLDFAST_TOKEN: server.token };
    for (const args of [["validate"], ["plan"], ["apply", "--yes"]]) {
      expectRefused(await bundled().runHere(args, { cwd: checkout, env }), message);
    }
    expect(server.effects()).toEqual([]);
    expect(await git(checkout, "status", "--porcelain", "--ignored")).toBe("");
  });

  test("S40 receives no one-time token through a link", async () => {
    const server = await serve();
    const elsewhere = await temporaryFolder();
    const checkout = await clone((folder) => link(folder, ".holdfast/tokens", elsewhere));
    const env = { HOLDFAST_SERVER: server.url, HOLDFAST_TOKEN: server.token };
    expectRefused(await run(["apply", "--yes"], { cwd: checkout, env }), /tokens is a symbolic link/);
    // Taken out of the index, it is still no folder of ours.
    await git(checkout, "rm", "--quiet", "--cached", ".holdfast/tokens");
    expectRefused(await run(["apply", "--yes"], { cwd: checkout, env }), /tokens is a symbolic link/);
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(server.effects()).toEqual([]);
  });

  test("S40 is no obstacle to one that is named outside of the repository", async () => {
    const server = await serve();
    const checkout = await clone((folder) => put(folder, ".holdfast/control-plane/endpoint", "http://127.0.0.1:1\n"));
    const state = join(await temporaryFolder(), "state");
    const env = {
      HOLDFAST_SERVER: server.url,
      HOLDFAST_TOKEN: server.token,
      HOLDFAST_STATE: state,
      HOLDFAST_ALLOW_PRIVILEGE: "true",
    };
    expect(await run(["apply", "--yes"], { cwd: checkout, env })).toMatchObject({ code: 0 });
    expect(await run(["plan"], { cwd: checkout, env })).toMatchObject({ code: 0 });
    expect(existsSync(join(state, "ledger.db"))).toBe(true);
  });

  test("S40 is found wherever --state leads to, and a repository of its own is none", async () => {
    const checkout = await clone(async (folder) => {
      await put(folder, "kept/key", "x");
      await link(folder, "way", "kept");
    });
    const outside = join(await temporaryFolder(), "link");
    await symlink(join(checkout, "kept"), outside);
    const plan = (state: string) => bundled().runHere(["plan", "--state", state], { cwd: checkout });
    for (const state of ["kept", outside]) expectRefused(await plan(state), /kept is tracked by git/);
    for (const state of ["way", "way/below"]) expectRefused(await plan(state), /way is a symbolic link in the source/);
    const own = await temporaryFolder();
    await commitAll(await put(own, "key", "x").then(() => own), "keys");
    expectRefused(await plan(own), /is tracked by git/);
  });

  test("S40 is found out in one call of git, and in none where it lies outside of every checkout", async () => {
    const server = await serve();
    const checkout = await clone(async () => undefined);
    const log = join(await temporaryFolder(), "log");
    const bin = await notingGit(log);
    const env = {
      HOLDFAST_SERVER: server.url,
      HOLDFAST_TOKEN: server.token,
      PATH: `${bin}:${process.env.PATH}`,
      HOLDFAST_ALLOW_PRIVILEGE: "true",
    };
    const calls = async (args: readonly string[]) => {
      writeFileSync(log, "");
      const once = "the calls of git are counted";
      expect(await run(args, { cwd: checkout, env, once })).toMatchObject({ code: 0 });
      return readFileSync(log, "utf8").match(/ls-files --error-unmatch/g)?.length ?? 0;
    };
    // It is made in the first run: nothing of the repository's can be in it.
    expect(await calls(["apply", "--yes"])).toBe(0);
    expect(await calls(["plan"])).toBe(1);
    expect(await calls(["apply", "--yes"])).toBe(1);
    expect(await calls(["plan", "--state", join(await temporaryFolder(), "state")])).toBe(0);
  });

  test("S40 is refused where it cannot be determined whether it is one", async () => {
    const checkout = await clone(async () => undefined);
    await mkdir(join(checkout, ".holdfast"), { mode: 0o700 });
    const unknown = /cannot determine whether git tracks the state folder .*\.holdfast: /;
    // Not `validate`, which needs no git: it goes without its cache then.
    const server = { HOLDFAST_SERVER: "http://127.0.0.1:9", HOLDFAST_TOKEN: "unused" };
    const ended = await run(["plan"], { cwd: checkout, env: { ...server, PATH: "/nonexistent" } });
    expectRefused(ended, new RegExp(`${unknown.source}git is not installed`));
    await rm(join(checkout, ".git"), { recursive: true });
    await writeFile(join(checkout, ".git"), "gitdir: /nonexistent\n");
    expectRefused(await run(["plan"], { cwd: checkout, env: server }), new RegExp(`${unknown.source}the repository`));
    // No repository at all, for all that git can see.
    await rm(join(checkout, ".git"));
    await mkdir(join(checkout, ".git"));
    expect(await run(["validate"], { cwd: checkout })).toMatchObject({ code: 0 });
  });
});

describe("S40 a file of the state folder", () => {
  test.each([
    ["key", ["validate"]],
    ["ledger.db", ["plan"]],
    ["ledger.db-wal", ["plan"]],
    ["ledger.db-shm", ["drift"]],
    ["lock.db", ["apply", "--yes"]],
    ["holder", ["apply", "--yes"]],
    ["tokens/{server}", ["apply", "--yes"]],
    ["tokens/{server}/virtual-account", ["apply", "--yes"]],
    ["control-plane/endpoint", ["plan", "--embedded"]],
    ["control-plane/admin-token", ["apply", "--yes", "--embedded"]],
    ["control-plane/control-plane.db", ["plan", "--embedded"]],
    ["control-plane/control-plane.db-wal", ["serve", "--port", "0"]],
    ["control-plane/server-key", ["serve", "--port", "0"]],
    ["control-plane/lock.db", ["serve", "--port", "0"]],
    ["control-plane/artifacts", ["serve", "--port", "0"]],
  ] as const)("S40 is not opened when it is a pipe or a link: %s", async (file, args) => {
    const server = await serve();
    const host = new URL(server.url).host.replace(":", "_");
    const env = args.some((arg) => arg === "--embedded")
      ? {}
      : { HOLDFAST_SERVER: server.url, HOLDFAST_TOKEN: server.token };
    for (const sort of ["pipe", "symlink", "dangling symlink"] as const) {
      const source = await sourceOf(everyKind);
      const path = join(source.folder, ".holdfast", file.replace("{server}", host));
      placeSpecial(sort, path);
      const message = specialFiles[sort] === "a pipe" ? /is (?:a pipe|no folder)/ : /is a symbolic link/;
      const ended = await source.runHere(args, env);
      expectRefused(ended, message);
      expect(ended.stderr).toContain(path);
      if (sort === "symlink") expect(readFileSync(`${path}.target`, "utf8")).toBe("x");
      expect(existsSync(`${path}.nowhere`)).toBe(false);
    }
    expect(server.effects()).toEqual([]);
  });

  test("S40 is not opened when it is a pipe or a link: key, by a command that uses no cache", async () => {
    for (const sort of ["pipe", "symlink"] as const) {
      const source = await sourceOf(everyKind);
      const path = join(source.folder, ".holdfast/key");
      placeSpecial(sort, path);
      const ended = await source.runHere(["validate"], { HOLDFAST_CACHE: "off" });
      expectRefused(ended, new RegExp(`^error: ${path} is (?:a pipe|a symbolic link)`, "m"));
    }
  });

  test("S40 is refused when others can read or write it", async () => {
    const { source, folder } = await applied();
    chmodSync(join(folder, "key"), 0o644);
    expectRefused(await source.runHere(["plan", "--embedded"]), /key: others can read it; run chmod 600 on it/);
    chmodSync(join(folder, "key"), 0o600);
    chmodSync(join(folder, "ledger.db"), 0o666);
    expectRefused(
      await source.runHere(["plan", "--embedded"]),
      /ledger\.db: others can write it; run chmod go-w on it/,
    );
    chmodSync(join(folder, "ledger.db"), 0o600);
    chmodSync(folder, 0o777);
    expectRefused(await source.runHere(["plan", "--embedded"]), /\.holdfast: others can write it/);
    chmodSync(folder, 0o700);
    expect(await source.runHere(["plan", "--embedded"])).toMatchObject({ code: 0 });
  });

  test("S40 is refused when another user owns it, also for root", async (context) => {
    needsRoot(context);
    const { source, folder } = await applied();
    await chown(join(folder, "ledger.db"), 12_345, 12_345);
    expectRefused(await source.runHere(["plan", "--embedded"]), /ledger\.db belongs to another user \(uid 12345\)/);
    await chown(folder, 12_345, 12_345);
    expectRefused(await source.runHere(["validate"]), /\.holdfast belongs to another user \(uid 12345\)/);
  });

  async function applied() {
    const source = await sourceOf(everyKind);
    expect(await source.run(["apply", "--embedded", "--yes"])).toMatchObject({ code: 0 });
    return { source, folder: join(source.folder, ".holdfast") };
  }

  test("S40 that turns into a pipe while a daemon runs is told, and SIGTERM still ends it at once", async () => {
    const server = await serve();
    const source = await sourceOf(everyKind, server);
    const watch = source.start(["watch", "--sink", "file"]);
    await watch.shows("stdout", /^Applied: 8 created/m);
    const key = join(source.folder, ".holdfast/key");
    rmSync(key);
    placeSpecial("pipe", key);
    await source.write("services/api.yaml", service("api", "replicas: 3\n"));
    await watch.shows("stderr", /^error: .*key is a pipe, not a regular file\n {2}→ /m);
    const begun = performance.now();
    watch.kill("SIGTERM");
    expect(await watch.ended).toMatchObject({ code: 0 });
    // Less than it gives to what is under way.
    expect(performance.now() - begun).toBeLessThan(20_000);
  });
});

describe("S40 an embedded endpoint", () => {
  test("S40 counts for nothing once the process that announced it is gone, whoever listens there now", async () => {
    const source = await sourceOf(everyKind);
    const watch = source.start(["watch", "--embedded"]);
    const [, url = ""] = await watch.shows("stderr", /^embedded control plane at (\S+), /m);
    await watch.shows("stdout", /^Applied: 8 created/m);
    expect(await source.run(["plan"])).toMatchObject({ code: 0 });
    watch.kill("SIGKILL");
    await watch.ended;
    const endpoint = join(source.folder, ".holdfast/control-plane/endpoint");
    expect(readFileSync(endpoint, "utf8")).toBe(`${url}\n`);
    const recorder = await startRecordingServer(Number(new URL(url).port));
    const ended = await source.run(["plan"]);
    expectRefused(ended, /^error: no control plane is named/m);
    expect(recorder.requests).toEqual([]);
    // The next one takes the place of what was left behind.
    expect(await source.runHere(["plan", "--embedded"])).toMatchObject({ code: 0 });
    expect(readdirSync(dirname(endpoint)).filter((name) => name.startsWith("endpoint"))).toEqual([]);
  });

  test("S40 counts for nothing when another process than the one that serves has written it", async () => {
    const source = await sourceOf(everyKind);
    const watch = source.start(["watch", "--embedded"]);
    await watch.shows("stdout", /^Applied: 8 created/m);
    const recorder = await startRecordingServer();
    const endpoint = join(source.folder, ".holdfast/control-plane/endpoint");
    for (const other of [recorder.url, recorder.url.replace("127.0.0.1", "localhost"), "http://192.0.2.1:80"]) {
      writeFileSync(endpoint, `${other}\n`);
      expectRefused(await source.run(["plan"]), /^error: no control plane is named/m);
    }
    expect(recorder.requests).toEqual([]);
  });

  test("S40 is there for other containers that share its network, and for no others", async (context) => {
    needsMounts(context);
    const source = await sourceOf(everyKind);
    const watch = source.start(["watch", "--embedded"]);
    await watch.shows("stdout", /^Applied: 8 created/m);
    expect(await source.runThrough(inNamespace("pid"), ["plan"])).toMatchObject({ code: 0 });
    expectRefused(await source.runThrough(inNamespace("net"), ["plan"]), /^error: no control plane is named/m);
  });

  test("S40 is announced on loopback by a server that listens everywhere", async () => {
    const source = await sourceOf(everyKind);
    const server = start(["serve", "--host", "0.0.0.0", "--port", "0"], { cwd: source.folder });
    await server.shows("stdout", /^listening on http:\/\/0\.0\.0\.0:\d+\n/);
    const plan = await source.run(["plan"]);
    expect(plan).toMatchObject({ code: 0 });
    expect(plan.stderr).toMatch(/^using the embedded control plane at http:\/\/127\.0\.0\.1:\d+\n/);
  });
});

test("S40 a state folder outlives being moved, and one on a way through the operator's own links", async () => {
  const server = await serve();
  const source = await sourceOf(everyKind, server);
  expect(await source.run(["apply", "--yes"])).toMatchObject({ code: 0 });
  const elsewhere = await temporaryFolder();
  await rename(join(source.folder, ".holdfast"), join(elsewhere, "state"));
  await symlink(join(elsewhere, "state"), join(elsewhere, "link"));
  const plan = await source.run(["plan", "--state", join(elsewhere, "link")]);
  expect(plan).toMatchObject({ code: 0, stdout: "Plan: nothing to do, 8 unchanged\n" });
  expect(statSync(join(elsewhere, "state")).mode & 0o777).toBe(0o700);
  await rm(join(elsewhere, "link"));
});
