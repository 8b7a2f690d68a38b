import type { Kysely, Transaction } from "kysely";
import { type JsonObject, text } from "../../../contract/json.ts";
import type { Deployment } from "../../../contract/resources.ts";
import { conflict, notFound } from "../../../http/refusal.ts";
import { may } from "../../auth/access.ts";
import type { Principal } from "../../auth/principal.ts";
import { type Context, timestamp } from "../../context.ts";
import { recordEffect } from "../../database/audit.ts";
import { type JsonText, toText } from "../../database/json-text.ts";
import { newestFirst, page, textRows, totalOf } from "../../database/page.ts";
import type { Tables } from "../../database/tables.ts";
import type { Handler } from "../../http/call.ts";
import { sizeOf, storable } from "../../http/reply-size.ts";
import { serve } from "../../http/serve.ts";
import { nameOf, requiredText } from "../../manifest/name.ts";
import { refTo } from "../../openapi/schema.ts";
import type { Resource } from "../../resource.ts";
import { advanceRollouts, rolloutOf } from "../../rollouts/advance.ts";
import { seedByDryRun } from "../../seed/seeding.ts";
import type { Trigger } from "../job-run/rows.ts";
import { settleTrigger, triggerOnceDeployed } from "../job-run/trigger.ts";
import { recordSecretUses } from "../secret-group/uses.ts";
import { findWorkspaceFqn, visibleWorkspaces } from "../workspace.ts";
import {
  cancelled,
  madeDeployment,
  newApplication,
  type Planned,
  plannedDeployment,
  withDeployment,
  withOutcome,
  withProgress,
} from "./deployment.ts";
import { wellFormedApplication } from "./manifest.ts";
import { applicationManifests } from "./openapi.ts";
import { completeManifest, findPlace, type Place } from "./place.ts";
import { findApplicationText, saveApplication, saveDeployment } from "./rows.ts";
import { applicationsOfSnapshot } from "./snapshot.ts";
import type { KeptApplication } from "./tables.ts";
import { applicationText, deploymentText } from "./text.ts";

const putApp: Handler<"putApp"> = async ({ principal, body }, context) => {
  const { read } = context.store;
  const manifest = wellFormedApplication(context, await completeManifest(read, principal, body));
  if (body.dryRun === true) {
    const { workspace, found } = await findPlace(read, principal, manifest, body, context);
    const planned = plan(principal, manifest, { workspace, found }, context);
    return { data: storable(rehearsal(planned, found?.application ?? null)) };
  }
  return context.store.write(async (transaction) => {
    const place = await findPlace(transaction, principal, manifest, body, context);
    const underWay = place.found?.underWay ?? null;
    if (underWay !== null && body.forceDeploy !== true) {
      throw conflict("deployment-in-progress", `the deployment ${underWay.fqn} is still in progress`);
    }
    const trigger = body.triggerOnDeploy === true ? principal : null;
    const data = storable(await deploy(transaction, { principal, manifest, place, trigger }, context));
    const resource = `${requiredText(manifest, "type")}/${place.workspace.fqn}/${nameOf(manifest)}`;
    await recordEffect(transaction, context, { principal, operation: "putApp", resource });
    return { data };
  });
};

const listDeployments: Handler<"listDeployments"> = async (call, { store }) => {
  const application = await findApplicationText(store.read, call.path.id);
  if (application === null || !may(call.principal, "read", { type: "workspace", fqn: application.workspaceFqn })) {
    throw notFound("the application");
  }
  const { version, deploymentId } = call.query;
  let rows = store.read.selectFrom("deployments").where("application_id", "=", call.path.id);
  // A version is a number in plain digits, and no other text names one.
  if (version !== undefined)
    rows = rows.where("version", "=", /^[1-9][0-9]{0,14}$/.test(version) ? Number(version) : -1);
  if (deploymentId !== undefined) rows = rows.where("id", "=", deploymentId);
  const listed = await page(rows.select("json"), call.page, sizeOf(application.text));
  return { ...listed, rows: listed.rows.map((row) => deploymentText(row, application.text)) };
};

const listApps: Handler<"listApps"> = async ({ principal, query, page: wanted }, { store }) => {
  const visible = visibleWorkspaces(principal);
  let rows = store.read.selectFrom("applications");
  if (visible !== null || query.workspaceFqn !== undefined) {
    rows = rows.where("workspace_id", "in", ({ selectFrom }) => {
      let workspaces = selectFrom("workspaces").select("id");
      if (query.workspaceFqn !== undefined) workspaces = workspaces.where("fqn", "=", query.workspaceFqn);
      if (visible === null) return workspaces;
      return workspaces.where(({ or, eb }) =>
        or([eb("fqn", "in", visible.fqns), eb("cluster_id", "in", visible.clusters)]),
      );
    });
  }
  if (query.fqn !== undefined) rows = rows.where("fqn", "=", query.fqn);
  if (query.applicationType !== undefined) rows = rows.where("type", "=", query.applicationType);
  // The page comes first: only its applications are worth looking for their deployments.
  const listed = newestFirst(rows.select(["id", "created_at", "json", "last_deployment_id"]), "", wanted);
  const found = await textRows(
    store.read
      .selectFrom(listed.as("a"))
      .innerJoin("deployments as d", "d.id", "a.last_deployment_id")
      .select(["a.json as application", "d.json as deployment"])
      .orderBy("a.created_at", "desc")
      .orderBy("a.id", "desc"),
    { application: "a.json", deployment: "d.json" },
  );
  return {
    total: await totalOf(rows, wanted, found.length),
    rows: found.map(({ application, deployment }) => applicationText(application, deployment)),
  };
};

