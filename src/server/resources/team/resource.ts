// src/server/resources/team: teams and their members. See docs/control-plane.md#roles.

import type { Transaction } from "kysely";
import type { Team } from "../../../contract/generated/resources.ts";
import { text } from "../../../contract/json.ts";
import { conflict } from "../../../http/http-error.ts";
import { chunks } from "../../../store/prepared-query.ts";
import { isTenantAdmin, readsTenant } from "../../auth/access.ts";
import { tenant } from "../../auth/principal.ts";
import type { JsonText } from "../../database/json-text.ts";
import { keysIn, resourceBy, saveIn } from "../../database/resource-rows.ts";
import { selectPage } from "../../database/select-page.ts";
import type { Stored, Tables } from "../../database/tables.ts";
import { defineOperation } from "../../http/define-operation.ts";
import type { Handler } from "../../http/operation-call.ts";
import { type DeclaredKind, putDeclared, type ResourceInput } from "../../manifest/put-declared.ts";
import { requiredName } from "../../manifest/require-valid-manifest.ts";
import { refTo } from "../../openapi/json-schema.ts";
import { REPLACE_DESCRIPTION } from "../../openapi/operation-description.ts";
import type { ResourceDefinition } from "../../resource.ts";
import { seedByDryRun } from "../../seed/seed-rule.ts";
import { copyDeclared } from "../../snapshot/rows.ts";
import { snapshotPart } from "../../snapshot/snapshot-part.ts";
import { everyoneTeam, isManager, issuerGroupOf, listedEmails, listedUsers, teamsOf } from "./members.ts";

const upsertTeam = saveIn("teams", "json", "issuer_group");

/** Teams, declared by a manifest. */
const teamKind: DeclaredKind<Stored<Team>> = {
  operation: "putTeam",
  types: ["team", "sso-team"],
  keyOf: requiredName,
  find: resourceBy("teams", "name"),
  mayWrite: (principal, name, database) =>
    isTenantAdmin(principal) || isManager(database, name, principal.subject.subjectSlug),
  grantsOf: () => [],
  faults: async (_, manifest, existing) => {
    if (requiredName(manifest) === everyoneTeam) throw conflict("name-taken", "the team everyone is built in");
    if (existing !== null && existing.manifest.type !== manifest.type) throw otherType(existing);
    return [];
  },
  stamps: ({ createdBySubject, createdAt }) => ({ subject: createdBySubject, createdAt }),
  make: makeTeam,
  save: saveTeam,
};

const namesOf = keysIn("teams", "name");

const listTeams: Handler<"listTeams"> = async ({ principal, page: wanted }, { store }) => {
  const all = store.read.selectFrom("teams");
  const visible = readsTenant(principal)
    ? all
    : all.where("name", "in", teamsOf(store.read, principal.subject.subjectSlug));
  return selectPage(visible.select("json"), wanted);
};

const listOwnTeams: Handler<"listOwnTeams"> = async ({ principal, page: wanted }, { store }) => {
  const own = teamsOf(store.read, principal.subject.subjectSlug);
  return selectPage(store.read.selectFrom("teams").where("name", "in", own).select("json"), wanted);
};

/** The operations on teams: 19, and the two routes of E6. */
export const resource: ResourceDefinition = {
  section: { name: "Teams", description: "Teams of people that roles are granted to." },
  operations: [
    defineOperation("putTeam", putDeclared(teamKind), {
      description: `${REPLACE_DESCRIPTION}\n\nA name is unique across teams and SSO teams.`,
      replySchema: "Team",
      manifest: { $ref: refTo("TeamManifest") },
    }),
    defineOperation("listTeams", listTeams, { description: "Newest first.", replySchema: "Team" }),
    defineOperation("listOwnTeams", listOwnTeams, {
      description: "The teams of which the caller is a member or manager, newest first.",
      replySchema: "Team",
    }),
  ],
  references: [
    { kind: "team", existing: async (database, keys) => [everyoneTeam, ...(await namesOf(database, keys))] },
  ],
  seeds: { team: seedByDryRun("putTeam"), "sso-team": seedByDryRun("putTeam") },
  snapshot: [snapshotPart("team", { rows: "teams", operation: "putTeam", copy: copyDeclared(teamKind) })],
};

function otherType({ teamName, manifest }: Stored<Team>): Error {
  return conflict("name-taken", `the team "${teamName}" exists with the type ${text(manifest.type)}`);
}

function makeTeam(
  { manifest, existing, subject, createdAt, updatedAt }: ResourceInput<Stored<Team>>,
  newId: () => string,
): Stored<Team> {
  return {
    id: existing?.id ?? newId(),
    teamName: requiredName(manifest),
    description: text(manifest.description) ?? "",
    tenantName: tenant,
    accountId: tenant,
    createdBySubject: subject,
    createdAt,
    updatedAt,
    members: listedEmails(manifest, "members"),
    manifest,
  };
}

async function saveTeam(
  transaction: Transaction<Tables>,
  { id, teamName: name, createdAt, manifest }: Stored<Team>,
  json: JsonText<Stored<Team>>,
): Promise<void> {
  const issuer_group = issuerGroupOf(manifest);
  await upsertTeam(transaction, { id, created_at: createdAt, json, name, issuer_group });
  await transaction.deleteFrom("team_members").where("team", "=", name).execute();
  const people = [
    ...listedUsers(manifest, "members").map((member) => ({ team: name, member, position: "member" })),
    ...listedUsers(manifest, "managers").map((member) => ({ team: name, member, position: "manager" })),
  ];
  for (const part of chunks(people)) await transaction.insertInto("team_members").values(part).execute();
}
