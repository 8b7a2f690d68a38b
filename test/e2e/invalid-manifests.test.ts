import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/folder.ts";
import { serveGit } from "../support/git-http.ts";
import { startReceiver, status } from "../support/http-receiver.ts";
import { driftOf, planOf, reportOf, statusOf } from "../support/json-output.ts";
import { foundations, service, team } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const teams = Object.fromEntries(Array.from({ length: 43 }, (_, at) => [`teams/t${at}.yaml`, team(`t${at}`)]));
const valid = {
  ...foundations,
  ...teams,
  "search/gateway.yaml": service("gateway", "replicas: 2\n"),
  "search/reader.yaml": service("reader"),
};
/** A field that nobody knows, in line 7, and a text that does not end. */
const typos = {
  "search/gateway.yaml": service("gateway", "replicas: 3\n").replace("ports:", "portz:"),
  "search/reader.yaml": 'type: service\nname: "reader\nworkspace_fqn: dev:web\n',
};
const sentence = "2 of 48 manifests are invalid: search/gateway.yaml:7, search/reader.yaml:2";
const gateway = { identity: "service/dev:web/gateway", file: "search/gateway.yaml", line: 7 };
const reader = { identity: "service/dev:web/reader", file: "search/reader.yaml", line: 2 };

/** A daemon that follows a repository of 48 manifests, and everything that it tells. */
async function following() {
  const server = await serve();
  const upstream = await upstreamOf(valid);
  const remote = await serveGit(upstream.folder);
  const [host, chat] = [await startReceiver(status(201)), await startReceiver()];
  const tokenFile = join(await temporaryFolder(), "status-token");
  await writeFile(tokenFile, "status-token\n");
  const commitStatus = { provider: "github", tokenFile, apiUrl: host.url };
  const operator = await operatorOf(
    {
      sources: [{ name: "platform", url: remote.url, ref: "main", commitStatus }],
      targets: [{ name: "prod", interval: 3600 }],
      notifications: [{ name: "chat", type: "webhook", url: chat.url }],
    },
    server,
  );
  const watch = operator.start(["watch", "-o", "json", "--listen", "127.0.0.1:0"]);
  const [, url = ""] = await watch.shows("stderr", /^health and metrics on (\S+)$/m);
  await watch.shows("stdout", /"event":"idle"/);
  const json = async (command: string) => JSON.parse((await operator.runHere([command, "-o", "json"])).stdout);
  return {
    server,
    upstream,
    operator,
    watch,
    statuses: () => host.received.map(({ path, body }) => [path.split("/").at(-1), JSON.parse(body)]),
    notifications: () => chat.received.map(({ body }) => JSON.parse(body).data),
    events: (name: string) =>
      watch
        .stdout()
        .split("\n")
        .flatMap((line) => (line.includes(`"event":"${name}"`) ? [JSON.parse(line)] : [])),
    json,
    targetStatus: async () => (await json("status")).targets[0],
    shown: async () => JSON.parse(await (await fetch(`${url}/status`)).text()),
    metric: async (name: string) => {
      const text = await (await fetch(`${url}/metrics`)).text();
      return Number(
        text
          .split("\n")
          .find((line) => line.startsWith(`${name} `))
          ?.split(" ")
          .at(-1),
      );
    },
  };
}

const passes = (result: string, trigger: string) =>
  `holdfast_passes_total{target="prod",trigger="${trigger}",result="${result}"}`;
const success = 'holdfast_last_success_timestamp_seconds{target="prod"}';
const invalid = 'holdfast_invalid_manifests{target="prod"}';

