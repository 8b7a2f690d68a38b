import { accountToken } from "../account-token.ts";
import type { Authenticator } from "../auth.ts";
import { userToken } from "../auth.ts";
import type { Served } from "../serve.ts";
import { applications } from "./applications.ts";
import { artifacts } from "./artifacts.ts";
import { clusters } from "./clusters.ts";
import { jobs } from "./jobs.ts";
import { mlRepos } from "./ml-repos.ts";
import { modelVersions } from "./model-versions.ts";
import { promptVersions } from "./prompt-versions.ts";
import { secrets } from "./secrets.ts";
import { stages } from "./stages.ts";
import { teams } from "./teams.ts";
import { virtualAccounts } from "./virtual-accounts.ts";
import { workspaces } from "./workspaces.ts";

/** Every operation that is served, by family. */
export const served: readonly Served[] = [
  ...workspaces,
  ...applications,
  ...jobs,
  ...clusters,
  ...teams,
  ...mlRepos,
  ...promptVersions,
  ...modelVersions,
  ...stages,
  ...artifacts,
  ...secrets,
  ...virtualAccounts,
];

/** Every way to know a caller. */
export const authenticators: readonly Authenticator[] = [userToken, accountToken];
