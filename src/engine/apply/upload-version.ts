import { TransferError } from "../../client/transfer.ts";
import { errorMessage } from "../../contract/error-message.ts";
import { isObject, type JsonObject, parseJsonOrNull, text } from "../../contract/json.ts";
import { withoutSignature } from "../../contract/staged-files.ts";
import type { FileUpload } from "../../core/kind.ts";
import type { Identity } from "../../core/manifest.ts";
import type { OutcomeError } from "../../core/report/report.ts";
import { kindOf } from "../../kinds/index.ts";
import type { Intent, PendingIntent } from "../../state/ledger.ts";
import { FilesError } from "../model-files/files-error.ts";
import type { VersionFiles } from "../model-files/read-version-files.ts";
import { StorageRefusal } from "../upload/storage.ts";
import { storeFiles } from "../upload/store-files.ts";
import { deadlineOf } from "./journal-entry.ts";
import { failedWrite, type WriteJob, type WriteResult, type Writing } from "./write-job.ts";

/** What is staged: the id that the control plane knows it by, and where its files go. */
type Stage = { readonly id: string; readonly root: string };

/** A stage in the journal, whose files are stored. */
export type UploadedVersion = {
  readonly intent: Intent;
  readonly stage: Stage;
  /** The manifest that registers it. */
  readonly toSend: JsonObject;
};

/** A version whose files are stored, or why there is none. */
export type Upload =
  | { readonly state: "uploaded"; readonly version: UploadedVersion }
  | { readonly state: "ended"; readonly result: WriteResult };

/**
 * Stages a version and stores its files. The stage is in the journal before its request is sent, and stays there until the version
 * is registered or the stage is marked as failed, so that a run after a crash continues with it.
 */
export async function uploadVersion(
  job: WriteJob,
  upload: FileUpload,
  files: VersionFiles,
  writing: Writing,
): Promise<Upload> {
  const ended = (result: WriteResult): Upload => ({ state: "ended", result });
  const failed = (error: OutcomeError): Upload => ended(failedWrite("failed", error, { job, attempts: 0 }));
  const { ledger } = writing.session;
  const { identity } = job.manifest;
  const staged = (await ledger.staged()).filter((one) => one.identity === identity);
  const earlier = staged.find(({ manifest }) => upload.digestIn(manifest) === files.digest) ?? null;
  for (const one of staged) if (one !== earlier) await abandonStage(one, writing);
  // A stage of an earlier run may have expired, and then it takes no files.
  for (const from of earlier === null ? [null] : [earlier, null]) {
    const opened = await openStage(from, job, upload, writing);
    if ("error" in opened) return failed(opened.error);
    const { intent, stage } = opened;
    try {
      await storeFiles(
        files,
        { root: stage.root, open: writing.session.openStorage },
        { signal: writing.run.stopping, onProgress: progressOf(identity, writing) },
      );
      const source = upload.storedAt(withoutSignature(stage.root));
      return { state: "uploaded", version: { intent, stage, toSend: upload.withStored(job.toSend, source) } };
    } catch (error) {
      if (writing.run.stopping.aborted) return ended({ state: "deferred", attempts: 0 });
      if (error instanceof TransferError) {
        const message = `the upload was interrupted (${error.message}): the next run continues it`;
        return failed({ code: "upload-interrupted", message });
      }
      if (!(error instanceof StorageRefusal) && !(error instanceof FilesError)) throw error;
      await abandonStage({ ...intent, reply: replyOf(stage) }, writing);
      if (error instanceof StorageRefusal && from !== null) continue;
      const code = error instanceof FilesError ? "files-changed" : "upload-refused";
      return failed({ code, message: `nothing was registered: ${error.message}` });
    }
  }
  return failed({ code: "upload-refused", message: "nothing was registered" });
}

/** Ends a stage with the write that registers it: it failed for good where the control plane has refused the version. */
export async function settleStage(
  { intent, stage }: UploadedVersion,
  result: WriteResult,
  writing: Writing,
): Promise<void> {
  if (result.state === "done") return writing.session.ledger.close(intent.id, null);
  // What was not sent, or may have been registered, is settled by the next run.
  if (result.state !== "failed" || !isRefused(result.error)) return;
  await abandonStage({ ...intent, reply: replyOf(stage) }, writing);
}

function isRefused({ status = 0 }: OutcomeError): boolean {
  return status >= 400 && status < 500 && ![401, 408, 412, 429].includes(status);
}

