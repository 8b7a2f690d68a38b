import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import type { InterruptedWrite } from "../../src/contract/generated/output.ts";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { eventually } from "../support/eventually.ts";
import { startHoldingProxy } from "../support/holding-proxy.ts";
import { planOf, reportOf } from "../support/json-output.ts";
import { account, type Files, foundations, model, service } from "../support/manifests.ts";
import type { Ended } from "../support/process.ts";
import { type Server, serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";

// Short, since a run after a crash waits until nothing that was sent can arrive any more.
const flags = ["apply", "--yes", "--request-timeout", "1", "--state", "state"];

const APPS = "/api/svc/v1/apps";
const ACCOUNTS = "/api/svc/v1/virtual-accounts";

/** A source whose first apply was killed while a write of the path was on its way, before or after its effect. */
async function killed(server: Server, files: Files, path: string, when: "before" | "after", ground = foundations) {
  const source = await sourceOf(ground, server);
  const gate = await startHoldingProxy(server);
  const through = [...flags, "--server", gate.url];
  expect(await source.runHere(through)).toMatchObject({ code: 0 });
  for (const [file, text] of Object.entries(files)) await source.write(file, text);
  const held = when === "before" ? gate.delay("PUT", path) : gate.hold("PUT", path);
  const apply = source.start(through);
  await held;
  apply.kill("SIGKILL");
  await apply.ended;
  // What was delayed never arrives, since nobody lets it go.
  gate.open();
  const run = (...more: readonly string[]) => source.runHere([...through, ...more]);
  const plan = (...more: readonly string[]) =>
    source.runHere(["plan", "--state", "state", "--server", gate.url, ...more]);
  return { source, run, plan, gate, before: server.effects().length };
}

/** What is told of the writes of an earlier run. */
function told(ended: Ended) {
  return reportOf(ended)
    .outcomes.filter(({ interrupted }) => interrupted !== undefined)
    .map(({ identity, result, interrupted, error }) => [identity, interrupted, result, error?.code ?? null]);
}

/** What a plan says that apply does about the writes of an earlier run. */
function foretold(ended: Ended) {
  const { interrupted = [] }: { readonly interrupted?: readonly InterruptedWrite[] } = JSON.parse(ended.stdout);
  return interrupted.map(({ identity, found, next, token }) => [identity, found, next, token]);
}

describe.each(controlPlaneVariants)("an apply that was killed, on a $name control plane", (plane) => {
  const files = { "api.yaml": service("api") };
  const identity = "service/dev:web/api";

  test("F75 is not carried on where the manifest has left git: what was made is told, and is an orphan", async () => {
    const server = await plane.serve();
    const { source, run, plan, before } = await killed(server, files, APPS, "after");
    await source.remove("api.yaml");
    const planned = await plan("-o", "json");
    expect(foretold(planned)).toEqual([[identity, "made", "record", null]]);
    expect(planOf(planned).summary.orphan).toBe(1);
    const ended = await run("-o", "json");
    expect([ended.code, told(ended)]).toEqual([0, [[identity, "made", "created", null]]]);
    expect(server.effects()).toHaveLength(before);
    expect((await source.runHere(["plan", "--state", "state", "--server", reportOf(ended).server])).stdout).toContain(
      "1 orphan",
    );
    expect(told(await run("-o", "json"))).toEqual([]);
  });

  test("F75 is not carried on where the manifest has left git: what was not made stays unmade", async () => {
    const server = await plane.serve();
    const { source, run, plan, before } = await killed(server, files, APPS, "before");
    await source.remove("api.yaml");
    expect((await plan()).stdout).toMatch(
      /^Interrupted write, not made.*: apply does not send it again: service\/dev:web\/api$/m,
    );
    const ended = await run();
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain(`skipped   ${identity}  not made by an earlier run that was interrupted\n`);
    expect(server.effects()).toHaveLength(before);
    expect((await run()).stdout).toContain("\nApplied: 3 unchanged\n");
  });

  test("F75 has its first version found and the changed manifest's made, once each", async () => {
    const server = await plane.serve();
    const { source, run, plan, before } = await killed(server, files, APPS, "after");
    await source.write("api.yaml", service("api", "replicas: 3\n"));
    const planned = await plan("-o", "json");
    expect(foretold(planned)).toEqual([[identity, "made", "record", null]]);
    expect(planOf(planned).steps).toMatchObject([{ identity, action: "update", causedBy: "change" }]);
    const ended = await run("-o", "json");
    expect(told(ended)).toEqual([[identity, "made", "created", null]]);
    expect(reportOf(ended).summary).toMatchObject({ created: 1, updated: 1 });
    expect(server.effects()).toHaveLength(before + 1);
  });

  // By a deployment it is known that a dryRun changes nothing here, and it tells of accounts where they cannot be listed.
  const withService = { ...foundations, "base.yaml": service("base") };
  const accounts = (name: string) => ({ "account.yaml": account(name) });
  const tokenOf = (folder: string, { url }: { readonly url: string }, name: string) =>
    join(folder, "state/tokens", new URL(url).host.replace(":", "_"), "virtual-account", name);

  test("F75 gets the token of an account that has left git, where live shows that it was made", async () => {
    const server = await plane.serve();
    const { source, run, plan, before, gate } = await killed(server, accounts("ci"), ACCOUNTS, "after", withService);
    await source.remove("account.yaml");
    expect(foretold(await plan("-o", "json"))).toEqual([["virtual-account/ci", "made", "record", "delivered"]]);
    expect(server.effects()).toHaveLength(before);
    const ended = await run("-o", "json");
    expect(told(ended)).toEqual([["virtual-account/ci", "made", "created", null]]);
    const token = tokenOf(source.folder, gate, "ci");
    expect(ended.stderr).toContain(`token of virtual-account/ci: ${token}\n`);
    expect(await isGood((await readFile(token, "utf8")).trim(), server)).toBe(true);
    expect(server.effects()).toHaveLength(before);
    expect(told(await run("-o", "json"))).toEqual([]);
  });

  test("F75 gets the token of an account whose manifest has changed, and then changes the account", async () => {
    const server = await plane.serve();
    const { source, run, before, gate } = await killed(server, accounts("ci"), ACCOUNTS, "after", withService);
    await source.write("account.yaml", `${account("ci")}expiration_date: "2099-01-01"\n`);
    const ended = await run("-o", "json");
    expect(told(ended)).toEqual([["virtual-account/ci", "made", "created", null]]);
    expect(reportOf(ended).summary).toMatchObject({ created: 1, updated: 1 });
    expect(await isGood((await readFile(tokenOf(source.folder, gate, "ci"), "utf8")).trim(), server)).toBe(true);
    expect(server.effects()).toHaveLength(before + 1);
  });

  test.each([
    { when: "before", found: ["not-made", "skipped", null] },
    { when: "after", found: ["made", "updated", null] },
  ] as const)(
    "F75 tells of no lost token where the ledger knows the account that was changed, killed $when the effect",
    async ({ when, found }) => {
      const server = await plane.serve();
      const changed = { "account.yaml": `${account("ci")}expiration_date: "2099-01-01"\n` };
      const { source, run } = await killed(server, changed, ACCOUNTS, when, { ...withService, ...accounts("ci") });
      await source.remove("account.yaml");
      const unread = ["unknown", "unknown", "outcome-unknown"];
      const expected = plane.name === "documented-only" ? unread : found;
      expect(told(await run("-o", "json"))).toEqual([["virtual-account/ci", ...expected]]);
    },
  );

  test("F75 makes no account that has left git for its token", async () => {
    const server = await plane.serve();
    const { source, run, before } = await killed(server, accounts("ci"), ACCOUNTS, "before", withService);
    await source.remove("account.yaml");
    expect(told(await run("-o", "json"))).toEqual([["virtual-account/ci", "not-made", "skipped", null]]);
    expect(server.effects()).toHaveLength(before);
    expect(told(await run("-o", "json"))).toEqual([]);
  });

  test("F80 has its write sent again under the same key: what arrives late makes no second version", async () => {
    const server = await plane.serve();
    const { run, plan, gate, before } = await killed(server, files, APPS, "before");
    expect(foretold(await plan("-o", "json"))).toEqual([[identity, "not-made", "send", null]]);
    expect(await run()).toMatchObject({ code: 0 });
    await gate.letGo();
    await expectOneVersion(server, before);
  });

  test("F75 is told of by watch", async () => {
    const server = await plane.serve();
    const { source, gate } = await killed(server, files, APPS, "after");
    await source.remove("api.yaml");
    const watch = source.start(["watch", ...flags.slice(2), "--server", gate.url]);
    await watch.shows("stdout", /created {3}service\/dev:web\/api {2}by an earlier run that was interrupted/);
    watch.kill("SIGTERM");
    expect(await watch.ended).toMatchObject({ code: 0 });
  });
});

describe.each(controlPlaneVariants)(
  "an apply whose request is under way for too long, on a $name control plane",
  (plane) => {
    test("F80 sends it again under its key, and has one version whenever the first arrives", async () => {
      const server = await plane.serve();
      const source = await sourceOf({ ...foundations, "api.yaml": service("api") }, server);
      const gate = await startHoldingProxy(server);
      const before = server.effects().length;
      const held = gate.delay("PUT", APPS);
      const apply = source.start([...flags, "--server", gate.url]);
      await held;
      gate.open();
      expect(await apply.ended).toMatchObject({ code: 0 });
      await gate.letGo();
      await expectOneVersion(server, before + (plane.name === "full" ? 3 : 0));
    });
  },
);

test("F75 an account that has left git and can be looked for in no way is told to be unknown, and is not made", async () => {
  const { folder } = await sourceOf(foundations);
  const server = await serve(["--documented-only", "--seed", folder]);
  const { source, run, plan, before } = await killed(server, { "account.yaml": account("ci") }, ACCOUNTS, "before");
  await source.remove("account.yaml");
  expect(foretold(await plan("-o", "json"))).toEqual([["virtual-account/ci", "unknown", "report", "lost"]]);
  const ended = await run("-o", "json");
  expect([ended.code, told(ended)]).toEqual([7, [["virtual-account/ci", "unknown", "unknown", "token-unrecovered"]]]);
  expect(server.effects()).toHaveLength(before);
  expect(told(await run("-o", "json"))).toEqual([]);
});

test("F76 an apply that is killed while it waits for rollouts knows afterwards that postModelVersion registers", async () => {
  const { folder } = await sourceOf(foundations);
  const server = await serve(["--documented-only", "--seed", folder], { rolloutSeconds: 60 });
  const numbered = (version: number) => model("ranker", `version: ${version}\nrun_id: run-${version}\n`);
  const files = { ...foundations, "model.yaml": numbered(1), "api.yaml": service("api") };
  const source = await sourceOf(files, server);
  const apply = source.start(flags);
  // What is closed in the journal is over: only the rollout is waited for.
  await eventually(
    "both receipts",
    () => receiptsIn(source).filter((one) => /^(model|service)/.test(one)).length === 2,
  );
  const told = async () => (await source.runHere(["status", "--state", "state"])).stdout;
  expect(await told()).toMatch(/OutOfSync, Reconciling \(Applying\)\n {2}an apply began at /);
  apply.kill("SIGKILL");
  await apply.ended;
  expect(await told()).toMatch(/OutOfSync, Stalled \(Interrupted\)\n {2}an apply began at \S+ and was interrupted/);
  await source.write("model.yaml", `${numbered(1)}---\n${numbered(2)}`);
  const ended = await source.runHere([...flags, "--no-wait", "-o", "json"]);
  expect(reportOf(ended).outcomes).toContainEqual(
    expect.objectContaining({ identity: "model-version/registry/ranker@2", result: "created" }),
  );
  expect(await told()).not.toContain("interrupted");
});

async function isGood(token: string, { url }: Server): Promise<boolean> {
  const reply = await fetch(`${url}/api/svc/v1/workspaces`, { headers: { authorization: `Bearer ${token}` } });
  return reply.ok;
}

/** Counts the versions of the service, and the effects. */
async function expectOneVersion({ call, effects }: Server, before: number): Promise<void> {
  const manifest = { type: "service", name: "api", workspace_fqn: "dev:web", image: { type: "image", image_uri: "x" } };
  const { data } = await call("PUT", APPS, { manifest, dryRun: true });
  const { pagination } = await call("GET", `${APPS}/${data.applicationId}/deployments`);
  expect(pagination.total).toBe(1);
  expect(effects()).toHaveLength(before + 1);
}

function receiptsIn({ folder }: Source): readonly string[] {
  try {
    using ledger = new DatabaseSync(join(folder, "state/ledger.db"), { readOnly: true });
    return ledger
      .prepare("SELECT identity FROM receipt")
      .all()
      .map(({ identity }) => String(identity));
  } catch {
    // Nobody has made it yet.
    return [];
  }
}