test("a push with 2 invalid manifests of 48 is incomplete on every surface until it is corrected", async () => {
  const daemon = await following();
  const first = (await daemon.upstream.git("rev-parse", "HEAD")).trim();
  const succeededAt = await daemon.metric(success);
  expect(await daemon.targetStatus()).toMatchObject({ sync: "Synced", condition: "Ready", invalid: [] });
  await eventually("the first status", () => daemon.statuses().length === 1);

  const typo = await daemon.upstream.commit({ ...typos, "teams/t0.yaml": team("t0", "eve@example.com") });
  expect(await daemon.operator.runHere(["reconcile"])).toMatchObject({ code: 1 });

  // The rest of the commit is applied, and the commit is not.
  const report = { sync: "OutOfSync", condition: "Stalled", reason: "InvalidManifests", message: sentence };
  const counts = { updated: 1, unchanged: 45, invalid: 2 };
  const after = await daemon.targetStatus();
  expect(after).toMatchObject({ ...report, counts, wantedRevision: typo, appliedRevision: first });
  expect(after).toMatchObject({
    oldestUnapplied: { commit: typo },
    lastPass: { result: "incomplete", commit: typo, reason: "InvalidManifests" },
  });
  const lastGood = { at: expect.stringMatching(/^20.*Z$/), version: 1 };
  expect(after.invalid).toEqual([
    { ...gateway, message: expect.stringContaining("did you mean `ports`"), lastGood },
    { ...reader, message: expect.any(String), lastGood },
  ]);
  const text = (await daemon.operator.runHere(["status"])).stdout;
  expect(text).toMatch(
    /^prod {2}OutOfSync, Stalled \(InvalidManifests\)\n {2}2 of 48 .*\n {2}invalid {3}search\/gateway\.yaml:7 service\/dev:web\/gateway: .*; in force is version 1, as of .*\n {2}invalid {3}search\/reader/,
  );
  const { resources } = (await daemon.shown()).targets[0];
  expect(resources.slice(0, 2)).toMatchObject([
    { identity: gateway.identity, state: "invalid", why: expect.stringContaining("search/gateway.yaml:7: ") },
    { identity: reader.identity, state: "invalid" },
  ]);

  // A second pass over the same commit counts them again, and tells nobody again.
  expect(await daemon.operator.runHere(["reconcile"])).toMatchObject({ code: 1 });
  await eventually("its event", () => daemon.events("incomplete").length === 2);
  expect(daemon.events("incomplete")).toMatchObject([
    { level: "error", revision: typo, message: "Incomplete: 1 updated, 2 invalid, 45 unchanged", summary: counts },
    { level: "error", revision: typo, message: "Incomplete: 2 invalid, 46 unchanged" },
  ]);
  expect(daemon.events("applied")).toHaveLength(1);
  expect(daemon.events("read").at(-1).message).toBe("the source was read: 2 errors, 0 warnings");
  await eventually("the status of the commit", () => daemon.statuses().length === 2);
  expect(daemon.statuses()[1]).toEqual([typo, { state: "failure", context: "holdfast/prod", description: sentence }]);
  await eventually("the notification", () => daemon.notifications().length > 0);
  expect(daemon.notifications()).toMatchObject([
    { event: "stalled", target: "prod", revision: typo, summary: sentence },
  ]);
  expect(await daemon.metric(passes("incomplete", "request"))).toBe(2);
  expect(await daemon.metric(passes("applied", "request"))).toBe(0);
  expect(await daemon.metric(invalid)).toBe(2);
  expect(await daemon.metric(success)).toBe(succeededAt);

  await daemon.upstream.commit({ "search/reader.yaml": service("reader") });
  const fixed = await daemon.upstream.commit({ "search/gateway.yaml": service("gateway", "replicas: 3\n") });
  expect(await daemon.operator.runHere(["reconcile"])).toMatchObject({ code: 0 });
  expect(await daemon.targetStatus()).toMatchObject({ appliedRevision: fixed, invalid: [], oldestUnapplied: null });
  await eventually("the recovery", () => daemon.notifications().length === 2);
  expect(daemon.notifications()[1]).toMatchObject({ event: "recovery" });
  expect(await daemon.metric(invalid)).toBe(0);
  const { passes: history } = (await daemon.json("history")).targets[0];
  expect(history.map(({ result }: { result: string }) => result)).toEqual([
    "applied",
    "incomplete",
    "superseded",
    "applied",
  ]);
  daemon.watch.kill("SIGTERM");
  expect(await daemon.watch.ended).toMatchObject({ code: 0 });
});

