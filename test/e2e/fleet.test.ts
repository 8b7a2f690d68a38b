import { createServer } from "node:http";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { startBreakableProxy } from "../support/breakable-proxy.ts";
import { answer, dropBefore, faultProxy } from "../support/fault-proxy.ts";
import { changed, fleetOf, isAt, keyText, statusPolls, targets } from "../support/fleet.ts";
import { listen } from "../support/listen.ts";
import { team } from "../support/manifests.ts";
import { ownPostgres } from "../support/own-postgres.ts";
import { serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

test("three processes share the passes of six targets, and a push reaches all of them once", async ({ skip }) => {
  const postgres = await ownPostgres(skip);
  const server = await serve();
  const { upstream, machine, visitor, env } = await fleetOf(postgres, server);
  const elsewhere = await visitor();
  const fleetless = await elsewhere.runHere(["reconcile"], env);
  expect(fleetless).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/no\s+fleet\s+has\s+its\s+state\s+in\s+postgres:/),
  });
  expect(await elsewhere.runHere(["status", "--wait", "--timeout", "1"], env)).toMatchObject({ code: 9 });
  const waiting = elsewhere.runHere(["status", "--wait", "--timeout", "300"], env);
  const machines = await Promise.all([machine(), machine(), machine()]);
  const [first] = machines;
  const commit = (await upstream.git("rev-parse", "HEAD")).trim();
  await expect.poll(async () => isAt(commit)(await first.status()), statusPolls).toBe(true);
  expect(server.effects()).toHaveLength(targets.length);
  // A machine without a daemon asks the fleet, and waits for it, by the database.
  expect(await waiting).toMatchObject({ code: 0, stdout: expect.stringContaining("Synced") });
  const asked = await elsewhere.runHere(["reconcile", "--target", "a", "-o", "json"], env);
  expect(asked).toMatchObject({ code: 0 });
  expect(JSON.parse(asked.stdout)).toMatchObject({ daemon: null, targets: [{ target: "a", sync: "Synced" }] });
  for (const { watch } of machines) watch.kill("SIGTERM");
  for (const { watch } of machines) expect(await watch.ended).toMatchObject({ code: 0 });
});

test("a database that is cut off ends no process: nothing is written meanwhile, and afterwards each goes on", async ({
  skip,
}) => {
  const postgres = await ownPostgres(skip);
  const server = await serve();
  const wire = await startBreakableProxy(Number(new URL(postgres.url).port));
  const url = new URL(postgres.url);
  url.port = String(wire.port);
  const { upstream, machine } = await fleetOf({ url: url.href }, server);
  const machines = await Promise.all([machine(["--listen", "127.0.0.1:0"]), machine()]);
  const begun = (await upstream.git("rev-parse", "HEAD")).trim();
  const [first] = machines;
  await expect.poll(async () => isAt(begun)(await first.status()), statusPolls).toBe(true);
  await wire.disconnect();
  const commit = await upstream.commit(changed("grace@example.com"));
  for (const { watch } of machines) await watch.shows("stderr", /the queue of passes|cannot be reached/);
  const before = server.effects().length;
  expect(before).toBeLessThan(2 * targets.length);
  const address = /metrics on (\S+)/.exec(first.watch.stderr())?.[1];
  const readiness = async () => (await fetch(`${address}/readyz`)).json();
  await expect.poll(readiness).toEqual({ status: "not ready", reason: "state-unavailable" });
  const shown = JSON.parse(await (await fetch(`${address}/status`)).text());
  const unread = { sync: "Unknown", reason: "StateUnreadable" };
  expect(shown.stateUnreadableSince).toEqual(expect.any(String));
  expect(shown.targets).toEqual(targets.map((target) => expect.objectContaining({ target, ...unread })));
  expect((await fetch(`${address}/healthz`)).status).toBe(200);
  const beside = await first.operator.runHere(["status", "-o", "json"], first.env);
  expect(beside).toMatchObject({ code: 0 });
  expect(JSON.parse(beside.stdout)).toMatchObject({ targets: targets.map((target) => ({ target, ...unread })) });
  await wire.restore();
  await expect.poll(async () => isAt(commit)(await first.status()), statusPolls).toBe(true);
  await expect.poll(readiness).toEqual({ status: "ready" });
  expect(server.effects()).toHaveLength(2 * targets.length);
  for (const { watch } of machines) expect(watch.stdout() + watch.stderr()).not.toContain("[object Object]");
  for (const { watch } of machines) watch.kill("SIGTERM");
  for (const { watch } of machines) expect(await watch.ended).toMatchObject({ code: 0 });
});

