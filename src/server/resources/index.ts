import type { Authenticator } from "../auth/authenticate.ts";
import { userToken } from "../auth/authenticate.ts";
import type { Served } from "../http/serve.ts";
import { addons } from "./addon/resource.ts";
import { applications } from "./application/resource.ts";
import { artifacts } from "./artifact/resource.ts";
import { promptVersions } from "./chat_prompt.ts";
import { clusters } from "./cluster.ts";
import { jobs } from "./job-run/resource.ts";
import { leases } from "./lease/resource.ts";
import { mlRepos } from "./ml-repo.ts";
import { modelVersions } from "./model-version.ts";
import { personalToken } from "./personal-access-token/authenticate.ts";
import { personalTokens } from "./personal-access-token/resource.ts";
import { secrets } from "./secret-group/resource.ts";
import { stages } from "./staged-artifact/resource.ts";
import { teams } from "./team.ts";
import { virtualAccounts } from "./virtual-account/resource.ts";
import { accountToken } from "./virtual-account/token.ts";
import { workspaces } from "./workspace.ts";

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
