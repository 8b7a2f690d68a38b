// src/server/resources/application: applications and their versions. See docs/architecture.md#a-new-resource-of-the-control-plane.

import type { ExpressionBuilder, Kysely } from "kysely";
import { type JsonObject, text } from "../../../contract/json.ts";
import { notFound } from "../../../http/http-error.ts";
import { manifestTypes, schemaFor } from "../../../schema/schemas.ts";
import { isAllowed } from "../../auth/access.ts";
import type { Principal } from "../../auth/principal.ts";
import { countRows, countTotal, newestFirst, selectPage, selectTextRows } from "../../database/select-page.ts";
import type { Tables } from "../../database/tables.ts";
import { defineOperation } from "../../http/define-operation.ts";
import type { Handler } from "../../http/operation-call.ts";
import { byteLength } from "../../http/reply-size.ts";
import { manifestSchemaName, pickProperties, refTo, type Schema, type Schemas } from "../../openapi/json-schema.ts";
import type { ReferenceSection, ResourceDefinition, ResourceGauge } from "../../resource.ts";
import { advanceRollouts } from "../../rollouts/advance-rollouts.ts";
import { seedByDryRun } from "../../seed/seed-rule.ts";
import { findWorkspaceById, visibleWorkspaces } from "../workspace.ts";
import { putApp } from "./deploy.ts";
import { applicationText, deploymentText, findApplicationText } from "./rows.ts";
import { applicationSnapshotPart } from "./snapshot.ts";

/** Lists the deployments of one application. */
const listDeployments: Handler<"listDeployments"> = async (call, { store }) => {
  const application = await findApplicationText(store.read, call.path.id);
  if (
    application === null ||
    !isAllowed(call.principal, "read", { type: "workspace", fqn: application.workspaceFqn })
  ) {
    throw notFound("the application");
  }
  const { version, deploymentId } = call.query;
  let rows = store.read.selectFrom("deployments").where("application_id", "=", call.path.id);
  // Any other text than a number matches no version.
  if (version !== undefined)
    rows = rows.where("version", "=", /^[1-9][0-9]{0,14}$/.test(version) ? Number(version) : -1);
  if (deploymentId !== undefined) rows = rows.where("id", "=", deploymentId);
  const listed = await selectPage(rows.select("json"), call.page, byteLength(application.text));
  return { ...listed, rows: listed.rows.map((row) => deploymentText(row, application.text)) };
};

/** What a list of applications may be restricted to. */
type ApplicationFilter = { readonly workspaceFqn?: string; readonly fqn?: string; readonly applicationType?: string };

/** The applications that a caller may see and asks for. */
export function selectApplications(
  database: Kysely<Tables>,
  principal: Principal,
  { workspaceFqn, fqn, applicationType }: ApplicationFilter,
) {
  const visible = visibleWorkspaces(principal);
  const readable = ({ selectFrom }: ExpressionBuilder<Tables, "applications">) => {
    const workspaces = selectFrom("workspaces").select("id");
    if (visible === null) return workspaces;
    return workspaces.where(({ or, eb }) =>
      or([eb("fqn", "in", visible.fqns), eb("cluster_id", "in", visible.clusters)]),
    );
  };
  let rows = database.selectFrom("applications");
  // Compared with one workspace, so that SQLite reads the index of its applications, and not all of the type in their order.
  if (workspaceFqn !== undefined)
    rows = rows.where("workspace_id", "=", (within) => readable(within).where("fqn", "=", workspaceFqn));
  else if (visible !== null) rows = rows.where("workspace_id", "in", readable);
  if (fqn !== undefined) rows = rows.where("fqn", "=", fqn);
  return applicationType === undefined ? rows : rows.where("type", "=", applicationType);
}

/** Lists applications, each with its newest deployment. */
const listApps: Handler<"listApps"> = async ({ principal, query, page: wanted }, { store }) => {
  const rows = selectApplications(store.read, principal, query);
  // The page is selected first, so that only its applications are joined with their deployments.
  const listed = newestFirst(rows.select(["id", "created_at", "json", "last_deployment_id"]), "", wanted);
  const found = await selectTextRows(
    store.read
      .selectFrom(listed.as("a"))
      .innerJoin("deployments as d", "d.id", "a.last_deployment_id")
      .select(["a.json as application", "d.json as deployment"])
      .orderBy("a.created_at", "desc")
      .orderBy("a.id", "desc"),
    { application: "a.json", deployment: "d.json" },
  );
  return {
    total: await countTotal(rows, wanted, found.length),
    rows: found.map(({ application, deployment }) => applicationText(application, deployment)),
  };
};

