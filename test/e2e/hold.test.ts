import { expect, test } from "vitest";
import { statusOf } from "../support/json-output.ts";
import { team } from "../support/manifests.ts";
import { type Server, serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const written = (server: Server): readonly string[] => server.effects().map(({ resource }) => resource);

async function following(files: { readonly [file: string]: string }) {
  const server = await serve();
  const upstream = await upstreamOf(files);
  const source = { name: "platform", url: upstream.folder, ref: "main" };
  const operator = await operatorOf({ sources: [source], targets: [{ name: "prod", interval: 3600 }] }, server);
  const daemon = operator.start(["watch"]);
  await daemon.shows("stdout", /created/);
  const status = async () => statusOf(await operator.run(["status", "-o", "json"])).targets[0];
  // A hold starts a pass. It has ended when this resolves, so that it cannot be the one that applies a later commit.
  const hold = async (...args: readonly string[]) => {
    const held = await operator.run(["hold", ...args]);
    expect(await operator.run(["reconcile"])).toMatchObject({ code: 0 });
    return held;
  };
  return { server, upstream, status, hold, ...operator };
}

test("a held resource is reported and not written until it is released", async () => {
  const { server, upstream, run, status, hold } = await following({ "ml.yaml": team("ml"), "web.yaml": team("web") });
  const long = await run(["hold", "team/web", "--reason", "of many words ".repeat(9), "--until", "4h"], {
    COLUMNS: "",
  });
  const tooLong = ({ stdout }: { readonly stdout: string }) =>
    stdout.split("\n").filter((line) => line.length > 80 && line.trim().includes(" "));
  expect(tooLong(long)).toEqual([]);
  expect(await run(["release", "team/web"])).toMatchObject({ code: 0 });
  const incident = ["team/ml", "--reason", "incident 12", "--until", "4h"];
  expect((await hold(...incident)).stdout).toMatch(/^held: team\/ml until \d{4}-.*Z: incident 12\n$/);
  const whole = (await status())?.appliedRevision;
  const changed = await upstream.commit({
    "ml.yaml": team("ml", "eve@example.com"),
    "web.yaml": team("web", "eve@example.com"),
  });
  const reconciled = await run(["reconcile"], { COLUMNS: "" });
  expect(reconciled).toMatchObject({ code: 0 });
  expect(tooLong(reconciled)).toEqual([]);
  expect(written(server)).toHaveLength(3);
  const waits = `incident 12; commit ${changed.slice(0, 12)} waits`;
  expect(await status()).toMatchObject({
    sync: "OutOfSync",
    condition: "Held",
    reason: "Held",
    message: "1 held: team/ml",
    counts: { updated: 1, blocked: 1 },
    held: [expect.stringMatching(new RegExp(`^team/ml until .*: ${waits}$`))],
    wantedRevision: changed,
    appliedRevision: whole,
    oldestUnapplied: { commit: changed },
    lastPass: { result: "incomplete", commit: changed },
  });
  // A later commit that leaves the resource as it is ends nothing.
  const later = await upstream.commit({ "web.yaml": team("web") });
  expect(await run(["reconcile"])).toMatchObject({ code: 0 });
  expect(written(server)).toHaveLength(4);
  expect(await status()).toMatchObject({ held: [expect.stringContaining(waits)] });
  expect(await run(["release", "team/ml"])).toMatchObject({ code: 0 });
  expect(await run(["reconcile"])).toMatchObject({ code: 0 });
  expect(written(server)).toHaveLength(5);
  expect(await status()).toMatchObject({
    sync: "Synced",
    condition: "Ready",
    held: [],
    appliedRevision: later,
    oldestUnapplied: null,
  });

  // Live changes by hand; the next commit that changes the manifest overwrites that.
  const until = ["team/ml", "--reason", "by hand", "--until", "commit"];
  expect((await hold(...until)).stdout).toBe("held: team/ml until the next commit that changes it: by hand\n");
  await server.call("PUT", "/api/svc/v1/teams", {
    manifest: { type: "team", name: "ml", members: ["joe@example.com"] },
  });
  await upstream.commit({ "web.yaml": team("web", "joe@example.com") });
  expect(await run(["reconcile"])).toMatchObject({ code: 0 });
  expect(await status()).toMatchObject({ condition: "Held", counts: { updated: 1, blocked: 1 } });
  await upstream.commit({ "ml.yaml": team("ml", "ann@example.com") });
  expect(await run(["reconcile"])).toMatchObject({ code: 0 });
  expect(await status()).toMatchObject({ sync: "Synced", held: [], counts: { updated: 1, blocked: 0 } });
  const bare = await run(["hold", "team/ml"]);
  expect(bare).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("--reason TEXT and --until WHEN are missing"),
  });
  expect((await run(["hold"])).stderr).toMatch(/^error: <what>, --reason TEXT and --until WHEN are missing\n/);
  const unknown = await run(["hold", "team/mll", "--reason", "x", "--until", "1h"]);
  expect(unknown).toMatchObject({ code: 3, stdout: "" });
  expect(unknown.stderr).toContain("team/mll is neither declared nor recorded");
  expect(unknown.stderr).toContain("did you mean team/ml?");
});

