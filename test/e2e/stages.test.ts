import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { seedOf } from "../soak/sweep.ts";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { eventually } from "../support/eventually.ts";
import { statusOf } from "../support/json-output.ts";
import { foundations, service } from "../support/manifests.ts";
import { onTerminal } from "../support/pty.ts";
import { randomFrom } from "../support/random.ts";
import { type RolloutEvent, rolloutProxy } from "../support/rollout-proxy.ts";
import { type Server, serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

type Order = { readonly [key: string]: unknown };

const replicas = (count: number) => ({ "api.yaml": service("api", `replicas: ${count}\n`) });

const applied = (server: Server): number =>
  server.effects().filter(({ resource }) => resource.startsWith("service/")).length;

/** A repository that two targets follow, of which one comes after the other. */
async function twoStages(order: Order = {}) {
  const [staging, production] = await Promise.all([serve(), serve()]);
  const proxy = await rolloutProxy(staging);
  const productionProxy = await rolloutProxy(production);
  const upstream = await upstreamOf({ ...foundations, ...replicas(1) });
  const source = { name: "platform", url: upstream.folder, ref: "main" };
  const target = (name: string, server: Server, more: Order = {}) => ({
    name,
    server: server.url,
    tokenFile: join(server.data, "admin-token"),
    interval: 1,
    ...more,
  });
  const targets = [
    target("staging", staging, { server: proxy.url }),
    target("production", production, {
      server: productionProxy.url,
      after: ["staging"],
      stage: "production",
      ...order,
    }),
  ];
  const operator = await operatorOf({ sources: [source], targets });
  const status = async () => statusOf(await operator.run(["status", "-o", "json"]));
  const stage = async (name: string) => (await status()).stages.find((one: { name: string }) => one.name === name);
  return { staging, production, proxy, productionProxy, upstream, ...operator, status, stage };
}

test("a commit reaches production once it is healthy in staging, a failed stage halts it, and a later commit heals", async () => {
  const { staging, production, proxy, upstream, start, run, stage } = await twoStages();
  const daemon = start(["watch", "--wait-timeout", "6"]);
  await eventually("production has the first commit", () => applied(production) === 1);

  proxy.set("stuck");
  await upstream.commit(replicas(2));
  await eventually("staging has the second commit", () => applied(staging) === 2);
  await daemon.shows("stderr", /target production waits: staging: commit [0-9a-f]{12} is not healthy there/);
  expect(daemon.stderr()).not.toMatch(/error: target production waits/);
  await eventually("a stuck rollout halts it", async () => (await stage("production"))?.state === "Halted");

  proxy.set("failed");
  await upstream.commit(replicas(3));
  await eventually("staging has the third commit", () => applied(staging) === 3);
  const halted = await eventually("it is halted", async () => {
    const seen = await run(["status"], { COLUMNS: "" });
    return /^production {2}Halted, after staging$/m.test(seen.stdout) && seen.stdout;
  });
  expect(halted).toMatch(/^production {2}.*, Stalled \(Halted\)$/m);
  expect(halted).toMatch(/^first {2}Failed$/m);
  expect(applied(production)).toBe(1);

  proxy.set("healthy");
  await eventually("it heals", () => applied(production) === 2);
  const healed = await upstream.commit(replicas(4));
  await eventually("production has the last commit", () => applied(production) === 3);
  const shown = await eventually("all is healthy", async () => {
    const seen = await stage("first");
    return seen?.state === "Healthy" && seen;
  });
  expect(shown.targets).toMatchObject([{ target: "staging", commit: healed }]);
}, 240_000);

test("after kill -9 of the daemon, a commit soaks on in staging before it reaches production", async () => {
  const { staging, production, proxy, upstream, start } = await twoStages({ soak: "3s" });
  const killed = start(["watch"]);
  await eventually("production has the first commit", () => applied(production) === 1);
  proxy.set("stuck");
  await upstream.commit(replicas(2));
  await eventually("staging has the second commit", () => applied(staging) === 2);
  killed.kill("SIGKILL");
  expect(await killed.ended).toMatchObject({ signal: "SIGKILL" });
  const daemon = start(["watch"]);
  await daemon.shows("stderr", /target production waits: staging: /);
  expect(applied(production)).toBe(1);
  const healthyAt = performance.now();
  proxy.set("healthy");
  await eventually("production has the second commit", () => applied(production) === 2);
  expect(performance.now() - healthyAt).toBeGreaterThan(3000);
});

test("production has no commit before staging was healthy with it, whenever the daemon is killed", async () => {
  const seed = seedOf();
  const random = randomFrom(seed);
  const { proxy, productionProxy, production, upstream, start } = await twoStages();
  const modes = ["healthy", "stuck", "failed"] as const;
  for (let count = 2; count < 7; count += 1) {
    proxy.set(modes[Math.floor(random() * modes.length)] ?? "healthy");
    await upstream.commit(replicas(count));
    const killed = start(["watch"]);
    await pause(1000 + random() * 3000);
    proxy.set("healthy");
    await pause(random() * 2000);
    killed.kill("SIGKILL");
    await killed.ended;
  }
  start(["watch"]);
  const last = ({ what, replicas: [first] }: RolloutEvent) => what === "write" && first === 6;
  await eventually("production has the last commit", () => productionProxy.events.some(last));
  const early = productionProxy.events.filter(
    ({ what, at, replicas: [count = 0] }) =>
      what === "write" &&
      !proxy.events.some((seen) => seen.what === "healthy" && seen.at < at && seen.replicas.includes(count)),
  );
  expect(early, `seed ${seed}`).toEqual([]);
  // The proxy sees a write before the control plane does.
  await eventually("production has a commit", () => applied(production) > 0);
});

test("apply and plan say what is missing before the order is met, and a person may override it", async () => {
  const { production, config, run, start, stage } = await twoStages({ soak: "1h" });
  const apply = (...more: readonly string[]) => run(["apply", "--yes", "--target", "production", ...more]);
  const refused = await apply();
  expect(refused).toMatchObject({ code: 5, stdout: "" });
  expect(refused.stderr).toMatch(/target production waits: staging: has not applied commit [0-9a-f]{12}/);
  const planned = await run(["plan", "--target", "production", "-o", "json"]);
  expect(planned.code).toBe(0);
  expect(JSON.parse(planned.stdout).diagnostics).toMatchObject([{ code: "order-not-met", severity: "warning" }]);
  await run(["plan", "--target", "production", "--out", "plan.json"]);
  expect(await run(["apply", "--target", "production", "--plan", "plan.json"])).toMatchObject({ code: 5 });

  expect(await run(["apply", "--yes", "--target", "staging"])).toMatchObject({ code: 0 });
  expect((await apply()).stderr).toMatch(/has been healthy there for 0s of 1h/);
  expect((await apply("--only", "service/dev:web/api")).code).toBe(5);
  expect(applied(production)).toBe(0);
  expect(await apply("--allow-order")).toMatchObject({ code: 0 });
  expect(applied(production)).toBe(1);
  const history = JSON.parse((await run(["history", "--target", "production", "-o", "json"])).stdout);
  expect(JSON.stringify(history)).toMatch(/"reason":"OrderAllowed","message":"--allow-order: staging: commit/);
  // What is applied may be applied again, unless the configuration makes something else of it.
  expect(await apply()).toMatchObject({ code: 0 });
  const configured = await readFile(config, "utf8");
  await writeFile(
    config,
    configured.replace("stage: production", "stage: production\n    rename: { clusters: { dev: prod } }"),
  );
  expect((await apply()).stderr).toMatch(
    /target production waits: staging: commit [0-9a-f]{12} has been healthy there/,
  );
  const daemon = start(["watch"]);
  await daemon.shows("stderr", /target production waits: staging: commit [0-9a-f]{12} has been healthy there/);
  expect((await stage("production"))?.state).toBe("Waiting");
  expect(applied(production)).toBe(1);
});

test("an order between two branches is refused where the configuration has it", async () => {
  const sources = ["main", "next"].map((ref) => ({ name: ref, url: "https://git.example.com/platform", ref }));
  const targets = [
    { name: "staging", source: "next" },
    { name: "production", source: "main", after: ["staging"] },
  ];
  const { runHere } = await operatorOf({ sources, targets });
  const refused = await runHere(["plan", "--target", "production"]);
  expect(refused).toMatchObject({ code: 3, stdout: "" });
  expect(refused.stderr.replace(/\s+/g, " ")).toMatch(
    /operator\.yaml:13:\d+: target production comes after staging, which follows next of https:\S+ and not main of/,
  );
});

test("what a command has applied to staging lets production follow by a command", async () => {
  const { staging, production, proxy, run } = await twoStages();
  const apply = (target: string) => run(["apply", "--yes", "--target", target]);
  expect(await apply("staging")).toMatchObject({ code: 0 });
  // What was recorded is not enough: live is read again.
  proxy.set("failed");
  expect(await apply("production")).toMatchObject({ code: 5 });
  proxy.set("healthy");
  await staging.call("PUT", "/api/svc/v1/workspaces", {
    manifest: { type: "workspace", name: "web", cluster_fqn: "dev", labels: { by: "hand" } },
  });
  expect((await apply("production")).stderr).toContain("has not applied all of commit");
  expect(applied(production)).toBe(0);
  expect(await apply("staging")).toMatchObject({ code: 0 });
  expect(await apply("production")).toMatchObject({ code: 0 });
  expect(applied(production)).toBe(1);
});

test("no commit gets into a stage on hold", async () => {
  const { staging, production, upstream, start, run, stage } = await twoStages();
  const daemon = start(["watch"]);
  await eventually("production has the first commit", () => applied(production) === 1);
  const hold = ["hold", "stage/production", "--reason", "sale", "--until", "4h"];
  expect(await run(hold)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^held: stage\/production until .*: sale\n$/),
  });
  await upstream.commit(replicas(2));
  await eventually("staging has the commit", () => applied(staging) === 2);
  await daemon.shows("stderr", /stage production is held until .*: sale/);
  expect((await stage("production"))?.state).toBe("Held");
  const reconciled = statusOf(await run(["reconcile", "-o", "json"]));
  expect(reconciled.stages).toContainEqual(expect.objectContaining({ name: "production", state: "Held" }));
  expect(applied(production)).toBe(1);
  expect(await run(["release", "stage/production"])).toMatchObject({ code: 0, stdout: "released: stage/production\n" });
  await eventually("production has the commit", () => applied(production) === 2);
  expect(await run(["release", "stage/production"])).toMatchObject({ code: 3 });
  expect((await run(["release", "stage/prod"])).stderr).toContain("there is no stage prod");
});

