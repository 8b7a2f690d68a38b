import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { answer, faultProxy } from "../support/fault-proxy.ts";
import { temporaryFolder } from "../support/folder.ts";
import { startHoldingProxy } from "../support/holding-proxy.ts";
import { reportOf } from "../support/json-output.ts";
import { account, type Files, foundations, service, team } from "../support/manifests.ts";
import { type Server, serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const files: Files = {
  ...foundations,
  "services/api.yaml": service("api"),
  "services/worker.yaml": service("worker"),
  "team.yaml": team("ml"),
};

const flags = ["apply", "--yes", "--no-wait", "--concurrency", "1", "--request-timeout", "1"];

/** An apply in the middle of its writes: one has arrived, and its reply has not. Its lease lives longer than that may take. */
async function applyUnderWay(server: Server, requestSeconds: number, more: readonly string[] = []) {
  const source = await sourceOf(files, server);
  const gate = await startHoldingProxy(server);
  const held = gate.hold("PUT", "/api/svc/v1/workspaces");
  const apply = source.start([...flags, "-o", "json", "--request-timeout", `${requestSeconds}`, ...more], {
    HOLDFAST_SERVER: gate.url,
  });
  await held;
  return { apply, gate };
}

function expectOneOfEach(server: Server): void {
  const resources = server.effects().map(({ resource }) => resource);
  expect(resources.toSorted()).toEqual([...new Set(resources)].toSorted());
  expect(resources).toHaveLength(Object.keys(files).length);
}

describe("two applies with state folders of their own on one control plane", () => {
  test("P11 the second is refused while the first lives, and is told who has the lease and until when", async () => {
    const server = await serve();
    const { apply, gate } = await applyUnderWay(server, 20);
    const other = await sourceOf(files, server);
    const refused = await other.runHere(flags);
    expect(refused).toMatchObject({ code: 8, stdout: "" });
    expect(refused.stderr).toMatch(
      /^error: \S+:\/\S+\.holdfast \(\w{8}\) has this lease until \d{4}-\S+Z\n {2}→ wait until it ends, or stop it/m,
    );
    await gate.letGo();
    expect(await apply.ended).toMatchObject({ code: 0 });
    const after = await other.runHere(flags);
    expect(after).toMatchObject({ code: 0, stdout: expect.stringContaining("\nApplied: 6 unchanged\n") });
    expectOneOfEach(server);
  });

  test("where two sources have nothing in common, a scope for each lets both write", async () => {
    const server = await serve();
    const { apply, gate } = await applyUnderWay(server, 20, ["--lease-scope", "one/source"]);
    const apart = await sourceOf({ "account.yaml": account("other"), ...foundations }, server);
    const aside = [...flags, "--only", "cluster/dev", "--lease-scope"];
    expect(await apart.runHere([...aside, "other/source"])).toMatchObject({ code: 0 });
    const refused = await apart.runHere([...flags, "--kind", "virtual-account", "--lease-scope", "holdfast"]);
    expect(refused.code).toBe(8);
    expect(refused.stderr).toMatch(/has the lease on one\/source, which overlaps with holdfast, until/);
    await gate.letGo();
    expect(await apply.ended).toMatchObject({ code: 0 });
  });

  test("F61 one that was killed is outlived, and nothing of what it did is done again", async () => {
    const server = await serve();
    const { apply } = await applyUnderWay(server, 2);
    apply.kill("SIGKILL");
    await apply.ended;
    const ended = await (await sourceOf(files, server)).runHere(flags);
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stderr).toMatch(/^waiting: .* has this lease until /m);
    expectOneOfEach(server);
  });

  test("F34 one that slept for longer than its lease sends nothing more, and says so", async () => {
    const server = await serve();
    const { apply, gate } = await applyUnderWay(server, 2);
    apply.kill("SIGSTOP");
    gate.open();
    expect(await (await sourceOf(files, server)).run(flags)).toMatchObject({ code: 0 });
    apply.kill("SIGCONT");
    const ended = await apply.ended;
    expect(ended.code).toBe(8);
    const codes = reportOf(ended).outcomes.flatMap(({ error }) => (error === null ? [] : [error.code]));
    expect(codes).toContain("lease-lost");
    expectOneOfEach(server);
  });
});