/**
 * Ends the stages of earlier runs that no step continues: of versions that are registered, or that nothing declares any longer.
 * `isOver` says for which resources that is so.
 */
export async function settleEarlierStages(
  isOver: (identity: Identity) => boolean,
  liveManifest: (identity: Identity) => JsonObject | null,
  writing: Writing,
): Promise<void> {
  const { ledger } = writing.session;
  for (const intent of await ledger.staged()) {
    if (!isOver(intent.identity)) continue;
    if (isRegistered(intent, liveManifest(intent.identity))) await ledger.close(intent.id, null);
    else await abandonStage(intent, writing);
  }
}

function isRegistered(intent: PendingIntent, live: JsonObject | null): boolean {
  const [stage, upload] = [stageIn(intent), kindOf(intent.kind)?.upload];
  if (stage === null || live === null || upload === undefined) return false;
  return upload.storedIn(live)?.uri === upload.storedAt(withoutSignature(stage.root)).uri;
}

// A stage that cannot be marked now stays in the journal: the next run marks it.
async function abandonStage(intent: PendingIntent, { session, run }: Writing): Promise<void> {
  const stage = stageIn(intent);
  if (stage !== null) {
    const sent = await session.writer.send("markStageFailure", { body: { id: stage.id } }, run);
    // It is gone, or a version has it.
    const isOver =
      sent.state === "applied" || (sent.state === "refused" && (sent.status === 404 || sent.status === 409));
    if (!isOver) return;
  }
  await session.ledger.close(intent.id, null);
}

type Opened = { readonly intent: Intent; readonly stage: Stage } | { readonly error: OutcomeError };

async function openStage(
  earlier: PendingIntent | null,
  job: WriteJob,
  upload: FileUpload,
  writing: Writing,
): Promise<Opened> {
  const { session, run, queue } = writing;
  const { ledger, writer } = session;
  const known = earlier === null ? null : stageIn(earlier);
  if (earlier !== null && known !== null) return { intent: earlier, stage: known };
  const intent = earlier ?? newIntent(job, upload, writing);
  if (earlier === null) await ledger.begin(intent);
  const { key } = intent;
  // With the same key, a control plane that honours keys answers the stage of an earlier run again.
  const content = { body: { manifest: intent.manifest }, ...(key === null ? {} : { idempotencyKey: key }) };
  const sent = await queue.withRequestSlot(() => writer.send("stageArtifactVersion", content, run));
  switch (sent.state) {
    case "applied": {
      const { id, storage_root: root } = sent.data;
      const stage = { id, root };
      await ledger.keepReply(intent.id, replyOf(stage));
      return { intent, stage };
    }
    case "refused": {
      await ledger.close(intent.id, null);
      const { status, code, message } = sent;
      return { error: { code: code ?? "refused", message: `it cannot be staged: ${message}`, status } };
    }
    case "not-sent":
      if (earlier === null) await ledger.close(intent.id, null);
      return { error: { code: sent.reason, message: `nothing was sent: ${errorMessage(sent.cause)}` } };
    case "ambiguous":
      // Nothing has been stored under it, so that the next run may ask again.
      return {
        error: { code: "stage-unknown", message: "it is unknown whether it was staged: the next run asks again" },
      };
  }
}

function newIntent({ kind, manifest, toSend }: WriteJob, upload: FileUpload, writing: Writing): Intent {
  return {
    id: writing.run.random.id(),
    identity: manifest.identity,
    kind: kind.type,
    operation: "stageArtifactVersion",
    manifest: upload.toStage(toSend),
    ignored: [],
    versionBefore: null,
    creates: false,
    at: writing.run.clock.now(),
    deadline: deadlineOf(writing),
    key: writing.run.random.id(),
  };
}

function replyOf({ id, root }: Stage): Buffer {
  return Buffer.from(JSON.stringify({ id, root }));
}

function stageIn({ reply }: PendingIntent): Stage | null {
  const value = reply === null ? null : parseJsonOrNull(Buffer.from(reply).toString());
  const [id, root] = isObject(value) ? [text(value.id), text(value.root)] : [];
  return id === undefined || root === undefined ? null : { id, root };
}

// A tenth of what a person could see is enough.
const SHOWN_BYTES = 16 * 1024 * 1024;

function progressOf(identity: Identity, { run }: Writing): (done: number, total: number) => void {
  let shown = Number.NEGATIVE_INFINITY;
  return (done, total) => {
    if (done < total && done - shown < SHOWN_BYTES) return;
    shown = done;
    run.emit({ what: "uploading", identity, done, total });
  };
}
