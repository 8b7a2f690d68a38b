import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { faultProxy } from "../support/fault-proxy.ts";
import { driftOf, planOf } from "../support/json-output.ts";
import { everyKind, prompt, service, team } from "../support/manifests.ts";
import { type Server, serve } from "../support/server.ts";
import { guarded, sourceOf } from "../support/source.ts";

type Grant = readonly [type: string, fqn: string, role: string];

const elsewhere = Array.from({ length: 12 }, (_, nth): Grant => ["cluster", `far-${nth}`, "cluster-viewer"]);
const clusterKinds = ["cluster", "workspace", "service"];
const repoKinds = ["ml-repo", "model-version", "chat_prompt"];
const everything = [...clusterKinds, ...repoKinds, "team", "virtual-account"];

/** Tokens by their roles, and the kinds that they see of a platform on which everything exists. */
const tokens: readonly (readonly [what: string, roles: readonly Grant[], sees: readonly string[]])[] = [
  ["tenant-admin", [["tenant", "holdfast", "tenant-admin"]], everything],
  ["tenant-viewer", [["tenant", "holdfast", "tenant-viewer"]], everything],
  ["tenant-member", [["tenant", "holdfast", "tenant-member"]], []],
  ["twelve roles elsewhere", elsewhere, []],
  [
    "twelve roles elsewhere, and on a workspace",
    [...elsewhere, ["workspace", "dev:web", "workspace-viewer"]],
    ["workspace", "service"],
  ],
  ["a custom role", [["workspace", "dev:web", "reads-everything"]], []],
  ["cluster-admin", [["cluster", "dev", "cluster-admin"]], clusterKinds],
  ["cluster-member", [["cluster", "dev", "cluster-member"]], clusterKinds],
  ["cluster-viewer", [["cluster", "dev", "cluster-viewer"]], ["cluster"]],
  ["workspace-editor", [["workspace", "dev:web", "workspace-editor"]], ["workspace", "service"]],
  ["ml-repo-admin", [["ml-repo", "registry", "ml-repo-admin"]], repoKinds],
  ["ml-repo-viewer", [["ml-repo", "ml-repo:holdfast/registry", "ml-repo-viewer"]], repoKinds],
];

const readers = "/api/svc/v1/virtual-accounts";

/** A platform on which everything is that the source declares, and a token of each row of the table. */
async function platform(server: Server) {
  const source = await sourceOf(everyKind, server);
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  for (const [, name] of elsewhere)
    await server.call("PUT", "/api/svc/v1/clusters", { manifest: { type: "cluster", name, cluster_type: "generic" } });
  const issued = tokens.map(async ([what, roles, sees], nth) => {
    const permissions = roles.map(([resource_type, resource_fqn, role_id]) => ({
      resource_type,
      resource_fqn,
      role_id,
    }));
    const manifest = { type: "virtual-account", name: `reader-${nth}`, permissions };
    const { token } = await server.call("PUT", readers, { manifest });
    return { what, sees, env: { ...guarded, HOLDFAST_TOKEN: token, HOLDFAST_STATE: `state-${nth}` } };
  });
  return { source, callers: await Promise.all(issued) };
}

const kindOfId = (identity: string) => identity.slice(0, identity.indexOf("/"));

test("S65 no token plans, reports or writes what exists as if it were absent, whatever part of it it sees", async () => {
  const server = await serve();
  const { source, callers } = await platform(server);
  const before = server.effects();
  for (const { what, sees, env } of callers) {
    const planned = await source.runHere(["plan", "-o", "json"], env);
    const { summary, steps, complete, diagnostics } = planOf(planned);
    const hidden = everything.filter((kind) => !sees.includes(kind));
    const blocked = steps.map((step) => [step.action, step.reason, kindOfId(step.identity)]);
    expect([what, blocked.toSorted()]).toEqual([what, hidden.map((kind) => ["block", "forbidden", kind]).toSorted()]);
    expect([what, summary.create, summary.update, summary.ensure]).toEqual([what, 0, 0, 0]);
    const isWhole = hidden.length === 0;
    expect([what, planned.code, complete]).toEqual([what, isWhole ? 0 : 1, isWhole]);
    const told = diagnostics.filter(({ code }) => code === "not-visible").map(({ summary: text }) => text);
    expect([what, told.length]).toEqual([what, isWhole ? 0 : 1]);
    for (const kind of hidden) expect(told.join()).toContain(`1 × ${kind}`);

    const drift = await source.runHere(["drift", "-o", "json"], env);
    const report = driftOf(drift);
    expect([what, drift.code, report.summary.absent]).toEqual([what, isWhole ? 0 : 1, 0]);
    expect([what, report.drift.map(({ identity }) => kindOfId(identity)).toSorted()]).toEqual([
      what,
      hidden.toSorted(),
    ]);

    const applied = await source.runHere(["apply", "--yes", "-o", "json"], env);
    expect([what, applied.code === 0]).toEqual([what, isWhole]);
    expect([what, server.effects().slice(before.length)]).toEqual([what, []]);
  }
});

