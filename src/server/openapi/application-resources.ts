import type { JsonObject } from "../../contract/json.ts";
import type {
  Alert,
  Application,
  DebugInfo,
  Deployment,
  DeploymentStatus,
  JobRun,
  Recommendation,
  Subject,
} from "../../contract/resources.ts";
import { camelOwner, stamps, tenantName } from "./common-resources.ts";
import { boolean, free, id, integer, list, moment, named, nullable, number, object, oneOfMany, text } from "./form.ts";

/** One entry of a deployment's history. */
export const deploymentStatus = object<DeploymentStatus>("One entry of a deployment's status history", {
  id: id("entry"),
  deploymentId: id("deployment"),
  status: oneOfMany("Where the deployment stands", [
    "INITIALIZED",
    "BUILDING",
    "BUILD_SUCCESS",
    "BUILD_FAILED",
    "ROLLOUT_STARTED",
    "SET_TRAFFIC",
    "DEPLOY_SUCCESS",
    "DEPLOY_FAILED",
    "DEPLOY_FAILED_WITH_RETRY",
    "PAUSED",
    "FAILED",
    "CANCELLED",
    "REDEPLOY_STARTED",
  ]),
  transition: nullable(
    oneOfMany("What happens next", [
      "BUILDING",
      "DEPLOYING",
      "REUSING_EXISTING_BUILD",
      "COMPONENTS_DEPLOYING",
      "WAITING",
    ]),
  ),
  message: nullable(text("What happened, for people", "the build has started")),
  state: object("What the status means", {
    isTerminalState: boolean("Whether nothing follows by itself", false),
    display: text("The status for people", "Building"),
  }),
  retryCount: integer("How often the step was tried again", 0, { minimum: 0 }),
  ...stamps,
});

/** A change that the control plane proposes. */
export const recommendation = object<Recommendation>("A change that the control plane proposes, from what it knows", {
  id: id("recommendation"),
  clusterId: text("Id of the cluster", "prod-eu"),
  applicationId: id("application"),
  deploymentId: id("deployment"),
  recommendationType: text("What is proposed", "add-readiness-probe"),
  appliedDeploymentId: nullable(id("deployment that applied it")),
  applicationVersion: integer("Version that it was made for", 3),
  recommendationData: free("The proposal in detail", { replicas: 2 }),
  expiryTimestamp: nullable(moment("When it is no longer worth a look")),
  ...stamps,
});

/** A condition that somebody should look at. */
export const alert = object<Alert>("A condition of an application that somebody should look at", {
  id: id("alert"),
  name: text("What is wrong", "DeploymentFailed"),
  applicationId: id("application"),
  clusterId: text("Id of the cluster", "prod-eu"),
  tenantName,
  fingerprint: text("The same for the same condition of the same application", "3f2a9c81d4e7b605"),
  applicationDebugInfoId: nullable(id("debug info that explains it")),
  timestamps: list("When it was seen", moment("When it was seen")),
  startTime: moment("When it began"),
  resolvedTime: nullable(moment("When it was over")),
  updatedAt: text("When it last changed", "2026-11-21T09:30:00.000Z"),
  createdAt: text("When it was made", "2026-11-21T09:30:00.000Z"),
});

/** What was found out about a failing application. */
export const debugInfo = object<DebugInfo>("What was found out about a failing application", {
  id: id("debug info"),
  applicationId: id("application"),
  application: free("The application in short", { name: "ranker" }),
  debugInfo: free("The findings", { message: "the image could not be pulled" }),
  ...stamps,
});

