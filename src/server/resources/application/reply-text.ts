import type { Application, Deployment } from "../../../contract/resources.ts";
import { type JsonText, toText, withMember } from "../../database/json-text.ts";
import type { ApplicationRow, DeploymentRow } from "./tables.ts";

/** A deployment as it is answered: with its application, which does not hold a deployment again. */
export function deploymentText(
  deployment: JsonText<DeploymentRow>,
  application: JsonText<ApplicationRow>,
): JsonText<Deployment> {
  return withMember(deployment, "application", withMember(application, "deployment", toText(null)));
}

/** An application as it is listed: with its newest deployment, which does not hold the application again. */
export function applicationText(
  application: JsonText<ApplicationRow>,
  deployment: JsonText<DeploymentRow>,
): JsonText<Application> {
  return withMember(application, "deployment", withMember(deployment, "application", toText(null)));
}