/** The types of applications that have a schema: those with a workspace. */
const applicationTypes: readonly string[] = manifestTypes.filter(
  (type) => schemaFor(type)?.properties?.workspace_fqn !== undefined,
);

/** The number of rollouts that have not ended. */
const rolloutGauge: ResourceGauge = {
  name: "holdfast_rollouts_in_progress",
  help: "Rollouts that have not ended.",
  shownTo: "everyone",
  read: ({ store }) => countRows(store.read.selectFrom("deployments").where("look_at", "is not", null)),
};

/** The section of applications in the reference. */
export const applicationsSection: ReferenceSection = {
  name: "Applications",
  description: "Applications, and their deployments with status history.",
};

/** The operations on applications and their deployments: 10, 16 and E4. */
export const resource: ResourceDefinition = {
  section: applicationsSection,
  operations: [
    defineOperation("putApp", putApp, {
      scope: async ({ manifest, members }, database) =>
        text(manifest.workspace_fqn) ?? (await workspaceFqnOf(members, database)),
      description:
        "Creates a new deployment of the application, and the application when it is new. An equal manifest creates a new version too.\n\nWhile a deployment is in progress the reply is 409, unless `forceDeploy` cancels it. Needs write on the workspace.",
      replySchema: "Deployment",
      manifest: { $ref: refTo("ApplicationManifest") },
      members: {
        forceDeploy: { description: "Cancel a deployment that is still in progress", default: false },
        triggerOnDeploy: { description: "For a job: start a run after it is deployed", default: false },
        workspaceId: { description: "Id of the workspace, when the manifest does not name it; both must agree" },
        applicationId: {
          description: "Id of the application; it must be the one that the manifest names",
        },
        name: { description: "Name of the application, as in the manifest" },
        applicationSetId: { description: "Set of applications that it belongs to; accepted without effect" },
      },
    }),
    defineOperation("listDeployments", listDeployments, {
      description:
        "Newest first; `version` and `deploymentId` narrow the list. In each deployment `deploymentStatuses` is oldest first.",
      replySchema: "Deployment",
      parameters: {
        id: { description: "Id of the application", example: "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1" },
        version: { description: "Only this version", example: "3" },
        deploymentId: { description: "Only this deployment", example: "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1" },
      },
    }),
    defineOperation("listApps", listApps, {
      description: "Newest first, each with its newest deployment as `deployment`.",
      replySchema: "Application",
      parameters: {
        workspaceFqn: { description: "Only those in this workspace", example: "prod-eu:ranking" },
        applicationType: { description: "Only those of this type", example: "service" },
      },
    }),
  ],
  seeds: Object.fromEntries(applicationTypes.map((type) => [type, seedByDryRun("putApp", "applicationId")])),
  snapshot: [applicationSnapshotPart],
  manifestSchemas: applicationSchemas,
  advance: advanceRollouts,
  gauges: [rolloutGauge],
};

async function workspaceFqnOf({ workspaceId }: JsonObject, database: Kysely<Tables>): Promise<string | undefined> {
  const id = text(workspaceId);
  return id === undefined ? undefined : (await findWorkspaceById(database, id))?.fqn;
}

/** The schemas of application manifests, with one for types without a schema. */
function applicationSchemas(schemas: Schemas): Schemas {
  const alsoInBody = ["name", "workspace_fqn"];
  const known = applicationTypes.map((type): [string, Schema] => {
    const schema: Schema = schemas[manifestSchemaName(type)] ?? {};
    const required = (schema.required ?? []).filter((field) => !alsoInBody.includes(field));
    return [manifestSchemaName(type), { ...schema, required }];
  });
  const service: Schema = schemas[manifestSchemaName("service")] ?? {};
  return {
    ...Object.fromEntries(known),
    ApplicationManifest: {
      title: "Application",
      description:
        "An application of any type. The types described here are validated completely; of other types only the fields that all applications share. `name` and `workspace_fqn` are required unless they are given in the body next to the manifest",
      type: "object",
      required: ["type"],
      properties: {
        type: {
          title: "Type",
          description: "Type of application; types with other operations are refused",
          type: "string",
          pattern: "^[A-Za-z][A-Za-z0-9_-]{0,62}$",
          "x-form": "1 to 63 letters, digits, '-' or '_', first a letter",
          "x-known": applicationTypes,
          examples: ["service"],
        },
        ...pickProperties(service.properties ?? {}, "name", "workspace_fqn"),
      },
      allOf: applicationTypes.map((type) => ({
        if: { type: "object", properties: { type: { const: type } }, required: ["type"] },
        // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
        then: { $ref: refTo(manifestSchemaName(type)) },
      })),
      examples: service.examples ?? [],
    },
  };
}