/** An application. */
export const application = object<Application>("An application: what runs under a name in a workspace", {
  id: id("application"),
  fqn: text("cluster:workspace:application", "prod-eu:ranking:ranker"),
  name: text("Name, unique in the workspace", "ranker"),
  type: oneOfMany("Kind of application", [
    "service",
    "async-service",
    "job",
    "spark-job",
    "helm",
    "notebook",
    "codeserver",
    "rstudio",
    "ssh-server",
    "volume",
    "application",
    "application-set",
    "intercept",
    "workflow",
  ]),
  tenantName,
  workspaceId: id("workspace"),
  workspaceFqn: text("cluster:workspace", "prod-eu:ranking"),
  activeDeploymentId: nullable(id("deployment that serves")),
  lastDeploymentId: nullable(id("newest deployment")),
  metadata: object("Its condition", { paused: boolean("Whether it is paused", false) }),
  lifecycleStage: oneOfMany("Where its life stands", ["active", "deleting", "deletion_failed"]),
  lastVersion: integer("Newest version", 3),
  activeVersion: nullable(integer("Version that serves", 3)),
  recommendations: list("What could be better", named<Recommendation>("Recommendation", "One proposal")),
  alerts: list("What somebody should look at", named<Alert>("Alert", "One condition")),
  alertsSummary: free("How many alerts of each kind there are", {}),
  autopilot: free("What is tuned without asking", {}),
  deployment: nullable(named<Deployment>("Deployment", "Its newest deployment; in lists of applications")),
  applicationDebugInfos: list("What failed rollouts told", named<DebugInfo>("DebugInfo", "One finding")),
  potentialProblems: list(
    "What may go wrong",
    object("One of them", {
      name: text("What it is", "no-readiness-probe"),
      description: text("Why, for people", "without a readiness probe requests reach containers that are not ready"),
    }),
  ),
  ...camelOwner,
  ...stamps,
});

/** A deployment. */
export const deployment = object<Deployment>("One version of an application, on its way or there", {
  id: nullable(id("deployment; null in a rehearsal")),
  fqn: text("cluster:workspace:application:version", "prod-eu:ranking:ranker:3"),
  applicationId: nullable(id("application; null in the rehearsal of a new one")),
  currentStatusId: nullable(id("newest entry of the history")),
  version: integer("Number of the version", 3, { minimum: 1 }),
  manifest: named<JsonObject>("ApplicationManifest", "What was declared, defaults included"),
  application: nullable(named<Application>("Application", "The application")),
  deploymentBuilds: list(
    "The builds of its images",
    object("One build", { name: text("Name of the build", "ranker-3"), status: integer("State of the build", 1) }),
  ),
  deploymentStatuses: list("Its history, oldest first", named<DeploymentStatus>("DeploymentStatus", "One entry")),
  currentStatus: nullable(named<DeploymentStatus>("DeploymentStatus", "Newest entry of the history")),
  appliedRecommendations: list("Proposals that it applied", named<Recommendation>("Recommendation", "One proposal")),
  ...camelOwner,
  ...stamps,
});

/** A run of a job. */
export const jobRun = object<JobRun>("One run of a job", {
  name: text("<application>-<deployment version>-<n>", "nightly-3-1"),
  applicationName: text("Name of the job", "nightly"),
  deploymentVersion: text("Version of the job that runs", "3"),
  command: nullable(text("Command that runs", "python train.py")),
  error: nullable(text("Why it failed", "exit code 1")),
  triggeredBy: text("Short name of who started it", "ada@example.com"),
  sparkUi: nullable(text("Address of its Spark page", "https://spark.example.com/nightly-3-1")),
  createdAt: number("When it was made", 1_795_253_400_000, { "x-unit": "epoch milliseconds" }),
  endTime: nullable(number("When it ended", 1_795_253_460_000, { "x-unit": "epoch milliseconds" })),
  duration: nullable(number("How long it took", 60, { "x-unit": "seconds" })),
  totalRetries: integer("How often it was tried again", 0, { minimum: 0 }),
  exitCode: nullable(integer("Exit code of its process", 0)),
  status: oneOfMany("Where the run stands", [
    "CREATED",
    "SCHEDULED",
    "RUNNING",
    "FINISHED",
    "FAILED",
    "TERMINATION_REQUESTED",
    "TERMINATING",
    "TERMINATED",
    "UNKNOWN",
  ]),
  triggeredBySubject: named<Subject>("Subject", "Who started it"),
});
