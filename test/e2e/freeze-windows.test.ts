import { writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { reportOf } from "../support/json-output.ts";
import { team } from "../support/manifests.ts";
import { type Server, serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const written = (server: Server): readonly string[] => server.effects().map(({ resource }) => resource);

const FROZEN = { allow: "0 0 1 1 *", duration: "1s", timeZone: "UTC", reason: "release week" };

// A window that opened with the minute and is open for some seconds more, by the clock of this machine.
function openFor(seconds: number) {
  const now = new Date(Date.now());
  const cron = `${now.getUTCMinutes()} ${now.getUTCHours()} * * *`;
  return { deny: cron, duration: `${now.getUTCSeconds() + seconds}s`, timeZone: "UTC", reason: "release" };
}

async function frozenBy(windows: readonly object[], interval?: number) {
  const server = await serve();
  const upstream = await upstreamOf({ "ml.yaml": team("ml"), "web.yaml": team("web") });
  const sources = [{ name: "platform", url: upstream.folder, ref: "main" }];
  const config = (given: readonly object[]) => ({
    sources,
    targets: [{ name: "prod", windows: given, ...(interval === undefined ? {} : { interval }) }],
  });
  const operator = await operatorOf(config(windows), server);
  const status = async () => JSON.parse((await operator.run(["status", "-o", "json"])).stdout).targets[0];
  const setWindows = (given: readonly object[]) => writeFile(operator.config, stringify(config(given)));
  return { ...operator, server, upstream, status, setWindows };
}

test("a frozen target is planned, and applied only with --allow-window, which the history tells", async () => {
  const { server, run, runHere, status } = await frozenBy([FROZEN]);
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
  const { targets } = JSON.parse((await run(["history", "-o", "json"])).stdout);
  expect(targets[0].passes).toEqual([
    expect.objectContaining({
      result: "applied",
      reason: "Forced",
      message: expect.stringMatching(/^written although the target was frozen until .*\(--allow-window\)$/),
    }),
  ]);
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
