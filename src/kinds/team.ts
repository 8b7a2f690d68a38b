import type { TeamManifest } from "../contract/generated/manifests.ts";
import { defineKind, type Kind, type RowOf } from "../core/kind.ts";
import { authorIn } from "../core/subject.ts";

const row: RowOf<"putTeam"> = ({ id, teamName, manifest, createdAt, createdBySubject, updatedAt }) => ({
  key: teamName,
  id: id || null,
  manifest,
  stamp: updatedAt,
  createdAt,
  ...authorIn(createdBySubject),
});

/** A team, or a team whose members come from single sign-on. */
export const kind: Kind = defineKind<TeamManifest>({
  type: "team",
  aliases: ["sso-team"],
  key: ({ name }) => name,
  group: () => null,
  list: { operation: "listTeams", row },
  cannotRead: "no documented operation reads teams",
  writeRoutes: [{ operation: "putTeam", dryRun: "putTeam", row }],
});