test.each(["a control plane that tells no roles", "a documented-only control plane"])(
  "S65 nor does any on %s",
  async (which) => {
    const [, documented] = controlPlaneVariants;
    const isDocumented = which.includes("documented");
    const server = await (isDocumented ? documented?.serve() : serve());
    if (server === undefined) throw new TypeError("there is no such variant");
    const proxy = await faultProxy(server);
    proxy.inject("getCaller", ({ reply }) => {
      const error = { statusCode: 404, message: "no such route", code: "route-not-found" };
      reply.writeHead(404, { "content-type": "application/json" }).end(JSON.stringify(error));
    });
    const { source, callers } = await platform(server);
    const before = server.effects();
    for (const { what, sees, env: own } of callers) {
      const env = { ...own, HOLDFAST_SERVER: proxy.url };
      const planned = await source.runHere(["plan", "-o", "json"], env, { once: "the proxy counts" });
      const { summary, complete, steps } = planOf(planned);
      expect([what, summary.create, summary.update]).toEqual([what, 0, 0]);
      // Kinds that no documented operation reads do not count.
      const isWhole = [...clusterKinds, ...repoKinds].every((kind) => sees.includes(kind));
      expect([what, planned.code, complete, steps]).toEqual([what, isWhole ? 0 : 1, isWhole, expect.anything()]);
      const report = driftOf(await source.runHere(["drift", "-o", "json"], env));
      expect([what, report.summary.absent]).toEqual([what, 0]);
      await source.runHere(["apply", "--yes", "-o", "json"], env);
      expect([what, server.effects().slice(before.length)]).toEqual([what, []]);
    }
  },
);

/** The accounts of the page for pull requests: for a control plane with the role tenant-viewer, and for one without. */
const documented = [
  ...readFileSync(join(import.meta.dirname, "../../docs/pull-requests.md"), "utf8").matchAll(
    /```yaml\n(type: virtual-account\n[\s\S]*?)```/g,
  ),
].map(([, text = ""]) => parse(text));