test.each(controlPlaneVariants)(
  "a daemon takes a commit through stages of targets from patterns, on a $name control plane",
  async (plane) => {
    const [first, second] = await Promise.all([plane.serve(), plane.serve()]);
    const proxy = await rolloutProxy(first);
    const filesOf = (count: number, folders: readonly string[] = ["a", "b"]) =>
      Object.fromEntries(
        ["staging", "production"].flatMap((stage) =>
          folders.map((folder) => [`${stage}/${folder}/api.yaml`, service(folder, `replicas: ${count}\n`)] as const),
        ),
      );
    const platform = Object.entries(foundations).flatMap(([file, text]) =>
      ["staging", "production"].map((stage) => [`${stage}/a/${file}`, text] as const),
    );
    const upstream = await upstreamOf({ ...Object.fromEntries(platform), ...filesOf(1) });
    const target = (stage: string, { data }: Server, url: string, more: Order = {}) => ({
      ...{ each: `${stage}/*`, name: `${stage}-{dir}`, paths: [`${stage}/{dir}`], server: url },
      ...{ tokenFile: join(data, "admin-token"), interval: 1, ...more },
    });
    const { start, run } = await operatorOf({
      sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
      targets: [
        target("staging", first, proxy.url),
        target("production", second, second.url, { stage: "production", after: ["staging-*"] }),
      ],
    });
    const stages = async () => statusOf(await run(["status", "-o", "json"])).stages;
    const daemon = start(["watch", "--sink", "file"]);
    await eventually("production has the first commit", () => applied(second) === 2);
    expect(applied(first)).toBe(2);

    proxy.set("stuck");
    await upstream.commit(filesOf(2));
    await eventually("staging has the second commit", () => applied(first) === 4);
    await daemon.shows(
      "stderr",
      /target production-[ab] waits: staging-[ab]: commit [0-9a-f]{12} is not healthy there/,
    );
    expect(applied(second)).toBe(2);
    proxy.set("healthy");
    await eventually("production has the second commit", () => applied(second) === 4);

    // A folder that appears adds a target to each stage.
    const commit = await upstream.commit(filesOf(3, ["c"]));
    await eventually("production has the new target", () => applied(second) === 5);
    const of = (stage: string, state: string) => ({
      state,
      targets: ["a", "b", "c"].map((folder) => ({ target: `${stage}-${folder}`, state, commit })),
    });
    const shown = await eventually("every target has the commit", async () => {
      const found = await stages();
      const isThere = found.every(
        ({ state, targets }) => state !== "Progressing" && targets.every((one) => one.commit === commit),
      );
      return isThere && found;
    });
    // No target follows the last stage, so the health of its commit is not looked at.
    expect(shown).toMatchObject([
      { after: [], ...of("staging", "Healthy") },
      { name: "production", after: ["staging-*"], ...of("production", "Synced") },
    ]);
  },
);

