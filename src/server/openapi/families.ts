import type { Operation } from "../../contract/operations.ts";

/** What a family of operations is about. */
export type Family = { readonly name: string; readonly description: string };

const workspaces: Family = { name: "Workspaces", description: "Parts of clusters in which applications run." };
const applications: Family = {
  name: "Applications",
  description: "Applications, and their deployments with status history.",
};
const jobs: Family = { name: "Job runs", description: "Runs of applications of type `job`." };
const secrets: Family = { name: "Secrets", description: "Groups of secrets, their secrets, and who uses them." };
const clusters: Family = { name: "Clusters", description: "Clusters and the addons on them." };
const accounts: Family = {
  name: "Accounts and tokens",
  description: "Virtual accounts for machines, and a person's own access tokens.",
};
const teams: Family = { name: "Teams", description: "Teams of people that roles are given to." };
const repos: Family = { name: "ML repos", description: "Repositories of models, prompts and runs." };
const models: Family = { name: "Model versions", description: "Versions of models." };
const prompts: Family = { name: "Prompt versions", description: "Versions of prompts." };
const artifacts: Family = {
  name: "Artifacts",
  description: "What versions are versions of, and room for files of versions to come.",
};
const leases: Family = { name: "Leases", description: "The right to be the one writer of a scope." };

/** All families, in the order in which they are shown. */
export const families: readonly Family[] = [
  workspaces,
  applications,
  jobs,
  secrets,
  clusters,
  accounts,
  teams,
  repos,
  models,
  prompts,
  artifacts,
  leases,
];

const byResource: { readonly [segment: string]: Family } = {
  workspaces,
  apps: applications,
  jobs,
  secrets,
  "secret-groups": secrets,
  clusters,
  "virtual-accounts": accounts,
  "personal-access-tokens": accounts,
  teams,
  "ml-repos": repos,
  "model-versions": models,
  "prompt-versions": prompts,
  artifacts,
  "artifact-versions": artifacts,
  leases,
};

/** The family of an operation: what its path names after the version. */
export function familyOf({ path }: Operation): Family {
  const family = byResource[path.split("/")[4] ?? ""];
  if (family === undefined) throw new TypeError(`${path} belongs to no family`);
  return family;
}
