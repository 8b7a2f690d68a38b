import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { answer, faultProxy } from "../support/fault-proxy.ts";
import { startHoldingProxy } from "../support/holding-proxy.ts";
import { reportOf, statusOf } from "../support/json-output.ts";
import { type Files, foundations, service, team } from "../support/manifests.ts";
import { type Server, serve } from "../support/server.ts";
import type { Source } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const written = (server: Server): readonly string[] => server.effects().map(({ resource }) => resource);

const FROZEN = { allow: "0 0 1 1 *", duration: "1s", timeZone: "UTC", reason: "release week" };

const FORCED = expect.stringMatching(/written although the target was frozen until .*\(--allow-window\)$/);

// A window that opened with the minute and is open for some seconds more, by the clock of this machine.
function openFor(seconds: number) {
  const now = new Date(Date.now());
  const cron = `${now.getUTCMinutes()} ${now.getUTCHours()} * * *`;
  return { deny: cron, duration: `${now.getUTCSeconds() + seconds}s`, timeZone: "UTC", reason: "release" };
}

const TEAMS = { "ml.yaml": team("ml"), "web.yaml": team("web") };

async function frozenBy(windows: readonly object[], interval?: number, files: Files = TEAMS) {
  const server = await serve();
  const upstream = await upstreamOf(files);
  const sources = [{ name: "platform", url: upstream.folder, ref: "main" }];
  const config = (given: readonly object[]) => ({
    sources,
    targets: [{ name: "prod", windows: given, ...(interval === undefined ? {} : { interval }) }],
  });
  const operator = await operatorOf(config(windows), server);
  const status = async () => statusOf(await operator.run(["status", "-o", "json"])).targets[0];
  const setWindows = (given: readonly object[]) => writeFile(operator.config, stringify(config(given)));
  const passes = async () => JSON.parse((await operator.run(["history", "-o", "json"])).stdout).targets[0].passes;
  return { ...operator, server, upstream, status, setWindows, passes };
}

test("a frozen target is planned, and applied only with --allow-window, which the history tells", async () => {
  const { server, run, runHere, status, passes } = await frozenBy([FROZEN]);
  const frozen = /frozen until \d{4}-01-01T00:00:00Z: outside the allowed times \(release week\)/;
  const planned = await runHere(["plan", "--out", "plan.json"]);
  expect(planned).toMatchObject({ code: 0 });
  expect(planned.stderr).toContain("apply would be refused now");
  for (const args of [
    ["apply", "--yes"],
    ["apply", "--plan", "plan.json"],
    ["redeploy", "team/ml"],
  ]) {
    const refused = await runHere(args);
    expect(refused).toMatchObject({ code: 5, stdout: "" });
    expect(refused.stderr.replace(/\s+/g, " ")).toMatch(frozen);
    expect(refused.stderr).toContain("--allow-window");
  }
  expect(written(server)).toEqual([]);
  expect(await status()).toMatchObject({
    frozen: { until: expect.stringMatching(/-01-01T00:00:00Z$/), reason: "outside the allowed times (release week)" },
    nextFreeze: { from: expect.stringMatching(/-01-01T00:00:01Z$/) },
  });
  expect((await run(["status"])).stdout).toMatch(/ {2}frozen {4}until .*\n {2}freeze {4}from .* until /);
  const applied = await runHere(["apply", "--plan", "plan.json", "--allow-window", "-o", "json"]);
  expect(reportOf(applied)).toMatchObject({ summary: { created: 2 } });
  expect(await passes()).toEqual([expect.objectContaining({ result: "applied", reason: "Forced", message: FORCED })]);
});