/** Three targets of one stage and one control plane, of which one may change at once. */
async function threeTargets() {
  const server = await serve();
  const proxy = await rolloutProxy(server);
  const names = ["aaa", "bbb", "ccc"];
  const filesOf = (count: number) =>
    Object.fromEntries(
      names.flatMap((name) => [
        [`${name}/workspace.yaml`, `type: workspace\nname: ${name}\ncluster_fqn: dev\n`],
        [`${name}/api.yaml`, service(name, `replicas: ${count}\n`).replace("dev:web", `dev:${name}`)],
      ]),
    );
  await server.call("PUT", "/api/svc/v1/clusters", {
    manifest: { type: "cluster", name: "dev", cluster_type: "generic" },
  });
  const upstream = await upstreamOf(filesOf(1));
  const source = { name: "platform", url: upstream.folder, ref: "main" };
  const common = { server: proxy.url, tokenFile: join(server.data, "admin-token"), interval: 1, maxUpdate: 1 };
  const targets = names.map((name) => ({ ...common, name, paths: [name] }));
  const operator = await operatorOf({ sources: [source], targets });
  const written = () => proxy.events.filter(({ what }) => what === "write").flatMap((event) => event.replicas);
  return { proxy, upstream, filesOf, written, ...operator };
}

test("a bad commit spreads to no more targets than maxUpdate", async () => {
  const { proxy, upstream, filesOf, written, run, start } = await threeTargets();
  const daemon = start(["watch", "--wait-timeout", "1"]);
  await eventually("all have the first commit", () => written().length === 3);
  proxy.set("failed");
  await upstream.commit(filesOf(2));
  await daemon.shows("stderr", /only 1 of the stage may change at once/);
  await eventually("one has failed", () => written().filter((count) => count === 2).length === 1);
  const released = await run(["release", "stage/first"]);
  expect(released).toMatchObject({ code: 3, stdout: "" });
  expect(released.stderr).toMatch(/is not held: (aaa|bbb|ccc) keeps its place of maxUpdate, since a process writes it/);
  proxy.set("healthy");
  await eventually("all have the second commit", () => written().filter((count) => count === 2).length === 3);
}, 240_000);