/** The operations on applications and their deployments: 10, 16 and E4. */
export const resource: Resource = {
  section: {
    name: "Applications",
    description: "Applications, and their deployments with status history.",
  },
  operations: [
    serve("putApp", putApp, {
      scope: async ({ manifest, members }, database) =>
        text(manifest.workspace_fqn) ?? (await workspaceFqnOf(members, database)),
      description:
        "Makes a new deployment of the application that the manifest names in its workspace, and the application itself when it is new. An equal manifest makes a new version all the same.\n\nWhile a deployment is in progress the answer is 409, unless `forceDeploy` cancels that one. Needs write on the workspace.",
      answers: "Deployment",
      manifest: { $ref: refTo("ApplicationManifest") },
      members: {
        forceDeploy: { description: "Cancel a deployment that is still in progress", default: false },
        triggerOnDeploy: { description: "Of a job: start a run once it is deployed", default: false },
        workspaceId: { description: "Workspace, when the manifest does not name it; both must agree" },
        applicationId: {
          description: "Application that a new version is for; it must be the one that the manifest names",
        },
        name: { description: "Name of the application, as the manifest has it" },
        applicationSetId: { description: "Set of applications that it belongs to; carried" },
      },
    }),
    serve("listDeployments", listDeployments, {
      description:
        "Newest first; `version` and `deploymentId` narrow the list. In each deployment `deploymentStatuses` is oldest first.",
      answers: "Deployment",
      parameters: {
        id: { description: "Id of the application", example: "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1" },
        version: { description: "Only this version", example: "3" },
        deploymentId: { description: "Only this deployment", example: "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1" },
      },
    }),
    serve("listApps", listApps, {
      description: "Newest first; `deployment` of each is its newest.",
      answers: "Application",
      parameters: {
        workspaceFqn: { description: "Only those in this workspace", example: "prod-eu:ranking" },
        applicationType: { description: "Only those of this type", example: "service" },
      },
    }),
  ],
  seeds: { service: seedByDryRun("putApp", { id: "applicationId" }) },
  snapshot: [applicationsOfSnapshot],
  manifestSchemas: applicationManifests,
  advance: advanceRollouts,
};

function plan({ subject }: Principal, manifest: JsonObject, { workspace, found }: Place, context: Context): Planned {
  return plannedDeployment({
    applicationId: found?.application.id ?? null,
    applicationFqn: `${workspace.fqn}:${nameOf(manifest)}`,
    version: (found?.application.lastVersion ?? 0) + 1,
    manifest,
    subject,
    now: timestamp(context),
    recommended: found?.application.recommendations ?? [],
  });
}

type NewVersion = {
  readonly principal: Principal;
  readonly manifest: JsonObject;
  readonly place: Place;
  /** Who wants a job to run once it is deployed. */
  readonly trigger: Trigger | null;
};

async function deploy(
  transaction: Transaction<Tables>,
  { principal, manifest, place, trigger }: NewVersion,
  context: Context,
): Promise<JsonText<Deployment>> {
  const { newId, rollouts } = context;
  const planned = plan(principal, manifest, place, context);
  const now = planned.createdAt;
  const before = place.found?.application ?? createApplication(principal, manifest, place, now, newId);
  await cancelUnderWay(transaction, place, now, context);
  const made = madeDeployment(planned, before.id, newId());
  const begun = withProgress(made, [rollouts.begin(manifest)], now, newId);
  const { progress, lookAt } = await rollouts.observe(rolloutOf(begun), context.now());
  const deployment = withProgress(begun, progress, now, newId);
  const application = withOutcome(withDeployment(before, deployment, newId), deployment, newId);
  const deploymentJson = await saveDeployment(transaction, deployment, lookAt);
  await recordSecretUses(transaction, deployment);
  const applicationJson = await saveApplication(transaction, application);
  if (trigger !== null) await triggerOnceDeployed(transaction, deployment, trigger);
  await settleTrigger(transaction, deployment, context);
  if (lookAt !== null) context.lookAt(lookAt);
  return deploymentText(deploymentJson, applicationJson);
}

async function cancelUnderWay(
  transaction: Transaction<Tables>,
  { found }: Place,
  now: string,
  context: Context,
): Promise<void> {
  const underWay = found?.underWay ?? null;
  if (underWay === null) return;
  const deployment = withProgress(underWay, [cancelled], now, context.newId);
  await saveDeployment(transaction, deployment, null);
  await settleTrigger(transaction, deployment, context);
}

function createApplication(
  { subject }: Principal,
  manifest: JsonObject,
  { workspace }: Place,
  now: string,
  newId: () => string,
): KeptApplication {
  const name = nameOf(manifest);
  const fqn = `${workspace.fqn}:${name}`;
  return newApplication({ id: newId(), fqn, name, type: requiredText(manifest, "type"), workspace, subject, now });
}

function rehearsal(planned: Planned, application: KeptApplication | null) {
  return toText({ ...planned, application: application === null ? null : { ...application, deployment: null } });
}

async function workspaceFqnOf({ workspaceId }: JsonObject, database: Kysely<Tables>): Promise<string | undefined> {
  const id = text(workspaceId);
  return id === undefined ? undefined : ((await findWorkspaceFqn(database, id)) ?? undefined);
}
