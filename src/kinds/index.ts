// Generated from the files of this folder by `npm run generate`.
import type { Kind, Kinds } from "../core/kind.ts";
import { kind as applicationSet } from "./application-set.ts";
import { kind as asyncService } from "./async-service.ts";
import { kind as chatPrompt } from "./chat_prompt.ts";
import { kind as cluster } from "./cluster.ts";
import { kind as codeserver } from "./codeserver.ts";
import { kind as helm } from "./helm.ts";
import { kind as intercept } from "./intercept.ts";
import { kind as job } from "./job.ts";
import { kind as mlRepo } from "./ml-repo.ts";
import { kind as modelVersion } from "./model-version.ts";
import { kind as notebook } from "./notebook.ts";
import { kind as rstudio } from "./rstudio.ts";
import { kind as secretGroup } from "./secret-group.ts";
import { kind as service } from "./service.ts";
import { kind as sparkJob } from "./spark-job.ts";
import { kind as sshServer } from "./ssh-server.ts";
import { kind as team } from "./team.ts";
import { kind as virtualAccount } from "./virtual-account.ts";
import { kind as volume } from "./volume.ts";
import { kind as workflow } from "./workflow.ts";
import { kind as workspace } from "./workspace.ts";

/** Every kind that Holdfast manages. */
export const kinds: readonly Kind[] = [
  applicationSet,
  asyncService,
  chatPrompt,
  cluster,
  codeserver,
  helm,
  intercept,
  job,
  mlRepo,
  modelVersion,
  notebook,
  rstudio,
  secretGroup,
  service,
  sparkJob,
  sshServer,
  team,
  virtualAccount,
  volume,
  workflow,
  workspace,
];

/** The same, by each type that declares one. */
export const kindsByType: Kinds = new Map(
  kinds.flatMap((kind) => [kind.type, ...(kind.aliases ?? [])].map((type) => [type, kind] as const)),
);

/** The kind that a manifest's `type` declares, aliases included. */
export function kindOf(type: string): Kind | undefined {
  return kindsByType.get(type);
}
