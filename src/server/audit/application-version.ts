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

const versions = preparedQuery(
  (
    database: Kysely<Tables>,
    { application, from, to }: { readonly application: string; readonly from: number; readonly to: number },
  ) =>
    database
      .selectFrom("deployments")
      .select(["version", "json"])
      .where("application_id", "=", application)
      .where("version", "in", [from, to]),
);

/** The manifests of a version and of the one before; null for one that is not there. */
export async function manifestsOf(
  database: Kysely<Tables>,
  { application, version }: ApplicationVersion,
): Promise<{ readonly before: JsonObject | null; readonly after: JsonObject | null }> {
  const rows = await versions(database, { application, from: version - 1, to: version });
  const manifestOf = (one: number): JsonObject | null => {
    const row = rows.find((candidate) => Number(candidate.version) === one);
    return row === undefined ? null : fromText(row.json).manifest;
  };
  return { before: manifestOf(version - 1), after: manifestOf(version) };
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

/** Whether a version has the manifest that was written. */
export async function isAsWritten(database: Kysely<Tables>, named: ApplicationVersion): Promise<boolean> {
  const { after } = await manifestsOf(database, named);
  return after !== null && manifestHash(after) === named.manifestHash;
}
