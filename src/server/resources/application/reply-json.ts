import type { Application, Deployment } from "../../../contract/generated/resources.ts";
import { type JsonText, withMember } from "../../database/json-text.ts";
import type { ApplicationRow, DeploymentRow } from "./tables.ts";

/** A deployment in a reply: with its application, which has no `deployment` of its own. */
export function deploymentText(
  deployment: JsonText<DeploymentRow>,
  application: JsonText<ApplicationRow>,
): JsonText<Deployment> {
  return withMember(deployment, "application", application);
}

/** An application in a list: with its newest deployment, which has no `application` of its own. */
export function applicationText(
  application: JsonText<ApplicationRow>,
  deployment: JsonText<DeploymentRow>,
): JsonText<Application> {
  return withMember(application, "deployment", deployment);
}
