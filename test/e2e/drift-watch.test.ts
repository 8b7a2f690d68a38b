import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { API, api, change, forges, github, writesOf } from "../support/drifted-service.ts";
import { eventually } from "../support/eventually.ts";
import { type FakeForge, startGitHub } from "../support/fake-forge.ts";
import { temporaryFolder } from "../support/folder.ts";
import { commitAll } from "../support/git.ts";
import { type Files, foundations, service } from "../support/manifests.ts";
import { ownPostgres } from "../support/own-postgres.ts";
import { type Server, serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const BRANCH = "holdfast/drift-prod";

type World = {
  readonly source: Source;
  readonly server: Server;
  readonly run: Source["runHere"];
  readonly watch: (env: { readonly [name: string]: string }, ...flags: string[]) => ReturnType<Source["start"]>;
  readonly held: () => Promise<readonly string[]>;
  /** Replaces the configuration. */
  readonly configure: (keys: string) => Promise<void>;
};

async function world(keys: string, serveOne: () => Promise<Server> = () => serve()): Promise<World> {
  const server = await serveOne();
  const source = await sourceOf({ ...foundations, "api.yaml": api(2), ".gitignore": ".holdfast/\n" });
  await commitAll(source.folder, "Start");
  const outside = await temporaryFolder();
  const config = join(outside, "targets.yaml");
  await writeFile(join(outside, "token"), server.token, { mode: 0o600 });
  const target = `name: prod, server: "${server.url}", tokenFile: ${join(outside, "token")}`;
  const configure: World["configure"] = (more) => writeFile(config, `targets:\n  - { ${target}, ${more} }\n`);
  await configure(keys);
  const run: World["run"] = (args, env) => source.runHere([...args, "--config", config], env);
  const held = async (): Promise<readonly string[]> => {
    const { stdout } = await run(["status", "-o", "json"]);
    return JSON.parse(stdout).targets[0].held;
  };
  const watch: World["watch"] = (env, ...flags) =>
    source.start(["watch", "--config", config, "--interval", "1", ...flags], env);
  return { source, server, run, held, watch, configure };
}

// The one way that every control plane has: the id of the application from a dry run, and its newest version.
async function liveOf(
  { call }: Pick<Server, "call">,
  name = "api",
): Promise<{ readonly [field: string]: unknown } | undefined> {
  const manifest = { type: "service", name, workspace_fqn: "dev:web", image: { type: "image", image_uri: "x" } };
  const { data } = await call("PUT", "/api/svc/v1/apps", { manifest, dryRun: true }).catch(() => ({ data: {} }));
  if (data.applicationId === undefined || data.applicationId === null) return undefined;
  const found = await call("GET", `/api/svc/v1/apps/${data.applicationId}/deployments?limit=1`).catch(() => null);
  return found?.data[0]?.manifest;
}

const replicasOf = async (server: Server): Promise<unknown> => (await liveOf(server))?.replicas;
const applied = (server: Server) => eventually("the first apply", async () => (await replicasOf(server)) === 2);
const opened = (fake: FakeForge, nth: number) =>
  eventually(`pull request ${21 + nth}`, () => fake.proposals[nth]?.state === "open" && fake.proposals[nth]);

/** Waits for a whole pass that began after this call. */
async function pass({ run }: World): Promise<void> {
  expect(await run(["reconcile"])).toMatchObject({ code: 0 });
}

// Each forge with another control plane: `drift --propose` is tested with both of both.
const pairs = controlPlaneVariants.flatMap((plane, at) => {
  const forge = forges[at];
  return forge === undefined ? [] : [{ ...forge, plane, variant: plane.name }];
});

describe.each(pairs)("watch with drift: propose, $name and a $variant control plane", ({ start, env, plane }) => {
  test("holds what it proposes until the pull request ends, and goes on with all else", async () => {
    const it = await world("drift: propose", plane.serve);
    const { source, server } = it;
    const fake = await start(onTestFinished);
    const daemon = it.watch(env(fake));
    await applied(server);
    expect(fake.requests).toEqual([]);

    await change(server, { replicas: 5 });
    const first = await opened(fake, 0);
    expect(first).toMatchObject({ branch: BRANCH, base: "main" });
    expect(first.body).toContain("for at most `7d`; then git wins too");
    expect(fake.branches.get(BRANCH)?.files).toEqual({ "api.yaml": api(5) });
    const shown = await eventually("the hold", async () => (await it.held())[0]);
    expect(shown).toMatch(new RegExp(`^${API} until \\S+Z: its change in live is proposed in pull request 21: https:`));

    // Updated in place, without a write where nothing has changed; other resources are written.
    await change(server, { replicas: 7 });
    await eventually("the update", () => first.body.includes("`7`"));
    expect(fake.branches.get(BRANCH)?.files).toEqual({ "api.yaml": api(7) });
    const written = writesOf(fake);
    await source.write("worker.yaml", service("worker"));
    await commitAll(source.folder, "Add a worker");
    await eventually("the worker", () => liveOf(server, "worker"));
    await pass(it);
    expect([await replicasOf(server), fake.proposals.length]).toEqual([7, 1]);
    expect(writesOf(fake)).toBe(written);

    // Closed by itself.
    await change(server, { replicas: 2 });
    await eventually("its end", () => first.state === "closed");
    expect(first.body).toContain("git and live agree again");
    await eventually("no hold", async () => (await it.held()).length === 0);

    // Closed by a person: git wins, and it is not proposed again.
    await change(server, { replicas: 9 });
    const second = await opened(fake, 1);
    second.state = "closed";
    await eventually("git", async () => (await replicasOf(server)) === 2);
    await pass(it);
    expect([await it.held(), fake.proposals.length]).toEqual([[], 2]);

    // Merged: nothing is written, and the hold ends.
    await change(server, { replicas: 4 });
    const third = await opened(fake, 2);
    await eventually("the hold", async () => (await it.held())[0]?.includes("pull request 23"));
    third.state = "merged";
    await pass(it);
    expect([await replicasOf(server), fake.proposals.length]).toEqual([4, 3]);
    const effects = server.effects();
    await source.write("api.yaml", api(4));
    await commitAll(source.folder, "Merge");
    await eventually("no hold", async () => (await it.held()).length === 0);
    await pass(it);
    expect(server.effects()).toEqual(effects);

    // A commit that changes the resource ends the hold.
    await change(server, { replicas: 6 });
    const fourth = await opened(fake, 3);
    await source.write("api.yaml", api(4, "labels: { owner: ml }\n"));
    await commitAll(source.folder, "Name the owner");
    await eventually("the commit", async () => (await liveOf(server))?.labels !== undefined);
    expect(await replicasOf(server)).toBe(4);
    await eventually("its end", () => fourth.state === "closed");
    await eventually("no hold", async () => (await it.held()).length === 0);
    daemon.kill("SIGTERM");
    const { code, stderr, stdout } = await daemon.ended;
    expect(code).toBe(0);
    expect(`${stderr}${stdout}`).toMatch(/drift of prod: pull request 21 created: https:/);
    expect(fake.proposals).toHaveLength(4);
  });
});

test("a pull request that somebody closes while other drift is found takes its own resources back alone", async () => {
  const it = await world("drift: propose");
  const { server, source } = it;
  await source.write("worker.yaml", service("worker", "replicas: 2\n"));
  await commitAll(source.folder, "Add a worker");
  const fake = await startGitHub(onTestFinished);
  const before = it.watch(github(fake));
  await eventually("the worker", () => liveOf(server, "worker"));
  await change(server, { replicas: 5 });
  const first = await opened(fake, 0);
  await eventually("the hold", async () => (await it.held())[0]?.includes("pull request 21"));
  before.kill("SIGTERM");
  await before.ended;
  first.state = "closed";
  const image = { type: "image", image_uri: "registry.example.com/worker:1.0.0" };
  await change(server, { name: "worker", image, replicas: 7 });
  const daemon = it.watch(github(fake));
  const second = await opened(fake, 1);
  await eventually("git", async () => (await replicasOf(server)) === 2);
  await pass(it);
  expect((await liveOf(server, "worker"))?.replicas).toBe(7);
  expect(second.title).toBe("Take over what was changed in live on prod: service/dev:web/worker");
  expect(fake.proposals).toHaveLength(2);
  daemon.kill("SIGTERM");
  expect(await daemon.ended).toMatchObject({ code: 0 });
});

test("git wins when the pull request has been open for too long, and it closes that", async () => {
  const it = await world("drift: propose, driftHold: 4s");
  const fake = await startGitHub(onTestFinished);
  const daemon = it.watch(github(fake));
  await applied(it.server);
  await change(it.server, { replicas: 5 });
  const first = await opened(fake, 0);
  expect(first.body).toContain("for at most `4s`");
  await eventually("git", async () => (await replicasOf(it.server)) === 2);
  await eventually("its end", () => first.state === "closed");
  await eventually("no hold", async () => (await it.held()).length === 0);
  await pass(it);
  // A later change is a new one.
  await change(it.server, { replicas: 6 });
  await opened(fake, 1);
  daemon.kill("SIGTERM");
  expect(await daemon.ended).toMatchObject({ code: 0 });
});

test("a person ends the hold of a pull request, and one who removes the key ends all", async () => {
  const it = await world("drift: propose");
  const fake = await startGitHub(onTestFinished);
  const daemon = it.watch(github(fake));
  await applied(it.server);
  await change(it.server, { replicas: 5 });
  const first = await opened(fake, 0);
  await eventually("the hold", async () => (await it.held())[0]);
  expect(await it.run(["release", API])).toMatchObject({ code: 0 });
  await eventually("git", async () => (await replicasOf(it.server)) === 2);
  await eventually("its end", () => first.state === "closed");
  await pass(it);

  await change(it.server, { replicas: 6 });
  await opened(fake, 1);
  await eventually("the hold", async () => (await it.held())[0]);
  await it.configure("sync: heal");
  await eventually("git", async () => (await replicasOf(it.server)) === 2);
  await eventually("no hold", async () => (await it.held()).length === 0);
  daemon.kill("SIGTERM");
  expect(await daemon.ended).toMatchObject({ code: 0 });
});

test("what a forge refuses is shown in the status, keeps no other resource waiting, and is made up for", async () => {
  const it = await world("drift: propose");
  const fake = await startGitHub(onTestFinished);
  fake.mayWrite = false;
  const daemon = it.watch(github(fake));
  await applied(it.server);
  await change(it.server, { replicas: 5 });
  const waits =
    "its change in live waits for a pull request: writing the branch holdfast/drift-prod: the forge answered 403";
  await eventually("what is refused", async () => (await it.held())[0]?.includes(waits));
  await it.source.write("worker.yaml", service("worker"));
  await commitAll(it.source.folder, "Add a worker");
  await eventually("the worker", () => liveOf(it.server, "worker"));
  expect(await replicasOf(it.server)).toBe(5);
  expect(`${daemon.stdout()}${daemon.stderr()}`).toMatch(/the drift of prod cannot be proposed: .*403/);

  const text = JSON.stringify({ message: "Repository rule violations found" });
  fake.fail(/POST .*\/git\/refs$/, { status: 422, body: text });
  fake.mayWrite = true;
  await eventually("what was refused", () => fake.requests.some((one) => /POST .*\/git\/refs$/.test(one)));
  await opened(fake, 0);
  await eventually("the hold", async () => (await it.held())[0]?.includes("is proposed in pull request 21"));
  expect(await replicasOf(it.server)).toBe(5);
  daemon.kill("SIGTERM");
  await daemon.ended;
  expect(fake.proposals).toHaveLength(1);
});

test("a commit that does not change what is held counts as applied", async () => {
  const it = await world("drift: propose");
  const fake = await startGitHub(onTestFinished);
  const daemon = it.watch(github(fake));
  await applied(it.server);
  await change(it.server, { replicas: 5 });
  await opened(fake, 0);
  await eventually("the hold", async () => (await it.held())[0]);
  await it.source.write("README", "Hello.\n");
  const commit = await commitAll(it.source.folder, "Greet");
  const [shown] = await eventually("the commit", async () => {
    const { targets } = JSON.parse((await it.run(["status", "-o", "json"])).stdout);
    return targets[0].appliedRevision === commit && targets;
  });
  expect(shown).toMatchObject({ condition: "Held", sync: "OutOfSync", wantedRevision: commit, oldestUnapplied: null });
  expect(shown.held).toEqual([expect.stringContaining("pull request 21")]);
  expect(shown.lastPass).toMatchObject({ result: "applied", reason: "Held", message: `1 held: ${API}` });
  expect((await it.run(["history"])).stdout).toContain(`${commit.slice(0, 12)}  applied`);
  expect(await replicasOf(it.server)).toBe(5);

  // A hold of a person's keeps the commit from being applied.
  expect(await it.run(["hold", API, "--until", "1h", "--reason", "incident"])).toMatchObject({ code: 0 });
  await it.source.write("README", "Hello again.\n");
  await commitAll(it.source.folder, "Greet again");
  await eventually("what is left", async () => {
    const { targets } = JSON.parse((await it.run(["status", "-o", "json"])).stdout);
    return targets[0].lastPass.result === "incomplete";
  });
  daemon.kill("SIGTERM");
  expect(await daemon.ended).toMatchObject({ code: 0 });
});

test("a target goes on with commits that do not change what is held in the target before it", async () => {
  const [staging, production] = [await serve(), await serve()];
  const fake = await startGitHub(onTestFinished);
  const below = (folder: string, files: Files): Files =>
    Object.fromEntries(Object.entries(files).map(([file, text]) => [`${folder}/${file}`, text]));
  const upstream = await upstreamOf({
    ...below("m", { ...foundations, "api.yaml": api(2) }),
    ...below("p", { ...foundations, "api.yaml": api(2) }),
  });
  const shared = { source: "platform", interval: 1 };
  const it = await operatorOf({
    sources: [{ name: "platform", url: upstream.folder }],
    targets: [
      { name: "staging", server: staging.url, ...shared, tokenFile: "staging.token", paths: ["m"], drift: "propose" },
      {
        name: "prod",
        server: production.url,
        ...shared,
        tokenFile: "prod.token",
        paths: ["p"],
        after: ["staging"],
        when: "synced",
      },
    ],
  });
  await it.write("staging.token", staging.token);
  await it.write("prod.token", production.token);
  const daemon = it.start(["watch"], github(fake));
  await applied(production);
  await change(staging, { replicas: 5 });
  await opened(fake, 0);
  await upstream.commit({ "p/api.yaml": api(3) });
  await eventually("production", async () => (await replicasOf(production)) === 3);
  expect(await replicasOf(staging)).toBe(5);
  daemon.kill("SIGTERM");
  expect(await daemon.ended).toMatchObject({ code: 0 });
});

test("tells why drift of a file that another target reads is not proposed, before git wins", async () => {
  const [staging, production] = [await serve(), await serve()];
  const fake = await startGitHub(onTestFinished);
  const upstream = await upstreamOf({ ...foundations, "api.yaml": api(2) });
  const shared = { source: "platform", interval: 1 };
  const it = await operatorOf({
    sources: [{ name: "platform", url: upstream.folder }],
    targets: [
      { name: "staging", server: staging.url, ...shared, tokenFile: "staging.token", drift: "propose" },
      { name: "prod", server: production.url, ...shared, tokenFile: "prod.token" },
    ],
  });
  await it.write("staging.token", staging.token);
  await it.write("prod.token", production.token);
  const daemon = it.start(["watch"], github(fake));
  await applied(staging);
  const why = "target prod reads api.yaml too: give this target a folder of `patches`";
  const text = `drift of staging is not proposed, so git wins: ${API}: ${why}\n`;
  for (const times of [1, 2]) {
    await change(staging, { replicas: 4 + times });
    await eventually("git", async () => (await replicasOf(staging)) === 2);
    await eventually("why", () => daemon.stderr().split(text).length === times + 1);
  }
  expect(daemon.stderr().split(text)).toHaveLength(3);
  expect(fake.proposals).toEqual([]);
  daemon.kill("SIGTERM");
  expect(await daemon.ended).toMatchObject({ code: 0 });
});

test("tells and counts a pull request once, also where later passes find the same", async () => {
  const it = await world("drift: propose");
  const fake = await startGitHub(onTestFinished);
  const daemon = it.watch(github(fake), "--listen", "127.0.0.1:0");
  const [, url = ""] = await daemon.shows("stderr", /on (http:\S+)\n/);
  const count = async (result: string): Promise<number> => {
    const text = await (await fetch(`${url}/metrics`)).text();
    const name = `holdfast_drift_proposals_total{target="prod",result="${result}"} `;
    return Number(
      text
        .split("\n")
        .find((line) => line.startsWith(name))
        ?.slice(name.length) ?? 0,
    );
  };
  await applied(it.server);
  await change(it.server, { replicas: 5 });
  await opened(fake, 0);
  for (let at = 0; at < 3; at++) await pass(it);
  expect(await count("created")).toBe(1);
  expect(await count("unchanged")).toBeGreaterThanOrEqual(2);
  daemon.kill("SIGTERM");
  const { code, stdout, stderr } = await daemon.ended;
  expect(code).toBe(0);
  expect(`${stdout}${stderr}`.match(/pull request 21 created/g)).toHaveLength(1);
});

test.each([
  ["before the branch", /POST .*\/git\/trees$/],
  ["between the branch and the pull request", /POST .*\/git\/refs$/],
  ["before the answer that the pull request is open", /POST .*\/pulls$/],
])("a daemon that is killed %s is continued by the next one, with one pull request", async (_, request) => {
  const it = await world("drift: propose");
  const fake = await startGitHub(onTestFinished);
  const daemon = it.watch(github(fake));
  await applied(it.server);
  fake.before(request, async () => {
    daemon.kill("SIGKILL");
    await daemon.ended;
  });
  await change(it.server, { replicas: 5 });
  expect(await daemon.ended).toMatchObject({ signal: "SIGKILL" });
  expect(await replicasOf(it.server)).toBe(5);
  const next = it.watch(github(fake));
  await opened(fake, 0);
  await eventually("the hold", async () => (await it.held())[0]?.includes("pull request 21"));
  await pass(it);
  expect([await replicasOf(it.server), fake.proposals.length]).toEqual([5, 1]);
  next.kill("SIGTERM");
  expect(await next.ended).toMatchObject({ code: 0 });
});

test("what cannot be proposed is written back at once, and a daemon that only reports proposes too", async () => {
  const it = await world("drift: propose");
  const fake = await startGitHub(onTestFinished);
  const daemon = it.watch(github(fake));
  await applied(it.server);
  const secret = { replicas: 2, env: { GITHUB_TOKEN: "ghp_0123456789abcdefghijABCDEFGHIJ012345" } };
  await change(it.server, secret);
  const first = daemon.shows("stderr", new RegExp(`drift of prod is not proposed, so git wins: ${API}: .*env`));
  await eventually("git", async () => (await liveOf(it.server))?.env === undefined);
  await first;
  expect([await it.held(), fake.proposals]).toEqual([[], []]);
  await it.configure("drift: propose, sync: report");
  await daemon.shows("stderr", /configuration reloaded[\s\S]*watching:/);
  // The control socket is closed while the configuration is replaced.
  await eventually("the daemon with the new configuration", async () => (await it.run(["reconcile"])).code === 0);
  // What stays is told once, and not in each pass.
  await change(it.server, secret);
  for (let at = 0; at < 3; at++) await pass(it);
  expect(daemon.stderr().match(/is not proposed, so git wins/g)).toHaveLength(2);
  await change(it.server, { replicas: 5 });
  await opened(fake, 0);
  expect(await replicasOf(it.server)).toBe(5);
  daemon.kill("SIGTERM");
  expect(await daemon.ended).toMatchObject({ code: 0 });
});

test("of two daemons over one database, one proposes, and either goes on with it", async ({ skip }) => {
  const postgres = await ownPostgres(skip);
  const documented = controlPlaneVariants.find(({ name }) => name === "documented-only")?.serve ?? serve;
  const server = await documented();
  const fake = await startGitHub(onTestFinished);
  const upstream = await upstreamOf({ ...foundations, "api.yaml": api(2) });
  const env = { ...github(fake), HOLDFAST_STATE: postgres.url, HOLDFAST_STATE_KEY: "11".repeat(32) };
  const machine = async () => {
    const it = await operatorOf({
      sources: [{ name: "platform", url: upstream.folder }],
      targets: [{ name: "prod", server: server.url, tokenFile: "prod.token", interval: 1, drift: "propose" }],
    });
    await it.write("prod.token", server.token);
    return it.start(["watch"], env);
  };
  const daemons = [await machine(), await machine()];
  await applied(server);
  await change(server, { replicas: 5 });
  const first = await opened(fake, 0);
  await change(server, { replicas: 7 });
  await eventually("the update", () => first.body.includes("`7`"));
  daemons[0]?.kill("SIGKILL");
  await change(server, { replicas: 8 });
  await eventually("the update", () => first.body.includes("`8`"));
  expect([await replicasOf(server), fake.proposals.length]).toEqual([8, 1]);
  first.state = "closed";
  await eventually("git", async () => (await replicasOf(server)) === 2);
  daemons[1]?.kill("SIGTERM");
  await Promise.all(daemons.map(({ ended }) => ended));
});

test("a time without a proposal, one that is too long, and targets in the source are refused", async () => {
  const it = await world("driftHold: 2d");
  const planned = async (): Promise<string> => (await it.run(["plan"])).stderr.replaceAll(/\s+/g, " ");
  expect(await planned()).toContain("target prod has `driftHold`, and nothing holds what it writes back");
  await it.configure("drift: propose, driftHold: 8d");
  expect(await planned()).toContain("at most `7d`");
  await it.configure("drift: propos");
  expect(await planned()).toContain("`drift` must be `heal` or `propose`");
  await it.configure("drift: propose");
  const lost = it.watch({});
  const { code, stderr } = await lost.ended;
  expect([code, stderr.replaceAll(/\s+/g, " ")]).toEqual([
    3,
    expect.stringContaining("`drift: propose`, and its pull requests have no place: --forge github|gitlab"),
  ]);
  await it.source.write("holdfast.yaml", "targets: [{ name: prod, drift: propose }]\n");
  const inSource = await it.source.runHere(["plan"]);
  expect([inSource.code, inSource.stderr.replaceAll(/\s+/g, " ")]).toEqual([
    3,
    expect.stringContaining("holdfast.yaml sets targets, which only the operator may"),
  ]);
});
