import type { LastWrite } from "../contract/generated/output.ts";
import { shapes } from "../contract/generated/shapes.ts";
import { isObject, type JsonObject } from "../contract/json.ts";
import type { Shape } from "../contract/manifest-shape.ts";
import type { DryRunOperation, GetOperation, ListOperation, Replies, WriteOperation } from "../contract/operations.ts";
import type { Secret } from "../contract/secret.ts";
import type { Hardware } from "./hardware.ts";
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
  /** When this version, or the resource itself, was created. */
  readonly createdAt?: string;
  /** The id of the subject that created this version. */
  readonly createdBy?: string;
  /** The same subject as reports show it: `virtualaccount:ci-deployer`. */
  readonly author?: string;
  /** When it was disabled for good: it cannot be written any more. */
  readonly disabledAt?: string;
  /** By name: where the secret that has a value is found, and when its newest version was made. */
  readonly secrets?: ReadonlyMap<string, { readonly id: string; readonly changedAt: string | null }>;
  /** The newest deployment's status, where the kind rolls out. */
  readonly status?: { readonly status: string; readonly state?: unknown; readonly createdAt?: string } | null;
};

/**
 * The subject and time of the last write, for reports; null when the control plane does not report them. A resource without
 * versions shows only who created it, so that the subject of a later change is null.
 */
export function writerIn({ version, stamp, createdBy, author = createdBy, createdAt }: LiveRow): {
  readonly changedBy: LastWrite;
} | null {
  if (author === undefined) return null;
  if (version !== undefined || stamp === createdAt)
    return { changedBy: { subject: author, subjectId: createdBy ?? null, at: createdAt ?? null } };
  return stamp === null ? null : { changedBy: { subject: null, subjectId: null, at: stamp } };
}

/** A list that shows many resources of the kind at once. */
export type ListReading = {
  readonly operation: ListOperation;
  readonly query?: { readonly [name: string]: string };
  /** The query that narrows the list to (at least) one resource, where the operation has such a filter. */
  readonly narrow?: (key: string) => { readonly [name: string]: string };
  /** The query that narrows the list to the resources whose keys begin so; null where the operation has none for it. */
  readonly within?: (beginning: string) => { readonly [name: string]: string } | null;
  /** Reads one row; null when the row is not of this kind. */
  readonly row: (row: never) => LiveRow | null;
  /**
   * Reads key and type of any row, when the list without `query` shows the other kinds that share names with this one.
   */
  readonly anyKind?: (row: never) => { readonly key: string; readonly type: string };
};

/** How one resource is read when no list exists: by an id that is guessed, recorded, or returned by a dry run. */
export type SingleReading = {
  readonly operation: GetOperation | ListOperation;
  /** An id derived from the manifest alone (on some servers a cluster's name is its id). */
  readonly guessId?: (key: string) => string;
  /** The id in the reply of a dry run or a write; null when the resource does not exist yet. */
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
  /** Only creates: on a resource that exists, it is refused and changes nothing. */
  readonly createsOnly?: true;
  /** Whether it can write everything that this manifest declares. @default it always can */
  readonly covers?: (manifest: JsonObject) => boolean;
  /** The request, where it is not the manifest alone; `open` gives the value that a stand-in is for. */
  readonly body?: (manifest: JsonObject, open: (standIn: string) => Secret | null) => JsonObject;
  /**
   * `registers`: on some servers the operation (`postModelVersion`) is known to do something else. It is used only if
   * the control plane is known to register versions with it, or if the name has no version that it could harm.
   */
  readonly caution?: "registers";
};

/**
 * A list of named values that live never shows: a manifest names where each one is, and what is compared is a stand-in. The
 * list has a key in the shape of its kind.
 */
export type ReferencedValues = {
  /** The field with the list. */
  readonly list: string;
  /** The field of an item with its name. */
  readonly name: string;
  /** The field of an item with the reference. */
  readonly value: string;
};

/** A token that a schedule replaces, as live shows it. */
export type ScheduledToken = {
  /** The key part of the identity. */
  readonly key: string;
  /** Identifies the token. */
  readonly tokenId: string;
  /** When it is to be replaced, in epoch milliseconds. */
  readonly dueAt: number;
  readonly manifest: JsonObject;
};

/** How the one-time token of a resource is replaced. */
export type TokenRotation = {
  /** Answers a new token; the former one stays valid for some time. */
  readonly operation: WriteOperation;
  readonly path: (key: string) => { readonly [name: string]: string };
  readonly list: ListOperation;
  /** Reads one row; null when it has no token that is ours to replace. */
  readonly row: (row: never) => ScheduledToken | null;
};

/** How a manifest names files on this machine, which are uploaded before it is written. */
export type FileUpload = {
  /** The path that the manifest names, empty where it names none; null if its files are elsewhere. */
  readonly path: (manifest: JsonObject) => string | null;
  /** The digest of its files that a written manifest has; null without one. */
  readonly digestIn: (manifest: JsonObject) => string | null;
  readonly withDigest: (manifest: JsonObject, digest: string) => JsonObject;
  /** The source of a written manifest, whose files are stored; null if it has none. */
  readonly storedIn: (manifest: JsonObject) => JsonObject | null;
  readonly withStored: (manifest: JsonObject, source: JsonObject) => JsonObject;
  /** The source of files under a storage root. */
  readonly storedAt: (root: string) => JsonObject;
  /** What is staged: the manifest without its files. */
  readonly toStage: (manifest: JsonObject) => JsonObject;
};

