import { type Kysely, sql, type Transaction } from "kysely";
import { conflict, HttpError } from "../../../http/http-error.ts";
import { isAllowed } from "../../auth/access.ts";
import { userPrincipal } from "../../auth/authenticate.ts";
import type { Principal } from "../../auth/principal.ts";
import { type Context, timestamp } from "../../context.ts";
import { recordEffect } from "../../database/audit.ts";
import type { Tables } from "../../database/tables.ts";
import type { PageRequest } from "../../http/operation-call.ts";
import { repoTarget } from "../ml-repo.ts";
import { isStillValid } from "../personal-access-token/rows.ts";
import { accountPrincipal, accountSubjectType } from "../virtual-account/authenticate-account.ts";
import type { StagedPath } from "./file-path.ts";

declare module "../../database/tables.ts" {
  interface Tables {
    /** Stages whose files go through the server. */
    readonly file_stages: {
      readonly stage_id: string;
      /** When its signed address expires, in epoch milliseconds. */
      readonly expires_at: number;
      /** Whether it takes files: 1 until it is registered or has failed. */
      readonly is_open: number;
      /** Whether nothing is left to delete: 0 until that has been seen after its end. */
      readonly is_swept: number;
      /** Who staged it, and with which credential, without which its address is not valid either. */
      readonly owner_type: string;
      readonly owner_id: string;
      readonly credential: string;
      readonly made_with: string;
      readonly files: number;
      readonly bytes: number;
    };
    /** The files of such stages, and the folders on the way to them, whose `file` is null. */
    readonly staged_files: {
      readonly stage_id: string;
      readonly key: string;
      readonly path: string;
      /** Its name in the folder of the stage. */
      readonly file: string | null;
      readonly size: number;
      /** SHA-256 in hexadecimal. */
      readonly digest: string;
      readonly created_at: string;
    };
  }
}

/** The most files of one stage. */
const MAX_FILES = 10_000;

/** A file that was received and is not known to anybody yet. */
export type ReceivedFile = { readonly file: string; readonly size: number; readonly digest: string };

/** A file of a stage. */
export type StoredFile = Tables["staged_files"] & { readonly file: string };

/** A stage whose files go through the server, and where it belongs. */
export type FileStage = Tables["file_stages"] & {
  readonly state: string;
  readonly repo: string;
  readonly staged_at: string;
};

/** The stage of that id, visible or not; null where its files do not go through the server. */
export async function findFileStage(database: Kysely<Tables>, id: string): Promise<FileStage | null> {
  const row = await database
    .selectFrom("file_stages")
    .innerJoin("stages", "stages.id", "file_stages.stage_id")
    .innerJoin("ml_repos", "ml_repos.id", "stages.ml_repo_id")
    .selectAll("file_stages")
    .select(["stages.state", "stages.created_at as staged_at", "ml_repos.name as repo"])
    .where("stage_id", "=", id)
    .executeTakeFirst();
  return row ?? null;
}

/** Records a stage of this caller that takes files until then. */
export async function insertFileStage(
  transaction: Transaction<Tables>,
  stageId: string,
  expiresAt: number,
  { subject, credential }: Principal,
): Promise<void> {
  await transaction
    .insertInto("file_stages")
    .values({
      stage_id: stageId,
      expires_at: expiresAt,
      is_open: 1,
      is_swept: 0,
      owner_type: subject.subjectType,
      owner_id: subject.subjectId,
      credential: credential?.root ?? "",
      made_with: credential?.name ?? "",
      files: 0,
      bytes: 0,
    })
    .execute();
}

/** Who staged it; null when that caller, or the credential that it used, is not valid any more. */
export async function stagePrincipal(stage: FileStage, context: Context): Promise<Principal | null> {
  const { owner_type: type, owner_id: id, credential: root, made_with: name } = stage;
  const used = { owner: id, root, name, at: Date.parse(stage.staged_at) };
  if (!(await isStillValid(context.store.read, used, context.clock.now()))) return null;
  const find = type === accountSubjectType ? accountPrincipal : userPrincipal;
  return find(id, { root, name }, context);
}

/** Ends the upload of files to a stage, if it takes any. */
export async function closeFileStage(transaction: Transaction<Tables>, stageId: string): Promise<void> {
  await transaction.updateTable("file_stages").set({ is_open: 0 }).where("stage_id", "=", stageId).execute();
}

/** The refusal of files for a stage that has ended; null for one that takes them. */
export function refusalOfStage({ state, is_open: isOpen }: FileStage): HttpError | null {
  if (state === "registered") return conflict("stage-registered", "this stage is registered as a version already");
  if (state === "failed" || Number(isOpen) === 0) {
    return conflict("stage-failed", "this stage failed and takes no files: stage the version again");
  }
  return null;
}

/** Refuses what a stage has no room for; `replaced` is the file of that path. */
export function requireRoom(stage: FileStage, size: number, replaced: StoredFile | null, maxBytes: number): void {
  const bytes = Number(stage.bytes) - Number(replaced?.size ?? 0) + size;
  if (bytes > maxBytes) {
    throw new HttpError(413, "stage-too-large", `the files of a stage have at most ${maxBytes} bytes together`);
  }
  if (replaced === null && Number(stage.files) >= MAX_FILES) {
    throw new HttpError(413, "stage-too-large", `a stage has at most ${MAX_FILES} files`);
  }
}

