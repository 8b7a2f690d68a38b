import { expect, test } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { systemClock, systemRandom } from "../../src/clock/system.ts";
import { isDocumented, operations } from "../../src/contract/operations.ts";
import { Secret } from "../../src/contract/secret.ts";
import { ownApplicationId } from "../../src/engine/conform/application-writes.ts";
import { verdictOf } from "../../src/engine/conform/check.ts";
import { type ConformContext, createConformContext } from "../../src/engine/conform/context.ts";
import { conformChecks } from "../../src/engine/conform/run-checks.ts";
import { conformDefects, NEVER_MADE } from "../support/conform-defects.ts";
import { type Defect, defectiveServer } from "../support/defective-server.ts";
import { type Server, serve } from "../support/server.ts";

/** A control plane that has something of everything, so that every check can be made. */
async function furnished(): Promise<Server> {
  const server = await serve([], { rolloutSeconds: 0.3 });
  const put = (path: string, manifest: object) => server.call("PUT", path, { manifest });
  await put("/api/svc/v1/clusters", { type: "cluster", name: "dev", cluster_type: "generic" });
  for (const name of ["web", "sandbox"])
    await put("/api/svc/v1/workspaces", { type: "workspace", name, cluster_fqn: "dev" });
  await put("/api/svc/v1/ml-repos", { type: "ml-repo", name: "registry" });
  await put("/api/svc/v1/teams", { type: "team", name: "ml", members: ["ada@example.com"] });
  const permission = { resource_fqn: "dev:web", resource_type: "workspace", role_id: "workspace-viewer" };
  await put("/api/svc/v1/virtual-accounts", { type: "virtual-account", name: "ci", permissions: [permission] });
  const secrets = [{ key: "password", value: "not-a-secret" }];
  await server.call("POST", "/api/svc/v1/secret-groups", { name: "db", integrationId: "builtin", secrets });
  for (const content of ["hi", "hello"]) {
    const messages = [{ role: "system", content }];
    await put("/api/ml/v1/prompt-versions", { type: "chat_prompt", name: "greeting", ml_repo: "registry", messages });
  }
  const source = { type: "external", uri: "s3://example/ranker" };
  await put("/api/ml/v1/model-versions", { type: "model-version", name: "ranker", ml_repo: "registry", source });
  const image = { type: "image", image_uri: "registry.example.com/nightly:1" };
  const job = { type: "job", name: "nightly", workspace_fqn: "dev:web", image };
  const { data } = await server.call("PUT", "/api/svc/v1/apps", { manifest: job, triggerOnDeploy: true });
  for (;;) {
    const { data: runs } = await server.call("GET", `/api/svc/v1/jobs/${data.applicationId}/runs`);
    if (runs.length > 0) break;
  }
  await server.call("PUT", "/api/svc/v1/apps", { manifest: job });
  return server;
}

/** What the checks share, over a control plane with a defect; each has an ml repo of its own. */
async function contextOver(server: Server, defect: Defect): Promise<ConformContext> {
  const { url } = await defectiveServer(server, defect);
  const mlRepo = `repo-${systemRandom.id().slice(0, 8)}`;
  await server.call("PUT", "/api/svc/v1/ml-repos", { manifest: { type: "ml-repo", name: mlRepo } });
  const { signal } = new AbortController();
  const connected = (token: string) =>
    connect({
      server: url,
      token: () => new Secret(token),
      concurrency: 4,
      requestTimeout: 30_000,
      connectTimeout: 10_000,
      clock: systemClock,
      random: systemRandom,
      env: {},
      userAgent: "holdfast",
      signal,
    });
  const { reader, writer, probeRoute, capabilities, serverTime } = connected(server.token);
  // As the command does: the first reply shows whether there is a control plane at all.
  await reader.page("listWorkspaces", { limit: 1 }, { signal });
  const context: ConformContext = createConformContext({
    ...{ reader, writer, probeRoute, capabilities, serverTime, stranger: connected("never-issued").reader },
    ...{ clock: systemClock, random: systemRandom, signal, rolloutTimeoutMs: 2000 },
    names: { workspace: "dev:sandbox", mlRepo, application: null },
    ownApplication: () => ownApplicationId(context),
  });
  return context;
}

test("each operation of the interface has a required check, and each extension one", () => {
  const names = Object.keys(operations) as (keyof typeof operations)[];
  const unchecked = names.filter((name) => {
    const isRequired = isDocumented(operations[name]);
    return !conformChecks.some(
      ({ operations: of, part, required = part === "interface" }) => of.includes(name) && (required || !isRequired),
    );
  });
  // Rule 2 names it without its method.
  expect(unchecked).toEqual(["getSecret"]);
  const checks = conformChecks.map(({ check }) => check);
  expect(new Set(checks).size).toBe(checks.length);
  expect(Object.keys(conformDefects).toSorted()).toEqual(
    checks.filter((check) => !NEVER_MADE.includes(check)).toSorted(),
  );
});

test("each check holds on a control plane, and each is seen to fail where its property is broken", async () => {
  const server = await furnished();
  const sound = await contextOver(server, {});
  const found = [];
  for (const check of conformChecks) found.push({ check: check.check, ...(await verdictOf(check, sound)) });
  const others = found.filter(({ result }) => result !== "holds");
  expect(others.map(({ check, result, reason }) => `${check} ${result}: ${reason}`)).toEqual(
    NEVER_MADE.map((check) => `${check} not-checked: no request shows it without an effect`),
  );
  const unseen = [];
  for (const [name, defect] of Object.entries(conformDefects)) {
    const check = conformChecks.find((one) => one.check === name);
    if (check === undefined) throw new TypeError(name);
    const { result, reason } = await verdictOf(check, await contextOver(server, defect));
    if (result !== "fails" || reason === null) unseen.push(`${name} ${result}: ${reason}`);
  }
  expect(unseen).toEqual([]);
});