/**
 * A kind of manifest: its names, and its capabilities on a control plane, with the reason where one is missing. It
 * consists of data and pure functions.
 */
export type Kind = {
  /** The manifest's `type`, also the first part of its identities. */
  readonly type: string;
  /** How its manifests are compared, masked and filled with defaults; from its schema. */
  readonly shape: Shape;
  /** Other `type` values that declare the same kind. */
  readonly aliases?: readonly string[];
  /** Kinds with the same value share a namespace: a key names one resource across all of them. */
  readonly sharesNames?: string;
  /** A manifest that names no `workspace_fqn` gets the default one. */
  readonly takesWorkspace?: true;
  /** The key part of the identity, without a version. */
  readonly key: (manifest: JsonObject) => string;
  /** The workspace, cluster or repo that contains it; left out where that is the tenant. */
  readonly parent?: (key: string) => Identity;
  /** The workspace, repo or cluster under which reports group it; null for the whole tenant. */
  readonly group: (key: string) => string | null;
  /** Where an import writes it: folders, and the name of the file; left out for a folder named after the kind. */
  readonly place?: (key: string) => readonly string[];
  readonly list?: ListReading;
  readonly single?: SingleReading;
  /** Why it cannot be read where a control plane has only the documented operations. */
  readonly cannotRead?: string;
  /** Why it cannot be written where a control plane has only the documented operations. */
  readonly cannotWrite?: string;
  /** Why what exists of it cannot be changed where a control plane has only the documented operations. */
  readonly cannotUpdate?: string;
  /** In order of preference: the first route that the server has and its caution allows is used. */
  readonly writeRoutes: readonly WriteRoute[];
  /** A name has numbered versions (prompts, models), whose content never changes. */
  readonly hasVersions?: true;
  /** Its registered versions may have metrics, which gates read. */
  readonly hasMetrics?: true;
  /** Its manifests may name files on this machine. */
  readonly upload?: FileUpload;
  /** Its writes start a rollout, which `--wait` follows through `listDeployments`. */
  readonly rollsOut?: true;
  /** It has runs, which `holdfast runs` shows. */
  readonly hasRuns?: true;
  /**
   * Whether a version of this manifest starts a run once it is deployed (`triggerOnDeploy`), which `--wait` follows
   * too.
   */
  readonly startsRun?: (manifest: JsonObject) => boolean;
  /** What it reserves while it runs; left out for kinds that reserve nothing all the time. */
  readonly hardware?: (manifest: JsonObject) => Hardware;
  /** Whether creating it returns a one-time token. */
  readonly issuesToken?: (manifest: JsonObject) => boolean;
  /** How that token is replaced where the manifest has a schedule for it. */
  readonly rotation?: TokenRotation;
  /** Values that its manifests name by reference, and that live never shows. */
  readonly values?: ReferencedValues;
  /** Roles on one resource do not show it: only those on the tenant do. */
  readonly isShownByTenant?: true;
};

/** A kind as its file declares it: its functions take manifests typed by their schema. */
export type KindFor<Declared> = Omit<Kind, "shape" | "key" | "issuesToken" | "startsRun"> & {
  readonly key: (manifest: Declared) => string;
  readonly issuesToken?: (manifest: Declared) => boolean;
  readonly startsRun?: (manifest: Declared) => boolean;
};

/** Defines a kind. Callers pass its manifests as plain objects that were validated against its schema. */
export function defineKind<Declared>(kind: KindFor<Declared>): Kind {
  const shape = shapes[kind.type];
  if (shape === undefined) throw new TypeError(`no shape ${kind.type}`);
  return { ...kind, shape } as unknown as Kind;
}

/** Kinds by the types that declare them, aliases included. */
export type Kinds = ReadonlyMap<string, Kind>;

/** The kind of a type; a `TypeError` where there is none. */
export function requireKind(kinds: Kinds, type: string): Kind {
  const kind = kinds.get(type);
  if (kind === undefined) throw new TypeError(`no kind ${type}`);
  return kind;
}

/** The kind of a resource, from the first part of its identity. */
export function kindIn(kinds: Kinds, identity: Identity): Kind | undefined {
  return kinds.get(splitIdentity(identity).kind);
}

/** The workspace, repo or cluster that reports group a resource under; null for the whole tenant. */
export function groupOf({ identity }: { readonly identity: Identity }, kinds: Kinds): string | null {
  return kindIn(kinds, identity)?.group(splitIdentity(identity).key) ?? null;
}

/** The workspace, cluster or repo that contains a resource, by its identity alone; null for the tenant. */
export function parentOf(identity: Identity, kinds: Kinds): Identity | null {
  return kindIn(kinds, identity)?.parent?.(splitIdentity(identity).key) ?? null;
}

/** A row reader, typed by the reply of its operation. */
export type RowOf<Name extends keyof Replies> = (reply: Replies[Name]) => LiveRow | null;

/** Reads a reply with one of a kind's row readers. Throws a `TypeError` when the reply lacks a required field. */
export function readRow({ row }: { readonly row: (reply: never) => LiveRow | null }, reply: unknown): LiveRow | null {
  if (!isObject(reply)) throw new TypeError("the reply is not an object");
  const found = row(reply as never);
  if (found !== null && !isObject(found.manifest)) throw new TypeError("the reply carries no manifest");
  return found;
}

/** Reads a reply as `readRow` does; null where it lacks what a row needs. */
export function tryReadRow(reading: Parameters<typeof readRow>[0], reply: unknown): LiveRow | null {
  try {
    return readRow(reading, reply);
  } catch {
    return null;
  }
}
