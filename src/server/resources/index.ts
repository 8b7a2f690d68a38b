// Generated from the files and folders beside it by `npm run generate`.
import type { ResourceDefinition } from "../resource.ts";
import { resource as addon } from "./addon/resource.ts";
import { resource as application } from "./application/resource.ts";
import { resource as artifact } from "./artifact/resource.ts";
import { resource as auditRow } from "./audit-row.ts";
import { resource as caller } from "./caller.ts";
import { resource as chatPrompt } from "./chat_prompt.ts";
import { resource as cluster } from "./cluster.ts";
import { resource as digest } from "./digest.ts";
import { resource as disabledSubject } from "./disabled-subject.ts";
import { resource as jobRun } from "./job-run/resource.ts";
import { resource as lease } from "./lease/resource.ts";
import { resource as mlRepo } from "./ml-repo.ts";
import { resource as modelVersion } from "./model-version.ts";
import { resource as personalAccessToken } from "./personal-access-token/resource.ts";
import { resource as rolloutFailures } from "./rollout-failures.ts";
import { resource as secretGroup } from "./secret-group/resource.ts";
import { resource as stagedArtifact } from "./staged-artifact/resource.ts";
import { resource as team } from "./team/resource.ts";
import { resource as userAccount } from "./user-account.ts";
import { resource as virtualAccount } from "./virtual-account/resource.ts";
import { resource as workspace } from "./workspace.ts";

/** Every resource that the server has. */
export const resources: readonly ResourceDefinition[] = [
  addon,
  application,
  artifact,
  auditRow,
  caller,
  chatPrompt,
  cluster,
  digest,
  disabledSubject,
  jobRun,
  lease,
  mlRepo,
  modelVersion,
  personalAccessToken,
  rolloutFailures,
  secretGroup,
  stagedArtifact,
  team,
  userAccount,
  virtualAccount,
  workspace,
];
