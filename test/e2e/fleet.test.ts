import { expect, onTestFinished, test } from "vitest";
import { team } from "../support/manifests.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { type Server, serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const keyText = "11".repeat(32);
const targets = ["a", "b", "c", "d", "e", "f"];

/** A repository with one folder for each target, and machines that share their passes by a database. */
async function fleetOf(postgres: Postgres, server: Server) {
  const upstream = await upstreamOf(Object.fromEntries(targets.map((name) => [`t/${name}/team.yaml`, team(name)])));
  const config = { sources: [{ name: "platform", url: upstream.folder }], targets: [{ name: "{dir}", each: "t/*" }] };
  const env = { HOLDFAST_STATE: postgres.url, HOLDFAST_STATE_KEY: keyText, HOLDFAST_CACHE: "on" };
  const machine = async (flags: readonly string[] = []) => {
    const operator = await operatorOf(config, server);
    const watch = operator.start(["watch", "--interval", "2", "--sink", "file", ...flags], env);
    const status = async (): Promise<readonly Status[]> =>
      JSON.parse((await operator.runHere(["status", "-o", "json"], env)).stdout).targets;
    return { operator, watch, status, env };
  };
  return { upstream, machine, env };
}

type Status = { readonly target: string; readonly sync: string; readonly appliedRevision: string | null };

async function databaseServer(skip: (reason: string) => void): Promise<Postgres | null> {
  const postgres = await startPostgres().catch((error: Error) => error);
  if (postgres instanceof Error) {
    skip(`PostgreSQL does not start here: ${postgres.message}`);
    return null;
  }
  onTestFinished(() => postgres[Symbol.asyncDispose]());
  return postgres;
}

const isAt = (commit: string) => (all: readonly Status[]) =>
  all.length === targets.length &&
  all.every(({ sync, appliedRevision }) => sync === "Synced" && appliedRevision === commit);

test("three processes share the passes of six targets, and a push reaches all of them once", async ({ skip }) => {
  const postgres = await databaseServer(skip);
  if (postgres === null) return;
  const server = await serve();
  const { upstream, machine } = await fleetOf(postgres, server);
  const machines = await Promise.all([machine(), machine(), machine()]);
  const [first] = machines;
  const commit = (await upstream.git("rev-parse", "HEAD")).trim();
  await expect.poll(async () => isAt(commit)(await first.status()), { timeout: 30_000 }).toBe(true);
  expect(server.effects()).toHaveLength(targets.length);
  for (const { watch } of machines) watch.kill("SIGTERM");
  for (const { watch } of machines) expect(await watch.ended).toMatchObject({ code: 0 });
});

test.for(["SIGKILL", "SIGSTOP"] as const)(
  "what a process is doing when it gets %s goes on elsewhere within 15 s, and nothing is written twice",
  async (signal, { skip }) => {
    const postgres = await databaseServer(skip);
    if (postgres === null) return;
    const server = await serve();
    const { upstream, machine } = await fleetOf(postgres, server);
    const lost = await machine(["--workers", "6"]);
    const begun = (await upstream.git("rev-parse", "HEAD")).trim();
    await expect.poll(async () => isAt(begun)(await lost.status()), { timeout: 30_000 }).toBe(true);
    const pushed = upstream.commit(
      Object.fromEntries(targets.map((name) => [`t/${name}/team.yaml`, team(name, "grace@example.com")])),
    );
    const commit = await pushed;
    // In the middle of the first writes.
    await expect.poll(() => server.effects().length, { interval: 1, timeout: 10_000 }).toBeGreaterThan(targets.length);
    lost.watch.kill(signal);
    const other = await machine();
    await expect.poll(async () => isAt(commit)(await other.status()), { timeout: 40_000 }).toBe(true);
    if (signal === "SIGSTOP") {
      lost.watch.kill("SIGCONT");
      // It works again once it is the only one.
      other.watch.kill("SIGTERM");
      await other.watch.ended;
      const next = await upstream.commit({ "README.md": "" });
      await expect.poll(async () => isAt(next)(await other.status()), { timeout: 40_000 }).toBe(true);
    }
    expect(server.effects()).toHaveLength(2 * targets.length);
  },
);
