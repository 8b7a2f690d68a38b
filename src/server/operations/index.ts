import { accountToken } from "../account-token.ts";
import type { Authenticator } from "../auth.ts";
import { userToken } from "../auth.ts";
import { personalToken } from "../personal-token.ts";
import type { Served } from "../serve.ts";
import { addons } from "./addons.ts";
import { applications } from "./applications.ts";
import { artifacts } from "./artifacts.ts";
import { clusters } from "./clusters.ts";
import { jobs } from "./jobs.ts";
import { leases } from "./leases.ts";
import { mlRepos } from "./ml-repos.ts";
import { modelVersions } from "./model-versions.ts";
import { personalTokens } from "./personal-tokens.ts";
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
  ...addons,
  ...teams,
  ...mlRepos,
  ...promptVersions,
  ...modelVersions,
  ...stages,
  ...artifacts,
  ...secrets,
  ...virtualAccounts,
  ...personalTokens,
  ...leases,
];

/** Every way to know a caller. */
export const authenticators: readonly Authenticator[] = [userToken, personalToken, accountToken];
