// biome-ignore-all lint/plugin: a key must not be foreseen
import { createHmac, randomBytes } from "node:crypto";
import { isObject, type Json, type JsonObject, text } from "../../contract/json.ts";
import { HoldfastError } from "../../core/errors.ts";
import { type Digest, pseudonymiseManifest, pseudonymiseName } from "../../core/redact/pseudonymise-manifest.ts";
import { kindOf } from "../../kinds/index.ts";
import { jsonText } from "../../render/escape.ts";
import type { Snapshot } from "../../server/snapshot/snapshot-part.ts";
import { readJsonFile } from "../input/read-json-file.ts";
import type { ReadSnapshot } from "./take-snapshot.ts";

const FORMAT = "1.0";
const MAX_BYTES = 256 * 1024 * 1024;

/** Fields of a row that are names, versions or states; all other fields are left out. */
const FIELDS = new Set([
  ...["id", "fqn", "name", "type", "key", "version", "status", "createdAt", "updatedAt", "created_at", "updated_at"],
  ...["workspaceFqn", "workspace_fqn", "lifecycleStage", "activeDeploymentId", "integrationId"],
  ...["application", "deployments", "currentStatus", "associatedSecrets"],
]);

/** A snapshot as a file: names, references, versions and typed fields. Digests under a discarded key replace all other values. */
export function snapshotFile({ snapshot, unseen }: ReadSnapshot, isShown: (identity: string) => boolean): string {
  const key = randomBytes(32);
  const digest: Digest = (value) => createHmac("sha256", key).update(value).digest("hex").slice(0, 24);
  const rows = Object.entries(snapshot).map(([name, all]) => {
    const shown = all.filter((row) => isShown(identityOf(row)));
    return [name, shown.map((row) => projected(row, digest))];
  });
  return jsonText({ holdfast_snapshot: FORMAT, unseen, snapshot: Object.fromEntries(rows) });
}

/** Reads a snapshot file. */
export function readSnapshotFile(path: string): ReadSnapshot {
  const refuse = (why: string, cause?: unknown): HoldfastError => {
    const hint = "name a file that holdfast snapshot --out wrote";
    return new HoldfastError(
      "invalid",
      `${path} cannot be used as a snapshot: ${why}`,
      cause === undefined ? { hint } : { hint, cause },
    );
  };
  const file = readJsonFile(path, MAX_BYTES, refuse);
  if (!isObject(file) || file.holdfast_snapshot !== FORMAT || !isObject(file.snapshot)) {
    throw refuse(`it is not in the format ${FORMAT}`);
  }
  const { snapshot, unseen } = file;
  if (!Object.values(snapshot).every((rows) => Array.isArray(rows) && rows.every(isObject)))
    throw refuse("its rows are not objects");
  return {
    snapshot: snapshot as unknown as Snapshot,
    unseen: Array.isArray(unseen) ? unseen.filter((one) => typeof one === "string") : [],
  };
}

/** The identity of a row; for an application, that of its newest deployment. Empty if the row has no manifest. */
function identityOf(row: JsonObject): string {
  const { application, deployments, manifest } = row;
  if (isObject(application)) {
    const [first] = Array.isArray(deployments) ? deployments : [];
    return isObject(first) ? identityOf(first) : "";
  }
  const kind = isObject(manifest) ? kindOf(text(manifest.type) ?? "") : undefined;
  return kind === undefined || !isObject(manifest) ? "" : `${kind.type}/${kind.key(manifest)}`;
}

function projected(row: JsonObject, digest: Digest): JsonObject {
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, value]): [string, Json][] => {
      if (name === "manifest" && isObject(value)) return [[name, manifestOf(value, digest)]];
      return FIELDS.has(name) ? [[name, field(value, digest)]] : [];
    }),
  );
}

function field(value: Json, digest: Digest): Json {
  if (typeof value === "string") return pseudonymiseName(value, digest);
  if (Array.isArray(value)) return value.map((item: Json) => field(item, digest));
  return isObject(value) ? projected(value, digest) : value;
}

function manifestOf(manifest: JsonObject, digest: Digest): JsonObject {
  const kind = kindOf(text(manifest.type) ?? "");
  // An unknown type has no known fields.
  return pseudonymiseManifest(kind === undefined ? { is: "object", fields: {} } : kind.shape, manifest, digest);
}