test("commands at once change no more targets than maxUpdate, and one that writes nothing takes no place", async () => {
  const { proxy, written, run, runThrough, config } = await threeTargets();
  const declined = ["apply", "--config", config, "--target", "aaa"];
  expect((await runThrough(onTerminal(200, "n\\n"), declined)).stdout).toContain("nothing was written");
  proxy.set("stuck");
  const apply = (name: string) => run(["apply", "--yes", "--no-wait", "--target", name]);
  const ended = await Promise.all(["bbb", "ccc"].map(apply));
  // Two that look at the same moment may refuse each other.
  expect(written().length).toBeLessThanOrEqual(1);
  for (const { code, stderr } of ended)
    if (code !== 0) expect(stderr).toContain("only 1 of the stage may change at once");
  proxy.set("healthy");
  for (const name of ["bbb", "ccc", "bbb", "ccc", "aaa"]) await apply(name);
  expect(written()).toEqual([1, 1, 1]);
});

test("a failed target of a pattern halts production also once its folder is gone, until the stage is released", async () => {
  const server = await serve();
  const proxy = await rolloutProxy(server);
  const files = (folder: string, name: string) => ({
    [`${folder}/workspace.yaml`]: `type: workspace\nname: ${name}\ncluster_fqn: dev\n`,
    [`${folder}/api.yaml`]: service(name, "replicas: 1\n").replace("dev:web", `dev:${name}`),
  });
  await server.call("PUT", "/api/svc/v1/clusters", {
    manifest: { type: "cluster", name: "dev", cluster_type: "generic" },
  });
  const upstream = await upstreamOf({
    ...files("clusters/staging-a", "aaa"),
    ...files("clusters/staging-b", "bbb"),
    ...files("production", "production"),
  });
  const common = { server: proxy.url, tokenFile: join(server.data, "admin-token") };
  const { run } = await operatorOf({
    sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
    targets: [
      { ...common, name: "{dir}", each: "clusters/*" },
      { ...common, name: "production", paths: ["production"], after: ["staging-*"], stage: "production" },
    ],
  });
  const apply = (target: string, ...more: readonly string[]) => run(["apply", "--yes", "--target", target, ...more]);
  proxy.set("failed");
  expect((await apply("staging-a")).stdout).toContain("rollout");
  proxy.set("healthy");
  await upstream.remove("clusters/staging-a");
  expect(await apply("staging-b")).toMatchObject({ code: 0 });
  const halted = await apply("production");
  expect(halted).toMatchObject({ code: 5, stdout: "" });
  expect(halted.stderr.replace(/\s+/g, " ")).toMatch(
    /target production is halted: staging-a: commit [0-9a-f]{12} failed there: .*, and it is retired/,
  );
  expect((await run(["hold", "stage/production", "--reason", "sale", "--until", "4h"])).code).toBe(0);
  expect(await run(["release", "stage/production"])).toMatchObject({ code: 0 });
  expect(await apply("production")).toMatchObject({ code: 0 });
  expect(await run(["release", "stage/production"])).toMatchObject({ code: 3 });
});

test("what --allow-order has begun is in the history though it failed, and goes on without the flag", async () => {
  const { productionProxy, run } = await twoStages();
  productionProxy.set("failed");
  const apply = (...more: readonly string[]) => run(["apply", "--yes", "--target", "production", ...more]);
  expect((await apply()).code).toBe(5);
  const failed = await apply("--allow-order");
  expect(failed.stdout).toContain("rollout");
  const history = JSON.parse((await run(["history", "--target", "production", "-o", "json"])).stdout);
  expect(JSON.stringify(history)).toContain("--allow-order: staging: has not applied commit");
  const status = statusOf(await run(["status", "-o", "json"])).targets;
  const ofProduction = status.find(({ target }: { target: string }) => target === "production");
  expect(ofProduction?.lastPass?.message).toContain("--allow-order: staging: has not applied commit");
  productionProxy.set("healthy");
  expect(await apply()).toMatchObject({ code: 0 });
});
