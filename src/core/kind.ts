import type { LastWrite } from "../contract/generated/output.ts";
import { isObject, type JsonObject } from "../contract/json.ts";
import type { DryRunOperation, GetOperation, ListOperation, Replies, WriteOperation } from "../contract/operations.ts";
import { type Identity, splitIdentity } from "./manifest.ts";

/** One live resource, read from any reply that carries it. */
export type LiveRow = {
  /** The key part of the identity, without a version. */
  readonly key: string;
  readonly id: string | null;
  readonly manifest: JsonObject;
  /** Version number, where the kind has versions. */
  readonly version?: number;
  /** Changes whenever the resource does: `updatedAt`, or the deployment's id. */
  readonly stamp: string | null;
  /** When this version, or the resource itself, was made. */
  readonly createdAt?: string;
  /** The subject that made this version. */
  readonly createdBy?: string;
  /** The newest deployment's status, where the kind rolls out. */
  readonly status?: { readonly status: string; readonly state?: unknown } | null;
};

/** Who wrote what is live, and when, as reports say it; null where the control plane does not tell. */
export function writerIn({ createdBy, createdAt }: LiveRow): { readonly changedBy: LastWrite } | null {
  return createdBy === undefined ? null : { changedBy: { subject: createdBy, at: createdAt ?? null } };
}

/** A list that shows many resources of the kind at once. */
export type ListReading = {
  readonly operation: ListOperation;
  readonly query?: { readonly [name: string]: string };
  /** The query that narrows the list to (at least) one resource, where the operation has such a filter. */
  readonly narrow?: (key: string) => { readonly [name: string]: string };
  /** Reads one row; null when the row is not of this kind. */
  readonly row: (row: never) => LiveRow | null;
  /** Reads key and type of any row, where the list without `query` shows the other kinds that share names with this one. */
  readonly anyKind?: (row: never) => { readonly key: string; readonly type: string };
};

/** How one resource is read when there is no list: by an id that is guessed, remembered, or answered by a dryRun. */
export type SingleReading = {
  readonly operation: GetOperation | ListOperation;
  /** An id that the manifest alone suggests (a cluster's name is its id on some servers). */
  readonly guessId?: (key: string) => string;
  /** The id in a dryRun's reply, or in a write's; null when the resource does not exist yet. */
  readonly idFrom: (reply: never) => string | null;
  readonly row: (reply: never) => LiveRow | null;
};

/** One way to write the kind. */
export type WriteRoute = {
  readonly operation: WriteOperation;
  /** The same call as a dry run, where the operation has `dryRun`. */
  readonly dryRun?: DryRunOperation;
  /** Reads the reply of the write or of its dry run; null when the reply does not carry the resource. */
  readonly row: (reply: never) => LiveRow | null;
  /**
   * `registers`: the operation is known to do something else on some servers (`postModelVersion`), so it is used only where
   * the control plane is known to register versions with it, or no version of the name exists that it could harm.
   */
  readonly caution?: "registers";
};

/**
 * A kind of manifest: what it is called, and what a control plane can do with it. Data and pure
 * functions; a missing member is a missing capability.
 */
export type Kind = {
  /** The manifest's `type`, also the first part of its identities. */
  readonly type: string;
  /** Other `type` values that declare the same kind. */
  readonly aliases?: readonly string[];
  /** Kinds with the same word here share their names: a key is that of one resource, of whatever kind. */
  readonly sharesNames?: string;
  /** A manifest that names no `workspace_fqn` gets the default one. */
  readonly takesWorkspace?: true;
  /** The key part of the identity, without a version. */
  readonly key: (manifest: JsonObject) => string;
  /** The workspace, repo or cluster under which reports group it; null for the whole tenant. */
  readonly group: (key: string) => string | null;
  readonly list?: ListReading;
  readonly single?: SingleReading;
  /** In order of preference; the first that the server has and that its caution allows is used. */
  readonly writeRoutes: readonly WriteRoute[];
  /** There are numbered versions under one name (prompts, models), whose content never changes. */
  readonly hasVersions?: true;
  /** The manifest names files on this machine, which would have to be uploaded first. */
  readonly needsUpload?: (manifest: JsonObject) => boolean;
  /** Its writes start a rollout, which `--wait` follows through `listDeployments`. */
  readonly rollsOut?: true;
  /** A version of this manifest starts a run once it is deployed (`triggerOnDeploy`), which `--wait` follows too. */
  readonly startsRun?: (manifest: JsonObject) => boolean;
  /** Its creation answers a one-time token. */
  readonly issuesToken?: (manifest: JsonObject) => boolean;
};

/** A kind as its file writes it: its own functions see manifests typed by the schema that they have passed. */
export type KindFor<Declared> = Omit<Kind, "key" | "issuesToken" | "needsUpload" | "startsRun"> & {
  readonly key: (manifest: Declared) => string;
  readonly issuesToken?: (manifest: Declared) => boolean;
  readonly needsUpload?: (manifest: Declared) => boolean;
  readonly startsRun?: (manifest: Declared) => boolean;
};

/** Defines a kind; from here on its manifests are plain objects that have passed its schema. */
export function defineKind<Declared>(kind: KindFor<Declared>): Kind {
  return kind as unknown as Kind;
}

/** The workspace, repo or cluster that a resource is shown under; null for the whole tenant. */
export function groupOf(
  { identity }: { readonly identity: Identity },
  kindOf: (type: string) => Kind | undefined,
): string | null {
  const { kind, key } = splitIdentity(identity);
  return kindOf(kind)?.group(key) ?? null;
}

/** Types the row readers of a kind by the reply of the operation they belong to. */
export type RowOf<Name extends keyof Replies> = (reply: Replies[Name]) => LiveRow | null;

/** Reads a reply with one of a kind's row readers; throws a `TypeError` where it lacks what a row needs. */
export function readRow({ row }: { readonly row: (reply: never) => LiveRow | null }, reply: unknown): LiveRow | null {
  if (!isObject(reply)) throw new TypeError("the reply is not an object");
  const found = row(reply as never);
  if (found !== null && !isObject(found.manifest)) throw new TypeError("the reply carries no manifest");
  return found;
}
