import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stateAt } from "../../src/state/open-state.ts";
import { eventually } from "../support/eventually.ts";
import { statusOf } from "../support/json-output.ts";
import { machine } from "../support/machine.ts";
import { team } from "../support/manifests.ts";
import { type Server, serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const written = (server: Server): readonly string[] => server.effects().map(({ resource }) => resource);
const teams = (count: number, member = "ada@example.com") =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`t${at}.yaml`, team(`t${at}`, member)]));

/** A daemon that follows the branch `main` of a repository. */
async function following(files: { readonly [file: string]: string }, { target = {}, source = {} } = {}) {
  const server = await serve();
  const upstream = await upstreamOf(files);
  const operator = await operatorOf(
    {
      sources: [{ name: "platform", url: upstream.folder, ref: "main", ...source }],
      targets: [{ name: "prod", interval: 0.3, ...target }],
    },
    server,
  );
  return { server, upstream, ...operator };
}

/** A daemon that takes webhooks, under the secret `CANARY-secret`, and has made its first pass. */
async function listening() {
  const followed = await following(
    { "ml.yaml": team("ml") },
    { target: { interval: 3600 }, source: { webhookSecretFile: "webhook.secret" } },
  );
  await followed.write("webhook.secret", "CANARY-secret\n");
  const daemon = followed.start(["watch", "--listen", "127.0.0.1:0"]);
  await daemon.shows("stdout", /1 created/);
  const [, url = ""] = await daemon.shows("stderr", /on (http:\S+)\n/);
  return { ...followed, daemon, url };
}

