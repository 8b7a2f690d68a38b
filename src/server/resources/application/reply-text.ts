import type { Application, Deployment } from "../../../contract/resources.ts";
import { type JsonText, toText, withMember } from "../../database/json-text.ts";
import type { ApplicationRow, DeploymentRow } from "./tables.ts";

/** A deployment in a reply: with its application, whose own `deployment` is null. */
export function deploymentText(
  deployment: JsonText<DeploymentRow>,
  application: JsonText<ApplicationRow>,
): JsonText<Deployment> {
  return withMember(deployment, "application", withMember(application, "deployment", toText(null)));
}

/** An application in a list: with its newest deployment, whose own `application` is null. */
export function applicationText(
  application: JsonText<ApplicationRow>,
  deployment: JsonText<DeploymentRow>,
): JsonText<Application> {
  return withMember(application, "deployment", withMember(deployment, "application", toText(null)));
}
