import { expect, test } from "vitest";
import { service } from "../../bench/fleet/repository.ts";
import { keyText } from "../support/fleet.ts";
import { startPostgres } from "../support/postgres.ts";
import { serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const MANIFESTS = 100_000;
const IN_A_FILE = 200;
const INTERVAL_S = 10;
const small = ["aaa", "bbb", "ccc", "ddd", "eee"];

const workspace = (name: string) => `type: workspace\nname: ${name}\ncluster_fqn: bench\n`;
const inSmall = (name: string, replicas: number) => `${workspace(name)}---\n${service(name, 0, replicas)}`;
const changed = (replicas: number) =>
  Object.fromEntries(small.map((name) => [`t/${name}/all.yaml`, inSmall(name, replicas)]));

test("a target of 100,000 manifests delays the others by no more than an interval while all of it is written", async () => {
  await using postgres = await startPostgres();
  const server = await serve();
  await server.call("PUT", "/api/svc/v1/clusters", {
    manifest: { type: "cluster", name: "bench", cluster_type: "generic" },
  });
  // Each target has a workspace of its own, so that their leases do not exclude each other.
  const big = await upstreamOf({
    "workspace.yaml": workspace("big"),
    ...Object.fromEntries(
      Array.from({ length: MANIFESTS / IN_A_FILE }, (_, file) => {
        const services = Array.from({ length: IN_A_FILE }, (_, nth) => service("big", file * IN_A_FILE + nth));
        return [`services-${file}.yaml`, services.join("---\n")];
      }),
    ),
  });
  const others = await upstreamOf(changed(1));
  const operator = await operatorOf(
    {
      sources: [
        { name: "big", url: big.folder },
        { name: "others", url: others.folder },
      ],
      targets: [
        { name: "big", source: "big" },
        { name: "{dir}", each: "t/*", source: "others" },
      ],
    },
    server,
  );
  const env = { HOLDFAST_STATE: postgres.url, HOLDFAST_STATE_KEY: keyText, HOLDFAST_CACHE: "on" };
  const watch = operator.start(["watch", "--workers", "2", "--interval", `${INTERVAL_S}`], env);
  const all = async (): Promise<readonly Status[]> =>
    JSON.parse((await operator.runHere(["status", "-o", "json"], env)).stdout).targets;
  const areAt = async (commit: string): Promise<boolean> =>
    (await all()).every(({ target, appliedRevision }) => target === "big" || appliedRevision === commit);
  const isBigDone = async (): Promise<boolean> =>
    (await all()).some(({ target, sync }) => target === "big" && sync === "Synced");
  const begun = (await others.git("rev-parse", "HEAD")).trim();
  await expect.poll(() => areAt(begun)).toBe(true);
  let slowestMs = 0;
  let pushes = 0;
  while (!(await isBigDone())) {
    pushes += 1;
    const commit = await others.commit(changed(1 + (pushes % 5)));
    const since = performance.now();
    await expect.poll(() => areAt(commit), { timeout: 300_000 }).toBe(true);
    slowestMs = Math.max(slowestMs, performance.now() - since);
  }
  process.stdout.write(
    `${pushes} pushes while ${MANIFESTS} were written, the slowest live after ${Math.round(slowestMs)} ms\n`,
  );
  expect(pushes).toBeGreaterThan(3);
  // A push that nothing tells of is seen within an interval, and its passes may be late by another one.
  expect(slowestMs).toBeLessThan(2000 * INTERVAL_S);
  watch.kill("SIGTERM");
  expect(await watch.ended).toMatchObject({ code: 0 });
});

type Status = { readonly target: string; readonly sync: string; readonly appliedRevision: string | null };