test("the documented account of a reader plans as an administrator does, and the least roles plan their part whole", async () => {
  expect(documented).toHaveLength(2);
  const server = await serve();
  const source = await sourceOf(everyKind, server);
  // Whoever plans is not who has applied.
  const permissions = [{ resource_type: "tenant", resource_fqn: "holdfast", role_id: "tenant-admin" }];
  const deployer = { type: "virtual-account", name: "deployer", permissions };
  const { token: deploying } = await server.call("PUT", readers, { manifest: deployer });
  expect(await source.runHere(["apply", "--yes"], { HOLDFAST_TOKEN: deploying })).toMatchObject({ code: 0 });
  await server.call("POST", "/api/svc/v1/secret-groups", {
    name: "db",
    integrationId: "builtin",
    secrets: [{ key: "password", value: "v" }],
  });
  const env = "env: { KEY: 'secret://holdfast:db:password' }\n";
  await source.write("services/api.yaml", service("api", `replicas: 3\n${env}`));
  await source.write("services/new.yaml", service("new", env));
  await source.write("services/wrong.yaml", service("wrong", "env: { KEY: 'secret://holdfast:db:absent' }\n"));
  await source.write("registry/other.yaml", prompt("other", "Be brief."));
  const shared = "labels: { owner: ml }\ncollaborators: [{ subject: team:ml, role_id: workspace-viewer }]\n";
  await source.write("platform/workspace.yaml", `${everyKind["platform/workspace.yaml"]}${shared}`);
  await source.write("team.yaml", team("ml", "eve@example.com"));
  await source.write("another.yaml", team("another"));
  const before = server.effects();
  const planBy = async (token: string, args: readonly string[] = []) => {
    const ended = await source.runHere(["plan", "-o", "json", "--state", "none", ...args], { HOLDFAST_TOKEN: token });
    const { access, notWritable, ...plan } = planOf(ended);
    return { ended, access, notWritable, plan };
  };
  const admin = await planBy(server.token);
  expect(admin.plan.summary).toMatchObject({ create: 3, update: 3, block: 1 });
  const accounts = documented.map((manifest, nth) => ({ ...manifest, name: `${manifest.name}-${nth}` }));
  const [viewer, least] = await Promise.all(
    accounts.map(async (manifest): Promise<string> => (await server.call("PUT", readers, { manifest })).token),
  );
  const read = await planBy(viewer ?? "");
  expect([read.ended.code, read.plan]).toEqual([admin.ended.code, admin.plan]);
  expect(read.access?.roles).toEqual([{ role_id: "tenant-viewer", resource_type: "tenant", resource_fqn: "holdfast" }]);

  // Who reads for a pull request writes nothing, and the plan says what an apply needs.
  expect(admin.notWritable).toBeUndefined();
  expect(Object.fromEntries((read.notWritable ?? []).map(({ role, identities }) => [role, identities]))).toEqual({
    "tenant-admin on tenant holdfast": ["team/another", "team/ml"],
    "workspace-admin on workspace dev:web": ["workspace/dev:web"],
    "workspace-editor on workspace dev:web": ["service/dev:web/api", "service/dev:web/new"],
    "ml-repo-editor on ml-repo registry": ["chat_prompt/registry/other"],
  });
  const shown = await source.runHere(["plan", "--state", "none"], { HOLDFAST_TOKEN: viewer ?? "" });
  expect(shown.stdout).toContain("\nThis token may not write 6 steps, for which apply needs: ");
  expect(shown.stdout).not.toContain("Next:");
  const partial = await planBy(least ?? "");
  expect(partial.ended.code).toBe(1);
  expect(partial.plan.summary).toMatchObject({ notVisible: 3, create: 3, update: 1 });
  const kinds = ["--kind", ...clusterKinds, ...repoKinds];
  const part = await planBy(least ?? "", kinds);
  expect([part.ended.code, part.plan.complete]).toEqual([0, true]);
  const changed = (plan: typeof part.plan) =>
    // Without a dry run the reader is not told of the absent secret.
    plan.steps
      .filter(({ kind, identity }) => kind !== "team" && !identity.endsWith("wrong"))
      .map(({ identity, changes }) => [identity, changes]);
  expect(changed(part.plan)).toEqual(changed((await planBy(server.token, kinds)).plan));
  expect(
    server
      .effects()
      .slice(before.length)
      .every(({ operation }) => operation === "18"),
  ).toBe(true);
});

test("whoami names the owner of the token, its roles with where they come from, and its end", async () => {
  const server = await serve();
  const source = await sourceOf(everyKind, server);
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  const permissions = [{ resource_type: "workspace", resource_fqn: "dev:web", role_id: "workspace-viewer" }];
  const manifest = { type: "virtual-account", name: "reader", permissions, expiration_date: "2999-12-31" };
  const { token } = await server.call("PUT", readers, { manifest });
  const collaborators = [{ subject: "team:everyone", role_id: "ml-repo-viewer" }];
  await server.call("PUT", "/api/svc/v1/ml-repos", { manifest: { type: "ml-repo", name: "registry", collaborators } });
  const asReader = { HOLDFAST_TOKEN: token };
  expect(await source.runHere(["whoami"], asReader)).toMatchObject({
    code: 0,
    stdout: [
      `virtualaccount:reader in tenant holdfast on ${server.url}, with 2 roles; the token is valid until 3000-01-01T00:00:00.000Z`,
      "  token of HOLDFAST_TOKEN",
      "  workspace-viewer on workspace dev:web",
      "  ml-repo-viewer on ml-repo registry through team:everyone",
      "",
    ].join("\n"),
  });
  const told = JSON.parse((await source.runHere(["whoami", "-o", "json"], asReader)).stdout);
  expect(told).toMatchObject({
    subject: "virtualaccount:reader",
    tenantName: "holdfast",
    credential: { from: "environment", place: "HOLDFAST_TOKEN" },
    diagnostics: [],
  });
  expect(told.roles.map(({ through }: { through: string | null }) => through)).toEqual([null, "team:everyone"]);
  const forged = await source.runHere(["whoami"], { HOLDFAST_TOKEN: "wrong" });
  expect(forged).toMatchObject({ code: 4, stdout: "" });

  const [, bare] = controlPlaneVariants;
  const old = await sourceOf({}, await bare?.serve());
  const missing = await old.runHere(["whoami"]);
  expect(missing).toMatchObject({ code: 1, stdout: "" });
  expect(missing.stderr).toContain("this control plane does not tell whose token is used");
  expect(missing.stderr).toContain("E14 (GET /api/svc/v1/me)");
});
