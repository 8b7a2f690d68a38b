import type { JsonObject } from "../../contract/json.ts";
import type { Lease, PersonalAccessToken, Subject, Team, VirtualAccount } from "../../contract/resources.ts";
import { accountId, camelOwner, stamps, tenantName } from "./common-resources.ts";
import { boolean, free, id, integer, list, moment, named, nullable, object, oneOfMany, text } from "./form.ts";

type Jwt = VirtualAccount["jwts"][number];

/** A virtual account or a personal access token. */
export const virtualAccount = object<VirtualAccount>("An account of a machine, or a person's access token", {
  id: nullable(id("account; null in the rehearsal of a new one")),
  name: text("Name of the account or token", "ci"),
  type: oneOfMany("Which of the two it is", ["virtual-account", "personal-access-token"]),
  tenantName,
  jwtId: nullable(id("newest JWT")),
  accountId,
  nextScheduledRotation: nullable(moment("When the token is replaced next")),
  manifest: named<JsonObject>("AccountManifest", "What was declared, defaults included"),
  isExpired: boolean("Whether its last valid day is over", false),
  jwts: list(
    "The tokens that were given out and are still known, never the tokens themselves",
    object<Jwt>("One token", {
      id: id("JWT"),
      subjectType: text("What holds it", "virtualaccount"),
      subjectId: id("holder"),
      metadata: free("Facts about it", {}),
      expiry: nullable(moment("When it ends")),
      ...stamps,
    }),
  ),
  metadata: free("Facts about the account", {}),
  ...camelOwner,
  ...stamps,
});

/** A personal access token as a list shows it. */
export const personalAccessToken = object<PersonalAccessToken>("A personal access token, without the token itself", {
  id: id("token"),
  name: text("Name of the token, unique among its owner's", "laptop"),
  subject: text("Whose it is", "user:ada@example.com"),
  createdAt: moment("When it was made"),
  createdWith: nullable(
    text("The credential that made it: `user-token/…`, `jwt/…` or `personal-access-token/…`; null if unknown", "jwt/1"),
  ),
  lastUsedAt: nullable(moment("When it was last used, to within ten minutes; null if it never was")),
  expiry: nullable(moment("When it ends with the credential that it goes back to, as far as that is known")),
});

/** A team. */
export const team = object<Team>("A team of people", {
  id: nullable(id("team; null in the rehearsal of a new one")),
  teamName: text("Name, unique in the tenant", "ml-platform"),
  description: nullable(text("What the team is for", "Runs the platform")),
  tenantName,
  accountId,
  createdBySubject: named<Subject>("Subject", "Who made it"),
  members: list("E-mails of its members", text("An e-mail address", "ada@example.com")),
  manifest: named<JsonObject>("TeamManifest", "What was declared, defaults included"),
  ...stamps,
});

/** A lease. */
export const lease = object<Lease>("The right to be the one writer of a scope, for a while", {
  scope: text("What the lease is for", "prod-eu:ranking"),
  holder: text("Who holds it", "holdfast-0"),
  fencingToken: integer("Number to send as `X-Fencing-Token`; a later holder, of whatever scope, has a higher one", 7, {
    minimum: 0,
  }),
  expiresAt: moment("When it ends unless renewed"),
});
