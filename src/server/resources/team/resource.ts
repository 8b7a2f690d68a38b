import type { Kysely, Transaction } from "kysely";
import { text } from "../../../contract/json.ts";
import type { Team } from "../../../contract/resources.ts";
import { conflict } from "../../../http/http-error.ts";
import { checkSemantics } from "../../../schema/check-semantics.ts";
import { isTenantAdmin } from "../../auth/access.ts";
import { tenant } from "../../auth/principal.ts";
import { fromText, type JsonText } from "../../database/json-text.ts";
import { page } from "../../database/page.ts";
import type { Tables } from "../../database/tables.ts";
import type { Handler } from "../../http/call.ts";
import { serve } from "../../http/serve.ts";
import { type DeclaredKind, type Making, putDeclared } from "../../manifest/declared.ts";
import { nameOf } from "../../manifest/name.ts";
import { errorsOf } from "../../manifest/well-formed.ts";
import { refTo } from "../../openapi/schema.ts";
import { REPLACES } from "../../openapi/shared-text.ts";
import type { Resource } from "../../resource.ts";
import { seedByDryRun } from "../../seed/seeding.ts";
import { copyDeclared } from "../../snapshot/declared.ts";
import { partOf } from "../../snapshot/part.ts";
import { everyone, isManager, listed, teamsOf } from "./members.ts";

/** Teams, as they are declared. */
const teamKind: DeclaredKind<KeptTeam> = {
  operation: "putTeam",
  types: ["team", "sso-team"],
  identity: (manifest) => `team/${nameOf(manifest)}`,
  find: (database, manifest) => findTeam(database, nameOf(manifest)),
  noun: "team",
  mayWrite: (principal, manifest, database) =>
    isTenantAdmin(principal) || isManager(database, nameOf(manifest), principal.subject.subjectSlug),
  grantsOf: () => [],
  faults: async (_, manifest, existing) => {
    if (nameOf(manifest) === everyone) throw conflict("name-taken", "the team everyone exists always");
    if (existing !== null && existing.manifest.type !== manifest.type) throw otherType(existing);
    return errorsOf(checkSemantics(String(manifest.type), manifest));
  },
  stamps: ({ createdBySubject, createdAt }) => ({ subject: createdBySubject, createdAt }),
  make: makeTeam,
  save: saveTeam,
};

const putTeam: Handler<"putTeam"> = ({ principal, body }, context) => putDeclared(teamKind, principal, body, context);

const listTeams: Handler<"listTeams"> = async ({ principal, page: wanted }, { store }) => {
  const all = store.read.selectFrom("teams");
  const visible = isTenantAdmin(principal)
    ? all
    : all.where("name", "in", teamsOf(store.read, principal.subject.subjectSlug));
  return page(visible.select("json"), wanted);
};

const listOwnTeams: Handler<"listOwnTeams"> = async ({ principal, page: wanted }, { store }) => {
  const own = teamsOf(store.read, principal.subject.subjectSlug);
  return page(store.read.selectFrom("teams").where("name", "in", own).select("json"), wanted);
};

/** The operations on teams: 19, and the two routes of E6. */
export const resource: Resource = {
  section: { name: "Teams", description: "Teams of people that roles are given to." },
  operations: [
    serve("putTeam", putTeam, {
      description: `${REPLACES}\n\nA name is unique across teams and SSO teams.`,
      answers: "Team",
      manifest: { $ref: refTo("TeamManifest") },
    }),
    serve("listTeams", listTeams, { description: "Newest first.", answers: "Team" }),
    serve("listOwnTeams", listOwnTeams, {
      description: "The teams of which the caller is a member or manager, newest first.",
      answers: "Team",
    }),
  ],
  references: [{ kind: "team", existing: async (database, keys) => [everyone, ...(await namesOf(database, keys))] }],
  seeds: { team: seedByDryRun("putTeam"), "sso-team": seedByDryRun("putTeam") },
  snapshot: [partOf("team", { rows: "teams", operation: "putTeam", copy: copyDeclared(teamKind) })],
};

function otherType({ teamName, manifest }: KeptTeam): Error {
  return conflict("name-taken", `"${teamName}" is the name of a team of type ${text(manifest.type)} already`);
}

function makeTeam(
  { manifest, existing, subject, createdAt, updatedAt }: Making<KeptTeam>,
  newId: () => string,
): KeptTeam {
  return {
    id: existing?.id ?? newId(),
    teamName: nameOf(manifest),
    description: text(manifest.description) ?? "",
    tenantName: tenant,
    accountId: tenant,
    createdBySubject: subject,
    createdAt,
    updatedAt,
    members: listed(manifest, "members"),
    manifest,
  };
}

async function saveTeam(
  transaction: Transaction<Tables>,
  { id, teamName: name, createdAt, manifest }: KeptTeam,
  json: JsonText<KeptTeam>,
): Promise<void> {
  await transaction
    .insertInto("teams")
    .values({ id, created_at: createdAt, json, name })
    .onConflict((conflicting) => conflicting.column("id").doUpdateSet({ json }))
    .execute();
  await transaction.deleteFrom("team_members").where("team", "=", name).execute();
  const people = [
    ...listed(manifest, "members").map((member) => ({ team: name, member, position: "member" })),
    ...listed(manifest, "managers").map((member) => ({ team: name, member, position: "manager" })),
  ];
  // A statement takes a limited number of values.
  for (let at = 0; at < people.length; at += 500) {
    await transaction
      .insertInto("team_members")
      .values(people.slice(at, at + 500))
      .execute();
  }
}

/** A team that has an id. */
export type KeptTeam = Team & { readonly id: string };

/** The team of that name, visible or not. */
async function findTeam(database: Kysely<Tables>, name: string): Promise<KeptTeam | null> {
  const row = await database.selectFrom("teams").select(["id", "json"]).where("name", "=", name).executeTakeFirst();
  return row === undefined ? null : { ...fromText(row.json), id: row.id };
}

async function namesOf(database: Kysely<Tables>, keys: readonly string[]): Promise<readonly string[]> {
  const rows = await database.selectFrom("teams").select("name").where("name", "in", keys).execute();
  return rows.map(({ name }) => name);
}
