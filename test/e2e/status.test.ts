import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { statusOf } from "../support/json-output.ts";
import { team } from "../support/manifests.ts";
import { serveProcess } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

/** A daemon's surroundings, with passes that come only when they are asked for. */
async function following() {
  const server = await serveProcess();
  const upstream = await upstreamOf({ "ml.yaml": team("ml") });
  const operator = await operatorOf(
    {
      sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
      targets: [{ name: "prod", interval: 3600 }],
    },
    server,
  );
  const json = async (...args: readonly string[]) => JSON.parse((await operator.run([...args, "-o", "json"])).stdout);
  const status = async () => statusOf(await operator.run(["status", "-o", "json"]));
  return { status, server, upstream, json, ...operator };
}

test("status and history say why a daemon failed for good in its first pass", async () => {
  const { run, json, status } = await following();
  expect(await run(["watch"], { HOLDFAST_TOKEN: "wrong" })).toMatchObject({ code: 4 });
  const failed = {
    condition: "Stalled",
    reason: "Unauthorized",
    lastPass: { result: "failed", reason: "Unauthorized" },
  };
  expect((await status()).targets).toMatchObject([failed]);
  expect((await json("history")).targets).toMatchObject([{ passes: [{ result: "failed", reason: "Unauthorized" }] }]);
});

test("status and history tell of every commit, while a daemon runs and when none does", async () => {
  const { upstream, json, status, run, start, folder } = await following();
  expect(await status()).toMatchObject({
    format_version: "2.2",
    daemon: null,
    targets: [{ target: "prod", source: "platform", sync: "Unknown", reason: "NeverRun", lastPass: null }],
  });
  expect(await run(["reconcile"])).toMatchObject({ code: 1 });
  const first = await upstream.git("rev-parse", "HEAD");
  const waiting = start(["status", "--wait", "-o", "json"]);
  await waiting.shows("stderr", /waiting: no daemon runs with/);
  const daemon = start(["watch"]);
  expect(await waiting.ended).toMatchObject({ code: 0 });
  expect(JSON.parse(waiting.stdout())).toMatchObject({ targets: [{ sync: "Synced", condition: "Ready" }] });
  const socket = join(folder, ".holdfast/daemon.sock");
  expect(statSync(socket).mode & 0o777).toBe(0o600);

  const skipped = await upstream.commit({ "a.yaml": team("a") });
  const second = await upstream.commit({ "b.yaml": team("b") });
  expect(await run(["reconcile", "--target", "prod"])).toMatchObject({ code: 0 });
  const { daemon: running, targets } = await status();
  expect(running?.pid).toBeGreaterThan(1);
  expect(targets).toMatchObject([
    {
      sync: "Synced",
      condition: "Ready",
      wantedRevision: second,
      appliedRevision: second,
      counts: { created: 2, unchanged: 1 },
      oldestUnapplied: null,
      lastPass: { result: "applied", commit: second },
    },
  ]);

  await upstream.git("branch", "--move", "main", "trunk");
  expect(await run(["reconcile"])).toMatchObject({ code: 1 });
  expect((await status()).targets).toMatchObject([
    { condition: "Stalled", reason: "RefNotFound", appliedRevision: second, lastPass: { result: "kept" } },
  ]);
  expect((await run(["status"])).stdout).toMatch(/^prod {2}Synced, Stalled \(RefNotFound\)\n.*no branch or tag main/);

  daemon.kill("SIGKILL");
  await daemon.ended;
  const after = await status();
  expect(after).toMatchObject({ daemon: null, targets: [{ reason: "RefNotFound", appliedRevision: second }] });
  const { passes } = (await json("history")).targets[0];
  expect(passes.map(({ commit, result }: { commit: string; result: string }) => [commit, result])).toEqual([
    [first, "applied"],
    [skipped, "superseded"],
    [second, "applied"],
    [second, "kept"],
  ]);
  expect((await run(["history"])).stdout).toContain(`${skipped.slice(0, 12)}  superseded`);

  // The next daemon takes over the socket that is left.
  await upstream.git("branch", "--move", "trunk", "main");
  const next = start(["watch"]);
  await next.shows("stderr", /source platform: main is at/);
  expect(await run(["reconcile"])).toMatchObject({ code: 0 });
  expect((await json("history")).targets[0].passes.length).toBeGreaterThanOrEqual(5);
});

test("a pass that nothing came of is not recorded again, and a commit that fails is", async () => {
  const { upstream, status, json, run, start, server } = await following();
  const daemon = start(["watch"]);
  await daemon.shows("stdout", /1 created/);
  for (let at = 0; at < 3; at += 1) await run(["reconcile"]);
  expect((await json("history")).targets[0].passes).toHaveLength(1);
  const failing = await upstream.commit({ "w.yaml": "type: workspace\nname: w\ncluster_fqn: nowhere\n" });
  expect((await run(["reconcile"])).code).toBe(1);
  const { targets } = await status();
  expect(targets).toMatchObject([{ condition: "Stalled", lastPass: { commit: failing } }]);
  expect((await json("history")).targets[0].passes).toHaveLength(2);
  server.process.kill("SIGKILL");
  daemon.kill("SIGTERM");
  expect(await daemon.ended).toMatchObject({ code: 0 });
});