test("of two daemons one leads, and the other takes over when it ends or sleeps", async () => {
  const server = await serve();
  const [first, second] = [await sourceOf(files, server), await sourceOf(files, server)];
  const watching = ["watch", "--no-wait", "--request-timeout", "1", "--sink", "file"];
  const leader = first.start(watching);
  await leader.shows("stdout", /^Applied: 6 created/m);
  const other = second.start(watching);
  await other.shows("stderr", /^standing by: .* has this lease until /m);
  // Whoever stands by does nothing, whatever changes.
  await second.write("team.yaml", team("ml", "grace@example.com"));
  await first.write("team.yaml", team("ml", "joan@example.com"));
  await leader.shows("stdout", /updated {3}team\/ml/);
  expect(server.effects()).toHaveLength(7);
  leader.kill("SIGSTOP");
  await other.shows("stderr", /^taking over$/m);
  const members = async () => (await server.call("GET", "/api/svc/v1/teams")).data[0].members[0];
  await eventually("the other's word", async () => (await members()) === "grace@example.com");
  // Whoever led before stands by as soon as it is awake, and says so.
  leader.kill("SIGCONT");
  await first.write("team.yaml", team("ml", "joan@example.com "));
  await leader.shows("stderr", /^standing by: .* has this lease until /m);
  expect(server.effects()).toHaveLength(8);
  other.kill("SIGTERM");
  expect(await other.ended).toMatchObject({ code: 0 });
  await leader.shows("stderr", /^taking over$/m);
  await eventually("the first one's word", async () => (await members()) === "joan@example.com");
  leader.kill("SIGTERM");
  expect(await leader.ended).toMatchObject({ code: 0 });
});

test("a daemon whose writes are refused as those of an older lease goes on once they are not, and before the interval", async () => {
  const proxy = await faultProxy(await serve());
  const source = await sourceOf({ "team.yaml": team("ml", "ada@example.com") }, proxy.server);
  const refusal = { statusCode: 412, message: "another lease is newer", code: "stale-fencing-token" };
  const refused = proxy.inject("putTeam", answer(412, refusal), { times: 3, dryRun: false });
  const daemon = source.start(["watch", "--interval", "3600"]);
  await daemon.shows("stdout", /^Applied: 1 created/m);
  expect(refused.hits()).toBe(3);
  daemon.kill("SIGTERM");
  expect(await daemon.ended).toMatchObject({ code: 0 });
});