test("commands with --partial say what they leave out, and never that all is well", async () => {
  const server = await serve();
  const source = await sourceOf(valid, server);
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  for (const [file, content] of Object.entries(typos)) await source.write(file, content);
  for (const args of [["plan"], ["drift"], ["apply", "--yes"]]) expect((await source.runHere(args)).code).toBe(3);

  const plan = await source.runHere(["plan", "--partial", "-o", "json"]);
  expect(plan.code).toBe(1);
  expect(planOf(plan)).toMatchObject({ complete: false, summary: { keep: 46, invalid: 2 } });
  expect((await source.runHere(["plan", "--partial"])).stdout).toBe(
    "Plan: nothing to do that is known, 46 unchanged; 2 invalid (incomplete: invalid manifests are left out)\n",
  );
  const drift = await source.runHere(["drift", "--partial", "-o", "json"]);
  expect(drift.code).toBe(1);
  // What is recorded of them is still compared with live.
  expect(driftOf(drift)).toMatchObject({ complete: false, summary: { unchanged: 48, invalid: 2 } });

  const apply = await source.runHere(["apply", "--yes", "--partial", "-o", "json"]);
  expect(apply.code).toBe(7);
  expect(reportOf(apply).summary).toMatchObject({ unchanged: 46, invalid: 2, failed: 0 });
  const result = { result: "invalid", attempts: 0, rollout: null, kind: "service" };
  expect(reportOf(apply).outcomes.filter((one) => one.result === "invalid")).toMatchObject([
    { ...gateway, ...result, error: { code: "unknown-field" }, lastGood: { version: 1 } },
    { ...reader, ...result },
  ]);
  const shown = (await source.runHere(["apply", "--yes", "--partial"])).stdout;
  expect(shown).toMatch(/invalid {3}service\/dev:web\/gateway\n {12}at search\/gateway\.yaml:7\n/);
  expect(shown).toMatch(/^Incomplete: 2 invalid, 46 unchanged\n/m);
  // A selection leaves out only what it names.
  expect(await source.runHere(["apply", "--yes", "--partial", "teams"])).toMatchObject({ code: 0 });
  // The status tells of it as of the last pass, and of the whole what it told before.
  const status = async () => statusOf(await source.runHere(["status", "-o", "json"])).targets[0];
  expect(await status()).toMatchObject({
    ...{ condition: "Stalled", reason: "InvalidManifests", invalid: [gateway, reader] },
    lastPass: { result: "applied", reason: "Selected", counts: { unchanged: 43, invalid: 0 } },
  });
  expect(await source.runHere(["apply", "--yes", "--partial", "search"])).toMatchObject({ code: 3 });

  // A warning is in no manifest that could be left out.
  await source.write("slip.yaml", "type: servce\nname: a\n");
  for (const args of [["plan"], ["drift"], ["apply", "--yes"]]) {
    const strict = await source.runHere([...args, "--partial", "--strict"]);
    expect(strict).toMatchObject({ code: 3, stdout: "" });
    expect(strict.stderr).toMatch(/nothing was sent; correct what the warning names, or leave --strict out\n$/);
  }
  await source.remove("slip.yaml");

  const blocked = service("api").replace("dev:web", "dev:nowhere");
  const nameless = await sourceOf({ "api.yaml": blocked, "bad.yaml": "type: team\nname: [\n" }, server);
  const failed = await nameless.runHere(["apply", "--yes", "--partial", "-o", "json"]);
  expect([failed.code, reportOf(failed).summary]).toEqual([1, expect.objectContaining({ blocked: 1, invalid: 1 })]);
  const unnamed = { identity: "", kind: "team", file: "bad.yaml", line: 2, lastGood: null };
  expect(reportOf(failed).outcomes.at(-1)).toMatchObject(unnamed);

  const why = await source.runHere(["why", gateway.identity]);
  expect(why.code).toBe(3);
  expect(why.stderr).toMatch(/^search\/gateway\.yaml:7:1: error: .*portz/m);
  expect(why.stderr).toMatch(/service\/dev:web\/gateway is invalid.*\n.*in force is version 1/s);
  expect(why.stderr).not.toContain("reader");
});
