import { describe, expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { faultProxy } from "../support/fault-proxy.ts";
import { planOf, reportOf } from "../support/json-output.ts";
import { foundations, prompt, service, team } from "../support/manifests.ts";
import type { Ended } from "../support/process.ts";
import { runHere } from "../support/run-here.ts";
import { type Server, serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";

const DANGLING = "mounts:\n  - type: secret\n    mount_path: /etc/key\n    secret_fqn: holdfast:nowhere:key\n";

/** A source whose one service is live: by dry runs of it, dryRun is proven there. */
async function appliedSource(server: Server): Promise<Source> {
  const source = await sourceOf({ ...foundations, "services/api.yaml": service("api") }, server);
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  return source;
}

/** Plans, and answers the steps that do something. */
async function stepsOf(source: Source, args: readonly string[] = [], env = {}, code = 0) {
  const ended = await source.runHere(["plan", "-o", "json", ...args], env);
  expect(ended).toMatchObject({ code });
  return planOf(ended);
}

/** The token of an account that may only read the foundations' workspace. */
async function readOnlyToken(server: Server): Promise<string> {
  const permissions = [{ resource_type: "workspace", resource_fqn: "dev:web", role_id: "workspace-viewer" }];
  const manifest = { type: "virtual-account", name: "reader", permissions };
  const { token } = await server.call("PUT", "/api/svc/v1/virtual-accounts", { manifest });
  return token;
}

describe.each(controlPlaneVariants)("a dry run of what is new on a $name control plane", (plane) => {
  test("S66 shows a dangling secret in the plan, with its place, and apply writes what plan said", async () => {
    const server = await plane.serve();
    const source = await appliedSource(server);
    await source.write("services/worker.yaml", service("worker", DANGLING));
    await source.write("services/good.yaml", service("good"));
    const before = server.effects();
    const plan = await stepsOf(source);
    expect(plan.steps).toMatchObject([
      { action: "create", identity: "service/dev:web/good" },
      { action: "block", identity: "service/dev:web/worker", reason: "refused" },
    ]);
    expect(plan.summary).toMatchObject({ create: 1, block: 1 });
    expect(plan.steps.map(({ notChecked }) => notChecked)).toEqual([undefined, undefined]);
    expect(plan.diagnostics).toMatchObject([{ code: "refused", file: "services/worker.yaml", line: 12, column: 17 }]);
    expect(plan.diagnostics[0]?.detail).toMatch(/^\/mounts\/0\/secret_fqn: /);
    expect(server.effects()).toEqual(before);
    const applied = await source.runHere(["apply", "--yes", "-o", "json"]);
    expect(applied.code).toBe(7);
    expect(reportOf(applied).summary).toMatchObject({ created: 1, blocked: 1, failed: 0 });
  });

  test("S66 says why something is not checked, and counts it", async () => {
    const server = await plane.serve();
    const source = await sourceOf({ ...foundations, "services/api.yaml": service("api") }, server);
    expect(await source.runHere(["apply", "--yes", "--kind", "workspace"])).toMatchObject({ code: 0 });
    await source.write("registry/prompt.yaml", prompt("greeting", "Be kind."));
    const unproven = await stepsOf(source);
    expect(unproven.steps.find(({ identity }) => identity === "service/dev:web/api")?.notChecked).toEqual(
      plane.name === "full" ? { reason: "unproven" } : undefined,
    );
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    await source.write("services/worker.yaml", service("worker"));
    await source.write("registry/other.yaml", prompt("other", "Be kind."));
    expect((await stepsOf(source)).steps).toMatchObject([
      { identity: "chat_prompt/registry/other", notChecked: { reason: "unsupported" } },
      { identity: "service/dev:web/worker" },
    ]);
    const text = await source.runHere(["plan", "--no-dry-run", "--show", "preflight"]);
    expect(text.stdout).toContain(
      plane.name === "full" ? "not checked: --no-dry-run" : "not checked: this kind has no dry run",
    );
  });

  test("S65 a token that may only read can plan: what it cannot see is not absent, and it changes nothing", async () => {
    const server = await plane.serve();
    const source = await appliedSource(server);
    const token = await readOnlyToken(server);
    await source.write("services/worker.yaml", service("worker"));
    await source.write("services/secretive.yaml", service("secretive", DANGLING));
    await source.write("services/hidden.yaml", service("hidden").replace("dev:web", "dev:other"));
    await source.write("holdfast.yaml", 'external: ["workspace/dev:other"]\n');
    await source.write("team.yaml", team("ml"));
    const before = server.effects();
    const { steps, access, summary } = await stepsOf(source, ["--state", "fresh"], { HOLDFAST_TOKEN: token }, 1);
    const role = { role_id: "workspace-viewer", resource_type: "workspace", resource_fqn: "dev:web" };
    const told = { tenant: "holdfast", subject: "virtualaccount:reader", roles: [role], more_roles: 0 };
    expect(access).toEqual(plane.name === "full" ? told : undefined);
    const text = await source.runHere(["plan", "--state", "fresh"], { HOLDFAST_TOKEN: token });
    const header = "\nToken of virtualaccount:reader in tenant holdfast: workspace-viewer on workspace dev:web\n";
    if (plane.name === "full") expect(text.stdout).toContain(header);
    else expect(text.stdout).not.toContain("Token of");
    const byIdentity = new Map(steps.map((step) => [step.identity, step]));
    expect(byIdentity.get("cluster/dev")).toMatchObject({ action: "block", reason: "forbidden" });
    expect(byIdentity.get("service/dev:web/api")?.action ?? "keep").toBe(plane.name === "full" ? "keep" : "block");
    expect(byIdentity.get("service/dev:other/hidden")).toMatchObject({ action: "block", reason: "forbidden" });
    if (plane.name === "full") {
      const unchecked = { action: "create", notChecked: { reason: "needs-write" } };
      expect(byIdentity.get("service/dev:web/worker")).toMatchObject(unchecked);
      // Whoever applies it may see the secret; this token sees no group.
      expect(byIdentity.get("service/dev:web/secretive")).toMatchObject(unchecked);
      expect(text.stdout).toContain("Not dry-run: 2 need the right to write (--show preflight names each)");
    } else {
      expect(byIdentity.get("service/dev:web/worker")).toMatchObject({ action: "block", reason: "forbidden" });
      // Only a dry run would show it, and whoever may read the workspace may not make one.
      expect(text.stdout).toContain(
        "this token cannot see it (workspace-editor on workspace dev:web would show it if it exists)",
      );
    }
    // A team is no kind that a documented operation reads.
    const unseen = plane.name === "full" ? 4 : 6;
    expect(summary.notVisible).toBe(unseen);
    const line = `(incomplete: ${unseen} of ${steps.length + summary.keep} not visible to this token: 1 × cluster, `;
    expect(text.stdout).toContain(line);
    expect(server.effects()).toEqual(before);
  });
});

test("S65 what lies in the tenant alone is not absent for a token that sees a part of it, recorded or not", async () => {
  const server = await serve();
  const source = await sourceOf({ ...foundations, "team.yaml": team("ml") }, server);
  const admin = { HOLDFAST_SERVER: server.url, HOLDFAST_TOKEN: server.token, HOLDFAST_ALLOW_PRIVILEGE: "true" };
  const reader = { ...admin, HOLDFAST_TOKEN: await readOnlyTokenAfter() };
  // No application is there, so dryRun is unproven, and no dry run tells more.
  const identities = ["cluster/dev", "ml-repo/registry", "team/ml"];
  for (const state of [[], ["--state", "fresh"]]) {
    for (const checked of [[], ["--no-dry-run"]]) {
      const { steps, summary } = planOf(await here(["plan", "-o", "json", ...state, ...checked], reader));
      const found = steps.filter(({ identity }) => identities.includes(identity));
      expect(found.map(({ identity, action, reason }) => [identity, action, reason])).toEqual(
        identities.map((identity) => [identity, "block", "forbidden"]),
      );
      expect(summary.drift).toBe(0);
    }
  }
  const part = await here(["plan", "-o", "json", "--kind", "workspace"], reader);
  // The cluster that the workspace refers to is not what was asked for.
  expect([part.code, planOf(part).complete]).toEqual([0, true]);
  const drift = JSON.parse((await here(["drift", "-o", "json"], reader)).stdout);
  expect(drift.summary).toMatchObject({ absent: 0, unknown: 3 });
  await source.write("registry/prompt.yaml", prompt("greeting", "Be kind."));
  const inHidden = JSON.parse((await here(["drift", "-o", "json", "--state", "fresh"], reader)).stdout);
  expect(inHidden.summary).toMatchObject({ absent: 0, unknown: 4 });
  await source.remove("registry/prompt.yaml");
  // Nor is the record of what left git dropped, since the token does not see that it is gone.
  await source.remove("team.yaml");
  expect(await here(["apply", "--yes"], reader)).toMatchObject({ code: 7 });
  const { steps } = planOf(await here(["plan", "-o", "json"], admin));
  expect(steps).toMatchObject([{ action: "orphan", identity: "team/ml" }]);

  function here(args: readonly string[], env: { readonly [name: string]: string }): Promise<Ended> {
    return runHere(args, { cwd: source.folder, env });
  }

  async function readOnlyTokenAfter(): Promise<string> {
    expect(await here(["apply", "--yes"], admin)).toMatchObject({ code: 0 });
    return readOnlyToken(server);
  }
});

test("S65 where the control plane does not tell the token's roles, a refused dry run of a cluster tells that it sees a part", async () => {
  const { folder } = await sourceOf(foundations);
  const server = await serve(["--documented-only", "--seed", folder]);
  const source = await sourceOf(
    { ...foundations, "services/api.yaml": service("api"), "team.yaml": team("ml") },
    server,
  );
  const allowed = { HOLDFAST_ALLOW_PRIVILEGE: "true", HOLDFAST_ALLOW_ADOPT: "true" };
  const env = { HOLDFAST_SERVER: server.url, HOLDFAST_TOKEN: server.token, ...allowed };
  expect(await runHere(["apply", "--yes"], { cwd: source.folder, env })).toMatchObject({ code: 0 });
  const reader = { ...env, HOLDFAST_TOKEN: await readOnlyToken(server) };
  const planned = await runHere(["plan", "-o", "json", "--show", "unchanged"], { cwd: source.folder, env: reader });
  const { steps, summary } = planOf(planned);
  const actions = new Map(steps.map(({ identity, action, reason }) => [identity, [action, reason]]));
  expect(actions.get("ml-repo/registry")).toEqual(["block", "forbidden"]);
  // What is recorded and cannot be read is trusted as before, since nothing is known to be gone.
  expect(actions.get("team/ml")).toEqual(["keep", "by-ledger"]);
  expect(summary.drift).toBe(0);
  const drift = await runHere(["drift", "-o", "json"], { cwd: source.folder, env: reader });
  expect(JSON.parse(drift.stdout).summary).toMatchObject({ absent: 0 });
});

test("S71 what is ensured is reported as created only where it was not there", async () => {
  const { folder } = await sourceOf(foundations);
  const server = await serve(["--documented-only", "--seed", folder]);
  const source = await sourceOf(
    { ...foundations, "services/api.yaml": service("api"), "team.yaml": team("ml") },
    server,
  );
  const allowed = { HOLDFAST_ALLOW_PRIVILEGE: "true", HOLDFAST_ALLOW_ADOPT: "true" };
  const env = { HOLDFAST_SERVER: server.url, HOLDFAST_TOKEN: server.token, ...allowed };
  const teamAfter = async (state: string) => {
    const applied = await runHere(["apply", "--yes", "--state", state, "-o", "json"], { cwd: source.folder, env });
    return reportOf(applied).outcomes.find(({ identity }) => identity === "team/ml")?.result;
  };
  expect(await teamAfter("one")).toBe("created");
  expect(await teamAfter("other")).toBe("updated");
});

test("S66 a create is asked about once, and only after dryRun was proven", async () => {
  const server = await serve();
  const names = ["one", "two", "three", "four"];
  const files = Object.fromEntries(names.map((name) => [`services/${name}.yaml`, service(name)]));
  const source = await sourceOf({ ...foundations, "services/api.yaml": service("api") }, server);
  const proxy = await faultProxy(server);
  const env = { HOLDFAST_SERVER: proxy.url, HOLDFAST_TOKEN: server.token };
  expect(await runHere(["apply", "--yes"], { cwd: source.folder, env })).toMatchObject({ code: 0 });
  for (const [file, text] of Object.entries(files)) await source.write(file, text);
  const earlier = proxy.asked.length;
  const once = "the proxy counts what it is asked";
  const plan = planOf(await runHere(["plan", "-o", "json"], { cwd: source.folder, env, once }));
  expect(plan.summary).toMatchObject({ create: 4 });
  expect(plan.summary.notChecked).toBeUndefined();
  const puts = proxy.asked.slice(earlier).flatMap(({ method, body }) => (method === "PUT" ? [JSON.parse(body)] : []));
  expect(puts.every(({ dryRun }) => dryRun === true)).toBe(true);
  // The first one is of what is live as it is declared, and proves dryRun.
  expect(puts[0].manifest.name).toBe("api");
  expect(puts.map(({ manifest }) => manifest.name).toSorted()).toEqual(["api", ...names].toSorted());
});

test("S66 a dangling secret shows on an empty platform too, by the list of secret groups", async () => {
  const [full] = controlPlaneVariants;
  const server = await full?.serve();
  const source = await sourceOf({ ...foundations, "services/api.yaml": service("api", DANGLING) }, server);
  await server?.call("POST", "/api/svc/v1/secret-groups", {
    name: "there",
    integrationId: "builtin",
    secrets: [{ key: "key", value: "v" }],
  });
  expect((await stepsOf(source)).steps.at(-1)).toMatchObject({ action: "block", reason: "refused" });
  await source.write("services/api.yaml", service("api", DANGLING.replace("nowhere", "there")));
  expect((await stepsOf(source)).steps.at(-1)).toMatchObject({
    action: "create",
    notChecked: { reason: "depends-on", on: ["workspace/dev:web"] },
  });
  const { stdout } = await source.runHere(["plan", "--show", "preflight"]);
  expect(stdout).toContain("not dry-run: depends on workspace/dev:web");
  expect(stdout).toMatch(/^Plan: 4 to create, 0 unchanged$/m);
  expect(stdout).toContain("not checked: dryRun unproven");
  const counted = (await source.runHere(["plan"])).stdout;
  expect(counted).not.toContain("    not ");
  expect(counted.replaceAll(/\s+/g, " ")).toMatch(/Not dry-run: \d refer to what does not exist yet, \d wait until/);
});