test("an idle daemon logs when its lease is lost, and when it is taken back", async () => {
  const server = await serve();
  const source = await sourceOf(files, server);
  const watching = ["watch", "--no-wait", "--lease-scope", "main", "--lease-seconds", "3", "--interval", "3600"];
  const daemon = source.start([...watching, "--sink", "file", "--log-format", "json"]);
  await daemon.shows("stdout", /"event":"applied"/);
  const lines = () =>
    daemon
      .stdout()
      .split("\n")
      .filter((line) => /"event":"(?:lease|outcome)"/.test(line));
  expect(lines()[0]).toContain('"msg":"the lease was taken"');
  await server.call("PUT", "/api/svc/v1/leases/main", { holder: "somebody", ttlSeconds: 4, break: true });
  await daemon.shows(
    "stdout",
    /"level":"warn"[^\n]*"event":"lease"[^\n]*"msg":"the lease on main was taken by another holder"/,
  );
  daemon.kill("SIGHUP");
  await daemon.shows("stdout", /"msg":"standing by: somebody has this lease until /);
  await daemon.shows("stdout", /"msg":"taking over"/);
  await daemon.shows("stdout", /"msg":"the lease was taken"[\s\S]*"msg":"the lease was taken"/);
  daemon.kill("SIGTERM");
  expect(await daemon.ended).toMatchObject({ code: 0 });
});

const services = Array.from({ length: 20 }, (_, nth) => `svc-${nth}`);

/** The services of one commit: each with the image of that commit. */
function commit(tag: string): Files {
  return Object.fromEntries(services.map((name) => [`services/${name}.yaml`, service(name).replace("1.0.0", tag)]));
}

/** How many versions each service has. */
async function versions(server: Server): Promise<readonly number[]> {
  const { data } = await server.call("GET", "/api/svc/v1/apps");
  return data.map(({ lastVersion }: { readonly lastVersion: number }) => lastVersion);
}

const once = services.map(() => 1);
const twice = services.map(() => 2);

describe("a daemon with everything in its source and a pipeline with one workspace, a commit apart", () => {
  const patience = ["--concurrency", "2", "--request-timeout", "5"];
  const watching = ["watch", "--no-wait", "--sink", "file", ...patience];
  const applying = ["apply", "--yes", "--no-wait", ...patience];

  test("F74 while the daemon leads the pipeline is refused, and nothing is doubled", async () => {
    const server = await serve();
    const gate = await startHoldingProxy(server);
    const daemon = await sourceOf({ ...foundations, ...commit("1.0.0") }, server);
    // Each commit updates nearly everything, which a daemon does only where the operator allows it.
    const config = join(await temporaryFolder(), "operator.yaml");
    await writeFile(config, "guards: { updateShare: 1 }\n");
    const watch = daemon.start([...watching, "--config", config], { HOLDFAST_SERVER: gate.url });
    await watch.shows("stdout", /^Applied: 23 created/m);
    expect(await versions(server)).toEqual(once);
    const held = gate.hold("PUT", "/api/svc/v1/apps");
    for (const [file, text] of Object.entries(commit("1.1.0"))) await daemon.write(file, text);
    await held;
    const pipeline = await sourceOf(commit("1.1.0"), server);
    const refused = await pipeline.runHere(applying);
    expect(refused).toMatchObject({ code: 8, stdout: "" });
    expect(refused.stderr).toMatch(/has the lease on holdfast, which overlaps with dev:web, until/);
    await gate.letGo();
    await eventually("the new commit", async () => (await versions(server)).every((version) => version === 2));
    watch.kill("SIGTERM");
    expect(await watch.ended).toMatchObject({ code: 0 });
    expect(await pipeline.runHere(applying)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("\nApplied: 20 unchanged\n"),
    });
    expect(await versions(server)).toEqual(twice);
  });

  test("F74 while the pipeline writes the new commit the daemon stands by, and then finds it written", async () => {
    const server = await serve();
    const daemon = await sourceOf({ ...foundations, ...commit("1.0.0") }, server);
    expect(await daemon.runHere(applying)).toMatchObject({ code: 0 });
    for (const [file, text] of Object.entries(commit("1.1.0"))) await daemon.write(file, text);
    const gate = await startHoldingProxy(server);
    const pipeline = await sourceOf(commit("1.1.0"), server);
    const held = gate.hold("PUT", "/api/svc/v1/apps");
    const apply = pipeline.start(applying, { HOLDFAST_SERVER: gate.url });
    await held;
    const watch = daemon.start(watching);
    await watch.shows("stderr", /^standing by: .* has the lease on dev:web, which overlaps with holdfast, until /m);
    await gate.letGo();
    expect(await apply.ended).toMatchObject({ code: 0 });
    await watch.shows("stderr", /^taking over$/m);
    await watch.shows("stdout", /^Applied: 23 unchanged$/m);
    expect(await versions(server)).toEqual(twice);
  });
});

describe("a lease that is longer than the control plane grants", () => {
  test("S50 is an error of the flags, and apply writes nothing", async () => {
    const server = await serve();
    const source = await sourceOf(files, server);
    const ended = await source.runHere(["apply", "--yes", "--request-timeout", "1000"]);
    expect(ended).toMatchObject({ code: 3, stdout: "" });
    expect(ended.stderr).toMatch(
      /^error: the control plane refuses a lease of 1015 s on holdfast: \/ttlSeconds: must be from 1 to 900\n {2}→ .*lower --request-timeout/m,
    );
    expect(server.effects()).toEqual([]);
    const patient = await serve(["--max-lease-seconds", "1200"]);
    const there = await sourceOf(files, patient);
    expect(await there.runHere(["apply", "--yes", "--no-wait", "--request-timeout", "1000"])).toMatchObject({
      code: 0,
    });
  });

  test("S50 is an error of the flags, and watch writes nothing", async () => {
    const server = await serve(["--max-lease-seconds", "5"]);
    const source = await sourceOf(files, server);
    const ended = await source.runHere(["watch", "--sink", "file"]);
    expect(ended).toMatchObject({ code: 3, stdout: "" });
    expect(ended.stderr).toMatch(
      /^error: the control plane refuses a lease of 10 s on holdfast: \/ttlSeconds: must be from 1 to 5\n {2}→ lower --lease-seconds/m,
    );
    expect(server.effects()).toEqual([]);
  });
});
