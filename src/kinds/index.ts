// Generated from the files of this folder by `npm run generate`.
import type { Kind } from "../core/kind.ts";
import { kind as chatPrompt } from "./chat_prompt.ts";
import { kind as cluster } from "./cluster.ts";
import { kind as mlRepo } from "./ml-repo.ts";
import { kind as modelVersion } from "./model-version.ts";
import { kind as service } from "./service.ts";
import { kind as team } from "./team.ts";
import { kind as virtualAccount } from "./virtual-account.ts";
import { kind as volume } from "./volume.ts";
import { kind as workspace } from "./workspace.ts";

/** Every kind that Holdfast manages. */
export const kinds: readonly Kind[] = [
  chatPrompt,
  cluster,
  mlRepo,
  modelVersion,
  service,
  team,
  virtualAccount,
  volume,
  workspace,
];

const byType: ReadonlyMap<string, Kind> = new Map(
  kinds.flatMap((kind) => [kind.type, ...(kind.aliases ?? [])].map((type) => [type, kind] as const)),
);

/** The kind that a manifest's `type` declares, aliases included. */
export function kindOf(type: string): Kind | undefined {
  return byType.get(type);
}