test("a pass that loses its lease is made again at once, and not after the interval", async ({ skip }) => {
  const postgres = await ownPostgres(skip);
  const proxy = await faultProxy(await serve());
  const { upstream, machine } = await fleetOf(postgres, proxy.server);
  const refusal = { statusCode: 412, message: "another lease is newer", code: "stale-fencing-token" };
  const refused = proxy.inject("putTeam", answer(412, refusal), { times: 1, dryRun: false });
  const { status } = await machine(["--interval", "3600"]);
  const begun = (await upstream.git("rev-parse", "HEAD")).trim();
  await expect.poll(async () => isAt(begun)(await status()), statusPolls).toBe(true);
  expect(refused.hits()).toBe(1);
});

// Its requests tell that they come from this process.
const marking = `import { subscribe } from "node:diagnostics_channel";
  subscribe("undici:request:create", ({ request }) => request.addHeader("x-process", "cut"));`;

test("a pass that does not reach the control plane in one process is made by another, long before the interval", async ({
  skip,
}) => {
  const postgres = await ownPostgres(skip);
  const proxy = await faultProxy(await serve());
  const { upstream, machine } = await fleetOf(postgres, proxy.server);
  const seldom = ["--interval", "3600", "--connect-timeout", "1"];
  const first = await machine(seldom);
  const cut = await machine(seldom, { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(marking)}` });
  const begun = (await upstream.git("rev-parse", "HEAD")).trim();
  await expect.poll(async () => isAt(begun)(await first.status()), statusPolls).toBe(true);
  const isCutOff = proxy.inject(({ headers }) => headers["x-process"] === "cut", dropBefore);
  for (const member of ["grace@example.com", "ada@example.com"]) {
    const commit = await upstream.commit(changed(member));
    cut.watch.kill("SIGHUP");
    await expect.poll(async () => isAt(commit)(await first.status()), statusPolls).toBe(true);
  }
  expect(isCutOff.hits()).toBeGreaterThan(0);
});

test("a pass that a control plane refuses to a token is recorded, and made again after the interval as any other", async ({
  skip,
}) => {
  const postgres = await ownPostgres(skip);
  const proxy = await faultProxy(await serve());
  const { machine } = await fleetOf(postgres, proxy.server);
  const refused = proxy.inject("listTeams", answer(403, { statusCode: 403, message: "not with this token" }));
  const first = await machine(["--interval", "3600"]);
  await expect
    .poll(async () => (await first.status()).map(({ lastPass }) => lastPass?.result), statusPolls)
    .toEqual(targets.map(() => "incomplete"));
  expect(refused.hits()).toBe(targets.length);
});

test("a configuration that gives targets of another one another control plane is refused, and leaves their state alone", async ({
  skip,
}) => {
  const postgres = await ownPostgres(skip);
  const [server, otherServer] = [await serve(), await serve()];
  const { upstream, machine } = await fleetOf(postgres, server);
  const { upstream: otherUpstream, machine: otherMachine } = await fleetOf(postgres, otherServer);
  const first = await machine();
  const begun = (await upstream.git("rev-parse", "HEAD")).trim();
  await expect.poll(async () => isAt(begun)(await first.status()), statusPolls).toBe(true);
  const second = await otherMachine();
  for (const target of targets) {
    const refusal = `another configuration has the target ${target} in this database, with the control plane ${server.url};`;
    await second.watch.shows("stderr", new RegExp(refusal));
  }
  const commit = await upstream.commit(changed("grace@example.com"));
  await expect.poll(async () => isAt(commit)(await first.status()), statusPolls).toBe(true);
  expect(otherServer.effects()).toEqual([]);
  first.watch.kill("SIGTERM");
  await first.watch.ended;
  await forgetClaims(postgres.url);
  await expect.poll(() => otherServer.effects()).toHaveLength(targets.length);
  const otherCommit = (await otherUpstream.git("rev-parse", "HEAD")).trim();
  await expect.poll(async () => isAt(otherCommit)(await second.status()), statusPolls).toBe(true);
  // The refusal was of the passes before.
  const { stdout } = await second.operator.runHere(["history", "-o", "json"], second.env);
  const passes = JSON.parse(stdout).targets.flatMap((one: { passes: readonly object[] }) => one.passes);
  expect(passes.filter(({ result }: { result?: string }) => result !== "applied")).toEqual([]);
  second.watch.kill("SIGTERM");
  expect(await second.watch.ended).toMatchObject({ code: 0 });
});

test("a target waits for no other source, and is refused what another target declares until that one no longer does", async ({
  skip,
}) => {
  const postgres = await ownPostgres(skip);
  const server = await serve();
  const one = await upstreamOf({ "a.yaml": team("a"), "b.yaml": team("b") });
  const two = await upstreamOf({ "c.yaml": team("c") });
  const off = await upstreamOf({ "d.yaml": team("d") });
  let given = 0;
  // A repository that accepts requests and never answers.
  const silent = createServer((request) => request.once("close", () => (given += 1)));
  const sources = { one: one.folder, two: two.folder, off: off.folder, silent: `${await listen(silent)}/silent.git` };
  const config = {
    sources: Object.entries(sources).map(([name, url]) => ({ name, url })),
    targets: Object.keys(sources).map((name) => ({ name, source: name, ...(name === "off" ? { sync: "off" } : {}) })),
  };
  const env = { HOLDFAST_STATE: postgres.url, HOLDFAST_STATE_KEY: keyText };
  const { start, runHere } = await operatorOf(config, server);
  const watch = start(["watch", "--workers", "4", "--interval", "1"], env);
  const revisionOf = async (target: string): Promise<unknown> =>
    JSON.parse((await runHere(["status", "--target", target, "-o", "json"], env)).stdout).targets[0]?.appliedRevision;
  const begun = (await one.git("rev-parse", "HEAD")).trim();
  await expect.poll(() => revisionOf("one")).toBe(begun);
  expect(given).toBe(0);
  await two.commit({ "b.yaml": team("b") });
  await watch.shows("stderr", /team\/b is declared in two targets of one control plane: two, one/);
  const taken = await one.remove("b.yaml");
  const moved = (await two.git("rev-parse", "HEAD")).trim();
  await expect.poll(() => revisionOf("two")).toBe(moved);
  await expect.poll(() => revisionOf("one")).toBe(taken);
  expect(watch.stdout() + watch.stderr()).not.toContain("no longer declared");
  // No pass records what this one declares.
  await one.commit({ "d.yaml": team("d") });
  await watch.shows("stderr", /team\/d is declared in two targets of one control plane: one, off/);
  watch.kill("SIGTERM");
  expect(await watch.ended).toMatchObject({ code: 0 });
});

test("a configuration that gives targets of another one another source replaces them, and the processes of the other one are refused", async ({
  skip,
}) => {
  const postgres = await ownPostgres(skip);
  const server = await serve();
  const { machine } = await fleetOf(postgres, server);
  const { upstream, machine: otherMachine } = await fleetOf(postgres, server);
  const first = await machine();
  await expect.poll(() => server.effects()).toHaveLength(targets.length);
  const second = await otherMachine();
  const commit = await upstream.commit(changed("grace@example.com"));
  await expect.poll(async () => isAt(commit)(await second.status()), statusPolls).toBe(true);
  const refusal = (target: string) => `another configuration has the target ${target} in this database, with another`;
  for (const target of targets) await first.watch.shows("stderr", new RegExp(refusal(target)));
  const next = await upstream.commit(changed("ada@example.com"));
  await expect.poll(async () => isAt(next)(await second.status()), statusPolls).toBe(true);
  expect(server.effects()).toHaveLength(3 * targets.length);
});

test("a command on one machine is obeyed by all, and each target has its gauges on one of them", async ({ skip }) => {
  const postgres = await ownPostgres(skip);
  const server = await serve();
  const { upstream, machine } = await fleetOf(postgres, server);
  const flags = ["--listen", "127.0.0.1:0", "--interval", "1"];
  const machines = await Promise.all([machine(flags), machine(flags)]);
  const [first, second] = machines;
  const begun = (await upstream.git("rev-parse", "HEAD")).trim();
  await expect.poll(async () => isAt(begun)(await first.status()), statusPolls).toBe(true);
  const hold = ["hold", "team/a", "--target", "a", "--reason", "incident", "--until", "1h"];
  expect(await first.operator.runHere(hold, first.env)).toMatchObject({ code: 0 });
  const commit = await upstream.commit(changed("grace@example.com"));
  expect(await second.operator.runHere(["reconcile"], second.env)).toMatchObject({ code: 0 });
  const after = await second.status();
  expect(after.find(({ target }) => target === "a")).toMatchObject({ held: [expect.stringContaining("team/a")] });
  expect(server.effects()).toHaveLength(2 * targets.length - 1);
  expect(await second.operator.runHere(["release", "team/a", "--target", "a"], second.env)).toMatchObject({ code: 0 });
  expect(await first.operator.runHere(["adopt", "team/b", "--target", "b"], first.env)).toMatchObject({ code: 0 });
  await expect.poll(async () => isAt(commit)(await first.status()), statusPolls).toBe(true);
  const addresses = machines.map(({ watch }) => /metrics on (\S+)/.exec(watch.stderr())?.[1]);
  await expect
    .poll(
      async () => {
        const texts = await Promise.all(addresses.map(async (url) => (await fetch(`${url}/metrics`)).text()));
        return texts
          .flatMap((text) => [...text.matchAll(/^holdfast_declared_resources\{target="(\w+)"\} 1$/gm)])
          .map(([, target]) => target)
          .toSorted();
      },
      { timeout: 20_000 },
    )
    .toEqual(targets);
  const machinesOf = new Set((await first.status()).map(({ lastPass }) => lastPass?.machine));
  expect([...machinesOf].every((name) => name !== undefined)).toBe(true);
});

test.for(["SIGKILL", "SIGSTOP"] as const)(
  "what a process is doing when it gets %s goes on elsewhere, and nothing is written twice",
  async (signal, { skip }) => {
    const postgres = await ownPostgres(skip);
    const server = await serve();
    const { upstream, machine } = await fleetOf(postgres, server);
    const lost = await machine();
    const begun = (await upstream.git("rev-parse", "HEAD")).trim();
    await expect.poll(async () => isAt(begun)(await lost.status()), statusPolls).toBe(true);
    const commit = await upstream.commit(changed("grace@example.com"));
    // In the middle of the first writes.
    await expect.poll(() => server.effects().length, { interval: 1, timeout: 10_000 }).toBeGreaterThan(targets.length);
    lost.watch.kill(signal);
    const other = await machine();
    await expect.poll(async () => isAt(commit)(await other.status()), statusPolls).toBe(true);
    if (signal === "SIGSTOP") {
      lost.watch.kill("SIGCONT");
      // It works again once it is the only one.
      other.watch.kill("SIGTERM");
      await other.watch.ended;
      const next = await upstream.commit({ "README.md": "" });
      await expect.poll(async () => isAt(next)(await other.status()), statusPolls).toBe(true);
    }
    expect(server.effects()).toHaveLength(2 * targets.length);
  },
);

test("processes whose database a newer release has upgraded end with that reason, and leave the status as it is", async ({
  skip,
}) => {
  const postgres = await ownPostgres(skip);
  const { upstream, machine } = await fleetOf(postgres, await serve());
  const machines = await Promise.all([machine(["--log-format", "json"]), machine()]);
  const [{ status, watch }] = machines;
  const commit = (await upstream.git("rev-parse", "HEAD")).trim();
  await expect.poll(async () => isAt(commit)(await status()), statusPolls).toBe(true);
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  onTestFinished(() => client.end());
  const { rows } = await client.query("SELECT nspname AS schema FROM pg_namespace WHERE nspname LIKE 'holdfast_a_%'");
  const migrations = `${rows[0].schema}.holdfast_migration`;
  const newest = await client.query(`SELECT max(name) AS name FROM ${migrations}`);
  expect(watch.stderr() + watch.stdout()).toContain(`"schema":"${newest.rows[0].name}"`);
  await client.query(`INSERT INTO ${migrations} VALUES ('999-newer', '2027-01-01T00:00:00.000Z')`);
  for (const { watch: ending } of machines) {
    const { code, stdout, stderr } = await ending.ended;
    expect(code).toBe(1);
    expect(`${stdout}${stderr}`).toMatch(/it was written by a newer\s+release/);
  }
  await client.query(`DELETE FROM ${migrations} WHERE name = '999-newer'`);
  expect(isAt(commit)(await status())).toBe(true);
});

test("a machine without a daemon says that none runs there, and how to reach the others", async ({ skip }) => {
  const postgres = await ownPostgres(skip);
  const { runHere } = await operatorOf({});
  const env = { HOLDFAST_STATE: postgres.url, HOLDFAST_STATE_KEY: keyText };
  expect((await runHere(["status"], env)).stdout).toContain("No daemon runs here; ");
  const reconciled = await runHere(["reconcile"], env);
  expect(reconciled).toMatchObject({ code: 1, stderr: expect.stringMatching(/a\s+webhook\s+reaches\s+those\s+on/) });
  const many = await runHere(["watch", "--workers", "101"], env);
  expect(many).toMatchObject({ code: 3, stderr: expect.stringContaining("a whole number from 1 to 100") });
});

/** Lets every target be taken over by another configuration at once. */
async function forgetClaims(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("SELECT schemaname FROM pg_tables WHERE tablename = 'memory'");
  for (const { schemaname } of rows)
    await client.query(`UPDATE ${schemaname}.memory SET memory = memory::jsonb - 'claim'`);
  await client.end();
}
