import type { Transaction } from "kysely";
import type { Deployment } from "../../../contract/generated/resources.ts";
import { shapes } from "../../../contract/generated/shapes.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { conflict, unprocessable } from "../../../http/http-error.ts";
import { checkApplication } from "../../../schema/validate.ts";
import { type ApplicationVersion, manifestHash } from "../../audit/application-version.ts";
import type { Principal } from "../../auth/principal.ts";
import { type Context, timestamp } from "../../context.ts";
import { recordChange } from "../../database/audit.ts";
import { type JsonText, toText } from "../../database/json-text.ts";
import type { Tables } from "../../database/tables.ts";
import type { Handler } from "../../http/operation-call.ts";
import { checkResourceSize } from "../../http/reply-size.ts";
import {
  refuseErrors,
  requiredName,
  requiredText,
  requireValidManifest,
} from "../../manifest/require-valid-manifest.ts";
import { toDriverRollout } from "../../rollouts/advance-rollouts.ts";
import { rememberTrigger, runOrDropTrigger } from "../job-run/job-run.ts";
import type { RunTrigger } from "../job-run/rows.ts";
import { recordSecretUses } from "../secret-group/secret-uses.ts";
import {
  cancelled,
  createdDeployment,
  newApplication,
  type PlannedDeployment,
  plannedDeployment,
  withDeployment,
  withOutcome,
  withProgress,
} from "./deployment.ts";
import { completeManifest, type DeploymentTarget, findDeploymentTarget } from "./deployment-target.ts";
import { type ApplicationRow, deploymentText, saveApplication, saveDeployment } from "./rows.ts";

/** Creates a new version of an application, and the application when it is new. */
export const putApp: Handler<"putApp"> = async ({ principal, body }, context) => {
  const { read } = context.store;
  const manifest = requireValidApplication(context, await completeManifest(read, principal, body));
  if (body.dryRun === true) {
    const place = await findDeploymentTarget(read, principal, manifest, body, context);
    const planned = plan(principal, manifest, place, context);
    return { data: checkResourceSize(dryRun(planned, place.found?.application ?? null)) };
  }
  return context.store.write(async (transaction) => {
    const place = await findDeploymentTarget(transaction, principal, manifest, body, context);
    const underWay = place.found?.underWay ?? null;
    if (underWay !== null && body.forceDeploy !== true) {
      throw conflict("deployment-in-progress", `the deployment ${underWay.fqn} is still in progress`);
    }
    const trigger = body.triggerOnDeploy === true ? principal : null;
    const { text, made } = await deploy(transaction, { principal, manifest, place, trigger }, context);
    const data = checkResourceSize(text);
    const resource = `${requiredText(manifest, "type")}/${place.workspace.fqn}/${requiredName(manifest)}`;
    await recordChange(transaction, context, { principal, operation: "putApp", resource, made });
    return { data };
  });
};

// The type is part of the identity in the audit.
const TYPE = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;

function plan(
  { subject }: Principal,
  manifest: JsonObject,
  { workspace, found }: DeploymentTarget,
  context: Context,
): PlannedDeployment {
  return plannedDeployment({
    applicationId: found?.application.id,
    applicationFqn: `${workspace.fqn}:${requiredName(manifest)}`,
    version: (found?.application.lastVersion ?? 0) + 1,
    manifest,
    subject,
    now: timestamp(context),
    recommended: found?.application.recommendations ?? [],
  });
}

async function deploy(
  transaction: Transaction<Tables>,
  {
    principal,
    manifest,
    place,
    trigger,
  }: {
    readonly principal: Principal;
    readonly manifest: JsonObject;
    readonly place: DeploymentTarget;
    /** The caller that triggers a run of a job after the deployment; null when none is triggered. */
    readonly trigger: RunTrigger | null;
  },
  context: Context,
): Promise<{ readonly text: JsonText<Deployment>; readonly made: ApplicationVersion }> {
  const { newId, rollouts } = context;
  const planned = plan(principal, manifest, place, context);
  const now = planned.createdAt;
  const named = { name: requiredName(manifest), type: requiredText(manifest, "type") };
  const before = place.found?.application ?? newApplication(newId(), place.workspace, named, principal.subject, now);
  await cancelUnderWay(transaction, place, now, context);
  const made = createdDeployment(planned, before.id, newId());
  const { progress, dueAt } = rollouts.begin(toDriverRollout(made), context.clock.now());
  const deployment = withProgress(made, progress, now, newId);
  const application = withOutcome(withDeployment(before, deployment, newId), deployment, newId);
  const deploymentJson = await saveDeployment(transaction, deployment, dueAt);
  await recordSecretUses(transaction, deployment, place.references);
  const applicationJson = await saveApplication(transaction, application);
  if (trigger !== null) await rememberTrigger(transaction, deployment, trigger);
  await runOrDropTrigger(transaction, deployment, context);
  if (dueAt !== null) context.scheduleAdvance(dueAt);
  return {
    text: deploymentText(deploymentJson, applicationJson),
    made: { application: before.id, version: deployment.version, manifestHash: manifestHash(manifest) },
  };
}

async function cancelUnderWay(
  transaction: Transaction<Tables>,
  { found }: DeploymentTarget,
  now: string,
  context: Context,
): Promise<void> {
  const underWay = found?.underWay ?? null;
  if (underWay === null) return;
  const deployment = withProgress(underWay, [cancelled], now, context.newId);
  await saveDeployment(transaction, deployment, null);
  await runOrDropTrigger(transaction, deployment, context);
}

function dryRun(planned: PlannedDeployment, application: ApplicationRow | null) {
  return toText(application === null ? planned : { ...planned, application });
}

/**
 * The manifest of an application when its form is valid. A type with a schema is validated completely and gets its
 * defaults; of other types only the fields that all applications share are validated.
 */
function requireValidApplication(context: Context, manifest: JsonObject): JsonObject {
  const { type } = manifest;
  if (typeof type === "string" && !TYPE.test(type)) {
    const message = "must be 1 to 63 letters, digits, '-' or '_', first a letter";
    throw unprocessable([{ pointer: "/type", message, code: "form" }]);
  }
  if (typeof type === "string" && isNoApplication(type)) {
    const message = "this type is not an application; it has an operation of its own";
    throw unprocessable([{ pointer: "/type", message, code: "type" }]);
  }
  if (typeof type === "string" && Object.hasOwn(shapes, type)) return requireValidManifest(context, [type], manifest);
  refuseErrors(checkApplication(manifest, context.unknownFields === "allow" ? "warn" : "refuse"));
  return manifest;
}

// Applications are the types that have a workspace.
function isNoApplication(type: string): boolean {
  const shape = Object.hasOwn(shapes, type) ? shapes[type] : undefined;
  if (shape === undefined) return type === "artifact-version";
  return shape.is !== "object" || !Object.hasOwn(shape.fields, "workspace_fqn");
}
