import { printable } from "./escape.ts";

const words: { readonly [status: string]: string } = {
  INITIALIZED: "starting",
  BUILDING: "building the image",
  BUILD_SUCCESS: "image built",
  BUILD_FAILED: "the image was not built",
  DEPLOYING: "rolling out",
  ROLLOUT_STARTED: "rolling out",
  DEPLOY_SUCCESS: "rolled out",
  DEPLOY_FAILED: "rollout failed",
  PAUSED: "paused",
  CANCELLED: "cancelled",
  FAILED: "failed",
};

/** A control plane's status of a deployment, or of a job's run (`run CREATED`), as display text. */
export function rolloutText(status: string): string {
  const [, run = "", name = ""] = /^(run )?(.*)$/s.exec(status) ?? [];
  // Other control planes have other statuses.
  const known = run === "" && Object.hasOwn(words, name) ? words[name] : undefined;
  return known ?? printable(run + name.toLowerCase().replaceAll("_", " "));
}