test("a redeploy with --allow-window is in the history", async () => {
  const files = { ...foundations, "api.yaml": service("api") };
  const { server, runHere, setWindows, passes } = await frozenBy([], undefined, files);
  expect(await runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  await setWindows([FROZEN]);
  const before = server.effects().length;
  const redeploy = ["redeploy", "service/dev:web/api", "--force"];
  expect(await runHere(redeploy)).toMatchObject({ code: 5, stdout: "" });
  expect(server.effects()).toHaveLength(before);
  expect(await runHere([...redeploy, "--allow-window"])).toMatchObject({ code: 0 });
  expect(written(server).slice(before)).toEqual(["service/dev:web/api"]);
  expect(await passes()).toContainEqual(
    expect.objectContaining({ result: "applied", reason: "Forced", message: FORCED }),
  );
});

test("an apply with --allow-window that fails is in the history too", async () => {
  const { server, runHere, passes } = await frozenBy([FROZEN]);
  const proxy = await faultProxy(server);
  proxy.inject("putTeam", answer(422, { statusCode: 422, message: "no more teams", code: "invalid" }));
  const forced = ["apply", "--yes", "--allow-window", "--server", proxy.url];
  expect(await runHere(forced)).toMatchObject({ code: 1 });
  expect(written(server)).toEqual([]);
  expect(await passes()).toEqual([expect.objectContaining({ result: "incomplete", message: FORCED })]);
});

/** An apply that was killed after its first write had reached the server, and before it had the answer; returns its arguments. */
async function killedApply(server: Server, start: Source["start"]): Promise<readonly string[]> {
  const proxy = await startHoldingProxy(server);
  const apply = ["apply", "--yes", "--concurrency", "1", "--request-timeout", "1", "--server", proxy.url];
  const held = proxy.hold("PUT", "/api/svc/v1/teams");
  const killed = start(apply);
  await held;
  killed.kill("SIGKILL");
  await killed.ended;
  proxy.open();
  return apply;
}

test("an apply in a freeze closes the open write of a killed one by reading it back, and sends nothing", async () => {
  const { server, runHere, start, setWindows, status } = await frozenBy([]);
  const apply = await killedApply(server, start);
  const before = written(server);
  expect(before).toHaveLength(1);
  await setWindows([FROZEN]);
  const refused = await runHere(apply);
  expect(refused).toMatchObject({ code: 5, stdout: expect.stringContaining("not sent: the target is frozen until ") });
  expect(written(server)).toEqual(before);
  expect(await status()).toMatchObject({ unknown: [], condition: "Held", reason: "Frozen" });
  // Nothing is open any more, so that it ends before it plans.
  expect(await runHere(apply)).toMatchObject({ code: 5, stdout: "" });
  await setWindows([]);
  expect(await runHere(apply)).toMatchObject({ code: 0 });
  expect(written(server).toSorted()).toEqual(["team/ml", "team/web"]);
});

test("an apply in a freeze that finds the open write of a killed one made, and no longer declared, ends with 5", async () => {
  const files = Object.fromEntries(["a", "b", "c", "d"].map((name) => [`${name}.yaml`, team(name)]));
  const { server, upstream, runHere, start, setWindows } = await frozenBy([], undefined, files);
  const apply = await killedApply(server, start);
  const [made = "", ...others] = written(server);
  expect(others).toEqual([]);
  await upstream.remove(`${made.slice("team/".length)}.yaml`);
  await setWindows([FROZEN]);
  const refused = await runHere([...apply, "-o", "json"]);
  expect(reportOf(refused)).toMatchObject({ summary: { created: 1, updated: 0, unchanged: 0 } });
  expect(refused.code).toBe(5);
  expect(written(server)).toEqual([made]);
});

/** Sets the clock of a process ahead by a quarter of an hour once a file is there. */
function aheadOnce(file: string): { readonly NODE_OPTIONS: string } {
  const script = `
    import { existsSync } from "node:fs";
    const now = Date.now;
    Date.now = () => now() + (existsSync(${JSON.stringify(file)}) ? 900_000 : 0);`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}

/** Breaks the clock of a process for one reading, once a file is there. */
function brokenOnce(file: string): { readonly NODE_OPTIONS: string } {
  const script = `
    import { existsSync } from "node:fs";
    const now = Date.now;
    let isBroken = false;
    Date.now = () => {
      if (isBroken || !existsSync(${JSON.stringify(file)})) return now();
      isBroken = true;
      throw new Error("the clock is broken");
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}

test("an apply with --allow-window that an error ends after it has begun to write is in the history too", async () => {
  const { server, folder, start, passes, status } = await frozenBy([FROZEN]);
  const proxy = await startHoldingProxy(server);
  const held = proxy.hold("PUT", "/api/svc/v1/teams");
  const broken = join(folder, "broken");
  const forced = ["apply", "--yes", "--allow-window", "--concurrency", "1", "--server", proxy.url];
  const running = start(forced, brokenOnce(broken));
  await held;
  await writeFile(broken, "");
  await proxy.letGo();
  const failed = await running.ended;
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("the clock is broken") });
  expect(written(server).length).toBeGreaterThan(0);
  const record = { result: "failed", reason: "Failed", message: FORCED, commit: expect.any(String) };
  expect(await passes()).toEqual([expect.objectContaining(record)]);
  expect(await status()).toMatchObject({ condition: "Stalled", reason: "Failed", lastPass: record });
});

test("a freeze that begins during an apply ends it after the request in flight, and the next apply goes on", async () => {
  const { server, folder, runHere, start, setWindows } = await frozenBy([]);
  const soon = new Date(Date.now() + 600_000);
  const deny = `${soon.getUTCMinutes()} ${soon.getUTCHours()} * * *`;
  await setWindows([{ deny, duration: "1h", timeZone: "UTC", reason: "release" }]);
  const proxy = await startHoldingProxy(server);
  const apply = ["apply", "--yes", "--concurrency", "1", "--server", proxy.url];
  const held = proxy.hold("PUT", "/api/svc/v1/teams");
  const ahead = join(folder, "ahead");
  const running = start(apply, aheadOnce(ahead));
  await held;
  await writeFile(ahead, "");
  await proxy.letGo();
  const ended = await running.ended;
  expect(ended).toMatchObject({
    code: 7,
    stdout: expect.stringMatching(/not sent: the target is frozen until .*: release/),
  });
  expect(written(server)).toHaveLength(1);
  expect(await runHere(apply)).toMatchObject({ code: 0, stdout: expect.stringContaining("1 created, 1 unchanged") });
  expect(written(server).toSorted()).toEqual(["team/ml", "team/web"]);
});

test("an invalid window is an error at its line", async () => {
  const { run, config } = await frozenBy([
    { deny: "0 18 * * 8", duration: "8h", timeZone: "UTC" },
    { deny: "0 18 * * 5", allow: "@daily", duration: "8h", timeZone: "UTC" },
    { allow: "@every 1h", duration: "8h", timeZone: "Europe/Atlantis" },
    { allow: "@daily", duration: "400d", timeZone: "UTC" },
  ]);
  const refused = await run(["plan"]);
  expect(refused.code).toBe(3);
  const places = [...refused.stderr.matchAll(/operator\.yaml:(\d+):\d+/g)].map(([, line]) => Number(line));
  expect(config).toContain("operator.yaml");
  expect([...new Set(places)]).toEqual([8, 11, 15, 17, 19]);
  for (const text of ["day of the week", "either", "`@daily`", "time zone", "at most 366 days"])
    expect(refused.stderr).toContain(text);
});

test("a daemon reports what it does not write in a freeze, and writes when it ends", async () => {
  const { server, start, status, setWindows } = await frozenBy([FROZEN], 3600);
  const daemon = start(["watch"]);
  await daemon.shows("stdout", /2 skipped/);
  expect(written(server)).toEqual([]);
  expect(await status()).toMatchObject({
    sync: "OutOfSync",
    condition: "Held",
    reason: "Frozen",
    message: expect.stringMatching(/^2 resources not sent: the target is frozen until /),
  });
  const window = openFor(8);
  await setWindows([window]);
  await daemon.shows("stdout", /2 created/);
  expect(written(server).toSorted()).toEqual(["team/ml", "team/web"]);
  expect(await status()).toMatchObject({ sync: "Synced", condition: "Ready", frozen: null });
});