/** The file of a path; null when there is none. */
export async function fileAt(
  database: Kysely<Tables>,
  stageId: string,
  { key, path }: StagedPath,
): Promise<StoredFile | null> {
  const row = await rowAt(database, stageId, key);
  return row === null || row.file === null || row.path !== path ? null : { ...row, file: row.file };
}

/** The file that one at this path replaces; null when there is none. 409 when the path is that of a folder, or differs from another by case alone. */
export async function findReplaced(
  database: Kysely<Tables>,
  stageId: string,
  { key, path }: StagedPath,
): Promise<StoredFile | null> {
  const row = await rowAt(database, stageId, key);
  if (row === null) return null;
  if (row.file === null || row.path !== path) throw taken(row.path);
  return { ...row, file: row.file };
}

/** A page of the files of a stage by their paths, and how many there are. */
export async function listFiles(
  database: Kysely<Tables>,
  { stage_id: id, files }: FileStage,
  { limit, offset }: PageRequest,
): Promise<{ readonly rows: readonly Tables["staged_files"][]; readonly total: number }> {
  const rows = await database
    .selectFrom("staged_files")
    .selectAll()
    .where("stage_id", "=", id)
    .where("file", "is not", null)
    .orderBy("key")
    .limit(limit)
    .offset(offset)
    .execute();
  return { rows, total: Number(files) };
}

/**
 * Makes a received file the one of its path, in the transaction of its audit row. Returns the file in the folder that is not
 * needed any more: of what was there before, or the received one where both are equal; null where there is none.
 */
export async function storeFile(
  transaction: Transaction<Tables>,
  { id, path, received }: { readonly id: string; readonly path: StagedPath; readonly received: ReceivedFile },
  principal: Principal,
  context: Context,
): Promise<string | null> {
  // First of all, so that several uploads to a stage, and what ends it, follow each other.
  await transaction.updateTable("file_stages").set({ files: sql<number>`files` }).where("stage_id", "=", id).execute();
  const stage = await findFileStage(transaction, id);
  const refusal = stage === null ? gone() : refusalOfStage(stage);
  if (stage === null || refusal !== null) throw refusal ?? gone();
  if (!isAllowed(principal, "write", repoTarget(stage.repo))) throw gone();
  if (Number(stage.expires_at) <= context.clock.now()) throw gone();
  const before = await findReplaced(transaction, id, path);
  if (before?.digest === received.digest && Number(before.size) === received.size) return received.file;
  requireRoom(stage, received.size, before, context.stagedFiles.maxBytes);
  await insertFolders(transaction, id, path, context);
  const values = { path: path.path, ...received, created_at: timestamp(context) };
  await transaction
    .insertInto("staged_files")
    .values({ stage_id: id, key: path.key, ...values })
    .onConflict((conflicting) => conflicting.columns(["stage_id", "key"]).doUpdateSet(values))
    .execute();
  const files = Number(stage.files) + (before === null ? 1 : 0);
  const bytes = Number(stage.bytes) - Number(before?.size ?? 0) + received.size;
  await transaction.updateTable("file_stages").set({ files, bytes }).where("stage_id", "=", id).execute();
  const resource = `stage/${id}/${path.path}`;
  await recordEffect(transaction, context, { principal, operation: "putStagedFile", resource });
  return before?.file ?? null;
}

/** The size of all files together. */
export async function countStagedBytes(database: Kysely<Tables>): Promise<number> {
  const { bytes } = await database
    .selectFrom("file_stages")
    .select(({ fn }) => fn.sum("bytes").as("bytes"))
    .executeTakeFirstOrThrow();
  return Number(bytes ?? 0);
}

/** 403 for every signed address that opens nothing, whatever the reason is. */
export function gone(): HttpError {
  return new HttpError(403, "forbidden", "this address is not valid, or not any more: stage the version again");
}

async function insertFolders(
  transaction: Transaction<Tables>,
  id: string,
  { folders }: StagedPath,
  context: Context,
): Promise<void> {
  for (const { key, path } of folders) {
    const row = await rowAt(transaction, id, key);
    if (row !== null && (row.file !== null || row.path !== path)) throw taken(row.path);
    if (row !== null) continue;
    const folder = { stage_id: id, key, path, file: null, size: 0, digest: "", created_at: timestamp(context) };
    await transaction.insertInto("staged_files").values(folder).execute();
  }
}

async function rowAt(database: Kysely<Tables>, id: string, key: string): Promise<Tables["staged_files"] | null> {
  const row = await database
    .selectFrom("staged_files")
    .selectAll()
    .where("stage_id", "=", id)
    .where("key", "=", key)
    .executeTakeFirst();
  return row ?? null;
}

function taken(path: string): HttpError {
  return conflict("path-taken", `the stage has ${JSON.stringify(path)}, which a file system may take for this path`);
}
