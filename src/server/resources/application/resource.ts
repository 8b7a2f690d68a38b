import type { Kysely } from "kysely";
import { type JsonObject, text } from "../../../contract/json.ts";
import type { Tables } from "../../database/tables.ts";
import { defineOperation } from "../../http/define-operation.ts";
import { refTo } from "../../openapi/schemas/json-schema.ts";
import type { ResourceDefinition } from "../../resource.ts";
import { advanceRollouts } from "../../rollouts/advance-rollouts.ts";
import { rolloutGauge } from "../../rollouts/rollout-gauge.ts";
import { seedByDryRun } from "../../seed/seed-rule.ts";
import { findWorkspaceFqn } from "../workspace.ts";
import { putApp } from "./deploy.ts";
import { listApps, listDeployments } from "./list.ts";
import { applicationSchemas, applicationTypes } from "./openapi-schemas.ts";
import { applicationSnapshotPart } from "./snapshot.ts";

/** The operations on applications and their deployments: 10, 16 and E4. */
export const resource: ResourceDefinition = {
  section: {
    name: "Applications",
    description: "Applications, and their deployments with status history.",
  },
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
  seeds: Object.fromEntries(applicationTypes.map((type) => [type, seedByDryRun("putApp", { id: "applicationId" })])),
  snapshot: [applicationSnapshotPart],
  manifestSchemas: applicationSchemas,
  advance: advanceRollouts,
  gauges: [rolloutGauge],
};

async function workspaceFqnOf({ workspaceId }: JsonObject, database: Kysely<Tables>): Promise<string | undefined> {
  const id = text(workspaceId);
  return id === undefined ? undefined : ((await findWorkspaceFqn(database, id)) ?? undefined);
}
