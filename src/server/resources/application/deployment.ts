import type {
  Deployment,
  DeploymentStatus,
  Recommendation,
  Subject,
  Workspace,
} from "../../../contract/generated/resources.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { tenant } from "../../auth/principal.ts";
import type { Stored } from "../../database/tables.ts";
import { isBuiltImage, type RolloutStatus } from "../../rollouts/rollout-driver.ts";
import { alertsAfterDeployment, debugInfoOf, summariseAlerts, withDebugInfo } from "./alerts-after-deployment.ts";
import { failedProblem, isApplied, potentialProblems, proposeRecommendations } from "./problems.ts";
import type { ApplicationRow, DeploymentRow } from "./rows.ts";

/** A deployment that is not created yet. */
export type PlannedDeployment = Omit<DeploymentRow, "id">;

/** A deployment without id and history, as a dry run returns it. */
export function plannedDeployment(wanted: {
  readonly applicationId: string | undefined;
  readonly applicationFqn: string;
  readonly version: number;
  readonly manifest: JsonObject;
  readonly subject: Subject;
  readonly now: string;
  /** The recommendations for the previous version. */
  readonly recommended: readonly Recommendation[];
}): PlannedDeployment {
  const { applicationId, applicationFqn, version, manifest, subject, now, recommended } = wanted;
  return {
    fqn: `${applicationFqn}:${version}`,
    ...(applicationId !== undefined && { applicationId }),
    version,
    manifest,
    createdBy: subject.subjectId,
    createdBySubject: subject,
    createdAt: now,
    updatedAt: now,
    deploymentBuilds: [],
    deploymentStatuses: [],
    appliedRecommendations: recommended.filter((recommendation) =>
      isApplied(recommendation.recommendationData, manifest),
    ),
  };
}

/** The created deployment, with its id. */
export function createdDeployment(
  planned: PlannedDeployment,
  applicationId: string,
  id: string,
): Stored<DeploymentRow> {
  const appliedRecommendations = planned.appliedRecommendations.map((recommendation) => ({
    ...recommendation,
    appliedDeploymentId: id,
    updatedAt: planned.createdAt,
  }));
  return { ...planned, id, applicationId, appliedRecommendations };
}

/** The deployment with further statuses in its history. */
export function withProgress(
  deployment: Stored<DeploymentRow>,
  progress: readonly RolloutStatus[],
  now: string,
  newId: () => string,
): Stored<DeploymentRow> {
  const added = progress.map((step) => statusOf(deployment.id, step, now, newId()));
  const deploymentStatuses = [...deployment.deploymentStatuses, ...added];
  return {
    ...deployment,
    deploymentStatuses,
    ...currentOf(deploymentStatuses),
    updatedAt: now,
    deploymentBuilds: buildsOf(deployment.fqn, deployment.manifest, deploymentStatuses),
  };
}

/** The status of a deployment that a forced one replaces. */
export const cancelled: RolloutStatus = {
  status: "CANCELLED",
  transition: "",
  message: "replaced by a forced deployment",
  display: "Cancelled",
  isTerminalState: true,
};

/** An application without deployments. */
export function newApplication(
  id: string,
  workspace: Stored<Workspace>,
  { name, type }: { readonly name: string; readonly type: string },
  subject: Subject,
  now: string,
): ApplicationRow {
  return {
    id,
    fqn: `${workspace.fqn}:${name}`,
    name,
    type,
    tenantName: tenant,
    workspaceId: workspace.id,
    workspaceFqn: workspace.fqn,
    createdBy: subject.subjectId,
    createdBySubject: subject,
    metadata: { paused: false },
    lifecycleStage: "active",
    lastVersion: 0,
    createdAt: now,
    updatedAt: now,
    recommendations: [],
    alerts: [],
    alertsSummary: summariseAlerts([]),
    autopilot: {},
    applicationDebugInfos: [],
    potentialProblems: [],
  };
}

/** The application with a new deployment, and the problems and recommendations for its manifest. */
export function withDeployment(
  application: ApplicationRow,
  deployment: Stored<DeploymentRow>,
  newId: () => string,
): ApplicationRow {
  const { manifest, version, createdAt: now } = deployment;
  const recommendations = proposeRecommendations(manifest).map(
    (proposal): Recommendation => ({
      ...proposal,
      id: newId(),
      clusterId: clusterOf(application),
      applicationId: application.id,
      deploymentId: deployment.id,
      applicationVersion: version,
      createdAt: now,
      updatedAt: now,
    }),
  );
  return {
    ...application,
    lastDeploymentId: deployment.id,
    lastVersion: version,
    recommendations,
    potentialProblems: potentialProblems(manifest),
    updatedAt: now,
  };
}

/** The application after its deployment has ended; unchanged while the deployment is in progress. */
export function withOutcome(
  application: ApplicationRow,
  deployment: Stored<DeploymentRow>,
  newId: () => string,
): ApplicationRow {
  const { currentStatus, version } = deployment;
  if (!currentStatus?.state.isTerminalState) return application;
  const info = debugInfoOf(application, deployment, newId);
  const subject = {
    applicationId: application.id,
    clusterId: clusterOf(application),
    tenantName: tenant,
    ...(info !== null && { applicationDebugInfoId: info.id }),
  };
  const alerts = alertsAfterDeployment(application.alerts, currentStatus, subject, newId);
  const { potentialProblems } = application;
  const isActive = currentStatus.status === "DEPLOY_SUCCESS";
  return {
    ...application,
    alerts,
    alertsSummary: summariseAlerts(alerts),
    applicationDebugInfos: withDebugInfo(application.applicationDebugInfos, info),
    potentialProblems:
      info === null ? potentialProblems : [...potentialProblems, failedProblem(version, application.activeVersion)],
    updatedAt: currentStatus.createdAt,
    ...(isActive && { activeDeploymentId: deployment.id, activeVersion: version }),
  };
}

/** The cluster of an application. */
function clusterOf({ workspaceFqn }: ApplicationRow): string {
  return workspaceFqn.slice(0, workspaceFqn.indexOf(":"));
}

function statusOf(deploymentId: string, step: RolloutStatus, now: string, id: string): DeploymentStatus {
  const { status, transition, message, display, isTerminalState } = step;
  return {
    id,
    deploymentId,
    status,
    transition,
    ...(message !== undefined && { message }),
    state: { isTerminalState, display },
    retryCount: 0,
    createdAt: now,
    updatedAt: now,
  };
}

/** The members that name the newest entry of a history; none when it is empty. */
export function currentOf(history: readonly DeploymentStatus[]) {
  const currentStatus = history.at(-1);
  return currentStatus === undefined ? {} : { currentStatus, currentStatusId: currentStatus.id };
}

/** The builds of a deployment: status 0 while one runs, 1 when it succeeded, 2 when it failed. */
function buildsOf(
  fqn: string,
  manifest: JsonObject,
  history: readonly DeploymentStatus[],
): Deployment["deploymentBuilds"] {
  if (!isBuiltImage(manifest)) return [];
  const seen = new Set(history.map(({ status }) => status));
  if (!seen.has("BUILDING")) return [];
  const status = seen.has("BUILD_SUCCESS") ? 1 : seen.has("BUILD_FAILED") || seen.has("CANCELLED") ? 2 : 0;
  return [{ name: fqn.replaceAll(":", "-"), status }];
}
