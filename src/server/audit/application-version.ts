import { hash } from "node:crypto";
import type { Kysely } from "kysely";
import type { JsonObject } from "../../contract/json.ts";
import { preparedQuery } from "../../store/prepared-query.ts";
import { fromText } from "../database/json-text.ts";
import type { Tables } from "../database/tables.ts";

/** A version of an application that a row is about: versions stay, so what it changed is found as the row is read. */
export type ApplicationVersion = {
  /** The id of the application. */
  readonly application: string;
  readonly version: number;
  /** SHA-256 of the manifest, as base64url: the chain of rows covers it by this. */
  readonly manifestHash: string;
};

/** The hash of a manifest in a row. */
export function manifestHash(manifest: JsonObject): string {
  return hash("sha256", JSON.stringify(manifest), "base64url");
}

type Named = Pick<ApplicationVersion, "application" | "version">;

const byVersion = preparedQuery((database: Kysely<Tables>, { application, version }: Named) =>
  database
    .selectFrom("deployments")
    .select("json")
    .where("application_id", "=", application)
    .where("version", "=", version),
);

/** The manifest of a version; null where it is not there. */
export async function manifestOfVersion(
  database: Kysely<Tables>,
  { application, version }: Named,
): Promise<JsonObject | null> {
  const [row] = await byVersion(database, { application, version });
  return row === undefined ? null : fromText(row.json).manifest;
}

/** The manifest of a version as it was written; null where it is not there, or is another one now. */
export async function writtenManifest(database: Kysely<Tables>, named: ApplicationVersion): Promise<JsonObject | null> {
  const found = await manifestOfVersion(database, named);
  return found !== null && manifestHash(found) === named.manifestHash ? found : null;
}

/** The version that the details of a row name; null where they name none, or nothing that can be looked up. */
export function versionIn(details: string): ApplicationVersion | null {
  // Most rows name none, and a row whose link cannot be checked may have any text here.
  if (!details.includes('"made"')) return null;
  try {
    const { application, version, manifestHash: written } = JSON.parse(details).made;
    const isNamed = typeof application === "string" && Number.isSafeInteger(version) && typeof written === "string";
    return isNamed ? { application, version, manifestHash: written } : null;
  } catch {
    return null;
  }
}