test("a held commit is not applied, a newer one is, and one that lost much is once it is released", async () => {
  const twelve = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`t${at}.yaml`, team(`t${at}`)]));
  const { server, upstream, run, status } = await following(twelve);
  const held = await upstream.commit({ "t0.yaml": team("t0", "held@example.com") });
  const hold = ["hold", held.slice(0, 9), "--reason", "waits", "--until", "2099-01-01T00:00:00Z"];
  expect(await run(hold)).toMatchObject({ code: 0 });
  expect(await run(["reconcile"])).toMatchObject({ code: 0 });
  expect(await status()).toMatchObject({ condition: "Held", reason: "Held", wantedRevision: held });
  expect(await run(["apply", "--yes"])).toMatchObject({ code: 5 });
  expect(written(server)).toHaveLength(12);
  await upstream.commit({ "t1.yaml": team("t1", "newer@example.com") });
  expect(await run(["reconcile"])).toMatchObject({ code: 0 });
  expect(written(server)).toHaveLength(14);

  for (let at = 2; at < 12; at += 1) await upstream.git("rm", "--quiet", `t${at}.yaml`);
  const shrunk = await upstream.commit({ "t0.yaml": team("t0", "shrunk@example.com") });
  expect(await run(["reconcile"])).toMatchObject({ code: 1 });
  expect(await status()).toMatchObject({ reason: "SourceRefused", oldestUnapplied: { commit: shrunk } });
  expect(written(server)).toHaveLength(14);
  expect(await run(["release", shrunk])).toMatchObject({ code: 0 });
  expect(await run(["reconcile"])).toMatchObject({ code: 0 });
  expect(written(server)).toHaveLength(15);
});

test.each([
  [["hold", "team/ml", "--until", "1h"], "--reason"],
  [["hold", "team/ml", "--reason", "x"], "--until"],
  [["hold", "team/ml", "--reason", "x", "--until", "2001-01-01"], "future"],
  [["hold", "abcdef1", "--reason", "x", "--until", "commit"], "--until commit is for a resource"],
  [["hold", "nonsense", "--reason", "x", "--until", "1h"], "neither a resource nor a commit"],
  [["hold", "abcdef1", "--reason", "x", "--until", "1h"], "this source is a folder"],
  [["release", "team/ml"], "is not held"],
])("%j is refused", async (args, why) => {
  const { run } = await operatorOf({ targets: [{ name: "prod" }] });
  const ended = await run(args);
  expect(ended).toMatchObject({ code: 3, stdout: "" });
  expect(ended.stderr).toContain(why);
});