describe("watch on a git repository", () => {
  test("F29 follows every commit by polling, and says which one it is at", async () => {
    const { server, upstream, start } = await following({ "ml.yaml": team("ml") });
    const daemon = start(["watch"]);
    await daemon.shows("stderr", /source platform: main is at [0-9a-f]{12}\n/);
    await daemon.shows("stdout", /1 created/);
    const commit = await upstream.commit({ "web.yaml": team("web") });
    await daemon.shows("stderr", new RegExp(`is at ${commit.slice(0, 12)}\n`));
    await daemon.shows("stdout", /team\/web/);
    expect(written(server)).toEqual(["team/ml", "team/web"]);
    daemon.kill("SIGTERM");
    expect(await daemon.ended).toMatchObject({ code: 0 });
  });

  test("F50 S28 follows a rewritten history, and says so", async () => {
    const { server, upstream, start } = await following({ "ml.yaml": team("ml") });
    const first = await upstream.git("rev-parse", "HEAD");
    await upstream.commit({ "ml.yaml": team("ml", "bob@example.com") });
    const daemon = start(["watch"]);
    await daemon.shows("stdout", /1 created/);
    await upstream.git("reset", "--hard", "--quiet", first);
    await upstream.commit({ "ml.yaml": team("ml", "eve@example.com") });
    await daemon.shows("stderr", /its history was rewritten, [0-9a-f]{12} is not in it/);
    await daemon.shows("stdout", /1 updated/);
    expect(written(server)).toHaveLength(2);
  });

  test("F51 a shrunken source, a missing path, and a vanished branch keep the last applied revision, and drift is healed", async () => {
    const { server, upstream, start } = await following({
      "holdfast.yaml": "paths: [m]\n",
      ...Object.fromEntries(Object.entries(teams(12)).map(([f, t]) => [`m/${f}`, t])),
    });
    const daemon = start(["watch"]);
    await daemon.shows("stdout", /12 created/);
    const drifted = { manifest: { type: "team", name: "t0", members: ["eve@example.com"] } };
    const healed = async (effects: number): Promise<void> => {
      await server.call("PUT", "/api/svc/v1/teams", drifted);
      await eventually("drift is healed", () => (written(server).length === effects ? true : null));
    };
    for (let at = 1; at < 12; at += 1) await upstream.git("rm", "--quiet", `m/t${at}.yaml`);
    const shrunk = await upstream.commit({ "m/t0.yaml": team("t0", "changed@example.com") });
    await daemon.shows("stderr", new RegExp(shrunk.slice(0, 12)));
    await daemon.shows("stderr", /keeping the last applied revision, commit [0-9a-f]{40}/);
    await healed(14);
    await upstream.git("rm", "-r", "--quiet", "m");
    await upstream.commit({ "other.yaml": team("other") });
    await daemon.shows("stderr", /the path m does not exist/);
    await healed(16);
    await upstream.git("branch", "--move", "main", "trunk");
    await daemon.shows("stderr", /the remote has no branch or tag main/);
    await healed(18);
    daemon.kill("SIGKILL");
    await daemon.ended;
    // The next process knows the last applied commit too.
    const next = start(["watch"]);
    await next.shows("stderr", /keeping the last applied revision, commit [0-9a-f]{40}/);
    await healed(20);
    expect(JSON.stringify(await server.call("GET", "/api/svc/v1/teams"))).not.toContain("changed@example.com");
  });

  test("F52 an unreachable remote at the start is tried again, and never ends the daemon", async () => {
    const { server, upstream, start } = await following({ "ml.yaml": team("ml") });
    await upstream.git("branch", "--move", "main", "away");
    const daemon = start(["watch"]);
    await daemon.shows("stderr", /the remote has no branch or tag main/);
    expect(written(server)).toEqual([]);
    await upstream.git("branch", "--move", "away", "main");
    await daemon.shows("stdout", /1 created/);
  });

  test("only reports with `sync: report`", async () => {
    const { server, upstream, start } = await following({ "ml.yaml": team("ml") }, { target: { sync: "report" } });
    const daemon = start(["watch"]);
    await daemon.shows("stdout", /Plan: 1 to create/);
    await upstream.commit({ "web.yaml": team("web") });
    await daemon.shows("stdout", /Plan: 2 to create/);
    expect(written(server)).toEqual([]);
  });

  test("a commit pass looks at what the commit changed, and drift is looked for at its own interval", async () => {
    const { server, upstream, start } = await following(teams(3), { target: { interval: 0.3, driftInterval: 3600 } });
    const daemon = start(["watch"]);
    await daemon.shows("stdout", /3 created/);
    const drifted = { manifest: { type: "team", name: "t0", members: ["eve@example.com"] } };
    await server.call("PUT", "/api/svc/v1/teams", drifted);
    await upstream.commit({ "t1.yaml": team("t1", "bob@example.com") });
    await daemon.shows("stdout", /1 updated, 2 unchanged/);
    await upstream.commit({ "t3.yaml": team("t3"), "t1.yaml": team("t1", "eve@example.com") });
    await daemon.shows("stdout", /1 created, 1 updated, 2 unchanged/);
    expect(written(server).slice(3)).toEqual(["team/t0", "team/t1", expect.any(String), expect.any(String)]);
    expect(written(server)).toHaveLength(7);
    // Everything is looked at when a person asks, and when a manifest has left.
    daemon.kill("SIGHUP");
    await eventually("drift is healed", () => (written(server).at(-1) === "team/t0" ? true : null));
    await upstream.remove("t3.yaml");
    await daemon.shows("stdout", /team\/t3/);
  });

  test("SIGHUP makes a pass at once", async () => {
    const { upstream, start } = await following({ "ml.yaml": team("ml") }, { target: { interval: 3600 } });
    const daemon = start(["watch"]);
    await daemon.shows("stdout", /1 created/);
    await upstream.commit({ "web.yaml": team("web") });
    daemon.kill("SIGHUP");
    await daemon.shows("stdout", /team\/web/);
  });

  test("F28 a signed webhook makes a pass at once", async () => {
    const { upstream, daemon, url, folder } = await listening();
    await upstream.commit({ "web.yaml": team("web") });
    const push = (token: string) =>
      fetch(`${url}/hooks/platform`, { method: "POST", headers: { "x-gitlab-token": token } });
    expect((await push("wrong")).status).toBe(401);
    expect((await push("CANARY-secret")).status).toBe(202);
    await daemon.shows("stdout", /team\/web/);
    await eventually("what was counted and timed", async () => {
      const metrics = await (await fetch(`${url}/metrics`)).text();
      return [
        'holdfast_webhooks_total{source="platform",result="accepted"} 1',
        'holdfast_webhooks_total{source="platform",result="refused"} 1',
        'holdfast_git_fetch_duration_seconds_count{source="platform"} 2',
        'holdfast_commit_apply_duration_seconds_count{target="prod"} 2',
        'holdfast_pass_duration_seconds_count{target="prod"} 2',
        'holdfast_declared_resources{target="prod"} 2',
      ].every((line) => metrics.includes(`\n${line}\n`));
    });
    expect(daemon.stderr() + daemon.stdout() + folder).not.toContain("CANARY");
  });

  test("F28 F29 two thousand commits and a flood of webhooks make few passes, and each commit is accounted for", async () => {
    const { server, upstream, daemon, url, folder } = await listening();
    const first = await upstream.git("rev-parse", "HEAD");
    await upstream.importCommits(2000, (at) => ({ "ml.yaml": team("ml", `member-${at}@example.com`) }));
    const commits = (await upstream.git("rev-list", "--reverse", `${first}..HEAD`)).split("\n");
    const push = async (at: number) => {
      const headers = { "x-gitlab-token": "CANARY-secret", "x-gitlab-event-uuid": `${at % 200}` };
      return (await fetch(`${url}/hooks/platform`, { method: "POST", headers })).status;
    };
    const answers = await Promise.all(Array.from({ length: 400 }, (_, at) => push(at)));
    expect(new Set(answers).has(202)).toBe(true);
    await daemon.shows("stdout", /1 updated/);
    daemon.kill("SIGTERM");
    await daemon.ended;
    await using state = stateAt(join(folder, ".holdfast/targets/prod"), machine);
    const passes = (await (await state.target()).passes({ limit: 5000 })).entries.toReversed();
    expect(passes.map(({ commit }) => commit)).toEqual([first, ...commits]);
    expect(passes.slice(1, -1).every(({ result }) => result === "superseded")).toBe(true);
    expect(passes.at(-1)).toMatchObject({ result: "applied", counts: { updated: 1 } });
    expect(written(server)).toHaveLength(2);
    // A daemon that is busy with a pass takes what comes meanwhile for one; the fewer, the quicker the machine.
    expect(daemon.stderr().match(/idle until/g)?.length).toBeLessThan(100);
  });

  test("the last applied commit stays in force after the copy of the repository was lost", async () => {
    const { server, upstream, run, start, folder } = await following(teams(12), { target: { interval: 3600 } });
    const daemon = start(["watch"]);
    await daemon.shows("stdout", /12 created/);
    const first = await upstream.git("rev-parse", "HEAD");
    for (let at = 2; at < 12; at += 1) await upstream.git("rm", "--quiet", `t${at}.yaml`);
    await upstream.commit({});
    expect(await run(["reconcile"])).toMatchObject({ code: 1 });
    daemon.kill("SIGTERM");
    await daemon.ended;
    await rm(join(folder, ".holdfast/sources"), { recursive: true });
    await server.call("PUT", "/api/svc/v1/teams", {
      manifest: { type: "team", name: "t7", members: ["eve@example.com"] },
    });
    const next = start(["watch"]);
    await next.shows("stdout", /updated {3}team\/t7/);
    const { targets } = statusOf(await run(["status", "-o", "json"]));
    expect(targets).toMatchObject([{ reason: "SourceRefused", appliedRevision: first }]);
  });

  test("targets of one control plane share its lease, and a second process stands by", async () => {
    const server = await serve();
    const upstream = await upstreamOf({ "a/a.yaml": team("a"), "b/b.yaml": team("b") });
    const config = {
      sources: [{ name: "platform", url: upstream.folder }],
      targets: [
        { name: "a", paths: ["a"], interval: 0.3 },
        { name: "b", paths: ["b"], interval: 0.3 },
      ],
    };
    const [one, other] = [await operatorOf(config, server), await operatorOf(config, server)];
    const daemon = one.start(["watch"]);
    await daemon.shows("stdout", /^a: .*team\/a/m);
    await daemon.shows("stdout", /^b: .*team\/b/m);
    const standby = other.start(["watch"]);
    await standby.shows("stderr", /standing by/);
    daemon.kill("SIGTERM");
    expect(await daemon.ended).toMatchObject({ code: 0 });
    await standby.shows("stderr", /taking over/);
    await upstream.commit({ "a/a.yaml": team("a", "new@example.com"), "b/b.yaml": team("b", "new@example.com") });
    await standby.shows("stdout", /^a: .*1 updated/m);
    await standby.shows("stdout", /^b: .*1 updated/m);
    expect(written(server)).toHaveLength(4);
  });
});
