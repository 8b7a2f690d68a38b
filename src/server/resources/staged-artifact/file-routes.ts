import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from "fastify";
import { STAGED_FILES, STAGED_PATH, type StagedFileOperation } from "../../../contract/staged-files.ts";
import { setCaller } from "../../../http/access-log.ts";
import { releaseAfter } from "../../../http/byte-budget.ts";
import { badRequest, forbidden, HttpError, notFound, toHttpError } from "../../../http/http-error.ts";
import { queryText } from "../../../http/server.ts";
import { redactCredentials } from "../../../model/credential.ts";
import { isAllowed } from "../../auth/access.ts";
import { authorisedContext, ChangedPrincipal } from "../../auth/authorised-context.ts";
import type { Principal } from "../../auth/principal.ts";
import type { Context } from "../../context.ts";
import { callMarks } from "../../http/audited-call.ts";
import { limitRate, type OperationRouting } from "../../http/operation-routes.ts";
import { readPageRequest } from "../../http/read-request.ts";
import { storageHttpError } from "../../http/storage-http-error.ts";
import { repoTarget } from "../ml-repo.ts";
import { checkDigest, fileHeaders } from "./file-headers.ts";
import { readStagedPath, type StagedPath } from "./file-path.ts";
import {
  type FileStage,
  fileAt,
  findFileStage,
  findReplaced,
  gone,
  listFiles,
  type ReceivedFile,
  refusalOfStage,
  requireRoom,
  stagePrincipal,
  storeFile,
} from "./file-rows.ts";
import { brokenOff, createRoom, receiveFile } from "./receive-file.ts";
import { sendFile } from "./send-file.ts";
import { isSignedStage, readSignedStage } from "./signed-stage.ts";

// What a request holds in memory at most while a file passes through it.
const BUFFER_BYTES = 1024 * 1024;
// For the client to read why its file is refused.
const REFUSED_MS = 5000;

/** Who asks for the files of which stage. */
type Access = {
  readonly stage: FileStage;
  readonly principal: Principal;
  readonly isSigned: boolean;
  /** The same caller by what the database has then. */
  readonly again: (within: Context) => Promise<Principal>;
};

/** Adds the routes of the files of staged versions (extension E21), for whoever has the signed address or may read the repo. */
export function addStagedFileRoutes(app: FastifyInstance, routing: OperationRouting): void {
  // Only here a body is not JSON.
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_: FastifyRequest, body: unknown, done: (error: null, body: unknown) => void) =>
      done(null, body),
    );
    addRoutes(scope, routing);
  });
}

function addRoutes(app: FastifyInstance, routing: OperationRouting): void {
  const { context, bodies } = routing;
  const accesses = new WeakMap<FastifyRequest, Access>();
  const accessOf = (request: FastifyRequest): Access => {
    const access = accesses.get(request);
    if (access === undefined) throw new TypeError("the caller was not authenticated");
    return access;
  };
  const reserveRoom = createRoom();
  const hooks = (name: StagedFileOperation) => ({
    config: { operation: name, takesFile: name === "putStagedFile" },
    onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
      if (name === "putStagedFile") leaveBody(request, reply, context);
      const access = await authenticated(request, routing);
      accesses.set(request, access);
      setCaller(request, access.principal.name);
      limitRate(routing.rateLimit, access.principal.name);
    },
    onError: async (request: FastifyRequest, _: FastifyReply, error: Error) => {
      const access = accesses.get(request);
      if (access !== undefined) auditRefusal(name, request, access, error, context);
    },
  });
  const list = {
    ...hooks("listStagedFiles"),
    handler: async (request: FastifyRequest) => {
      const page = readPageRequest(queryText(request));
      const { rows, total } = await listFiles(context.store.read, accessOf(request).stage, page);
      const data = rows.map(({ path, size, digest }) => ({ path, size: Number(size), digest: `sha256:${digest}` }));
      return { data, pagination: { total, ...page } };
    },
  };
  app.get(`${STAGED_PATH}/:stage`, list);
  app.get(`${STAGED_PATH}/:stage/`, list);
  app.route({
    method: ["GET", "HEAD"],
    url: `${STAGED_PATH}/:stage/*`,
    ...hooks("getStagedFile"),
    handler: (request, reply) => readFrom(accessOf(request).stage, reply, context),
  });
  app.put(`${STAGED_PATH}/:stage/*`, {
    ...hooks("putStagedFile"),
    handler: async (request, reply) => {
      const access = accessOf(request);
      const { principal } = access;
      releaseAfter(reply, bodies(principal.name, BUFFER_BYTES));
      const upload = await admitted(request, access, context);
      using _ = await reserveRoom(context.stagedFiles.folder, upload.length);
      const received = await receiveFile(bodyOf(request), upload, context).catch((error: unknown) => {
        throw request.raw.destroyed && !request.raw.complete ? brokenOff() : error;
      });
      await store(request, access, { path: upload.path, received }, context);
      const { size, digest } = received;
      reply.headers(fileHeaders(digest));
      return { data: { path: upload.path.path, size, digest: `sha256:${digest}` } };
    },
  });
  refuseOtherMethods(app, `${STAGED_PATH}/:stage`, ["GET"]);
  refuseOtherMethods(app, `${STAGED_PATH}/:stage/*`, ["GET", "HEAD", "PUT"]);
}

function refuseOtherMethods(app: FastifyInstance, url: string, allowed: readonly HTTPMethods[]): void {
  const others: readonly HTTPMethods[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
  app.route({
    method: others.filter((method) => !allowed.includes(method)),
    url,
    onRequest: async () => {
      const headers = { allow: allowed.join(", ") };
      throw new HttpError(405, "method-not-allowed", "this path does not take this method", { headers });
    },
    handler: async () => undefined,
  });
}

/** Closes the connection of an upload that is refused before all of it has arrived, which could take hours. */
function leaveBody({ raw }: FastifyRequest, reply: FastifyReply, { clock }: Context): void {
  reply.raw.once("finish", () => {
    if (raw.complete) return;
    clock.after(REFUSED_MS, () => raw.socket.destroy(), { ref: false });
  });
}

async function authenticated(request: FastifyRequest, routing: OperationRouting): Promise<Access> {
  const { context, callers, rateLimit } = routing;
  const { stage: segment = "" } = request.params as { readonly stage?: string };
  try {
    return isSignedStage(segment)
      ? await signedAccess(segment, context)
      : await bearerAccess(await callers.callerOf(request.raw), segment, request, routing);
  } catch (error) {
    // Anybody can send these, so they count against their address.
    if (error instanceof HttpError && error.status < 404) limitRate(rateLimit, `address ${request.ip}`);
    throw error;
  }
}

async function signedAccess(segment: string, context: Context): Promise<Access> {
  const signed = readSignedStage(segment, context.keys(), context.clock.now());
  if (signed === null) throw gone();
  const stage = await findFileStage(context.store.read, signed.id);
  if (stage === null) throw gone();
  const again = async (within: Context) => {
    const principal = await stagePrincipal(stage, within);
    if (principal === null || !isAllowed(principal, "write", repoTarget(stage.repo))) throw gone();
    return principal;
  };
  return { stage, principal: await again(context), isSigned: true, again };
}

async function bearerAccess(
  principal: Principal,
  id: string,
  request: FastifyRequest,
  { context, callers }: OperationRouting,
): Promise<Access> {
  const stage = id.includes("\0") ? null : await findFileStage(context.store.read, id);
  if (stage === null || !isAllowed(principal, "read", repoTarget(stage.repo))) throw notFound("the staged version");
  const again = (within: Context) => callers.callerWithin(request.raw, within);
  return { stage, principal, isSigned: false, again };
}

type Upload = { readonly stage: string; readonly path: StagedPath; readonly length: number };

/** Checks an upload before its body is read. */
async function admitted(request: FastifyRequest, { stage, isSigned }: Access, context: Context): Promise<Upload> {
  if (!isSigned) throw forbidden("a file is stored under the `storage_root` that staging the version has answered");
  const path = pathOf(request);
  const { headers } = request.raw;
  if (headers["content-encoding"] !== undefined || headers["content-range"] !== undefined) {
    throw badRequest("a file is stored as a whole, without Content-Encoding and Content-Range");
  }
  if (headers["content-length"] === undefined) {
    throw new HttpError(411, "length-required", "the request needs the header Content-Length");
  }
  const length = Number(headers["content-length"]);
  const refusal = refusalOfStage(stage);
  if (refusal !== null) throw refusal;
  requireRoom(
    stage,
    length,
    await findReplaced(context.store.read, stage.stage_id, path),
    context.stagedFiles.maxBytes,
  );
  return { stage: stage.stage_id, path, length };
}

function bodyOf({ body }: FastifyRequest): Readable | null {
  return (body as Readable | undefined) ?? null;
}

/** Makes a received file visible, as its caller still may; otherwise it is deleted. */
async function store(
  request: FastifyRequest,
  { stage, principal, again }: Access,
  { path, received }: { readonly path: StagedPath; readonly received: ReceivedFile },
  context: Context,
): Promise<void> {
  const inFolder = (file: string) => join(context.stagedFiles.folder, stage.stage_id, file);
  const within: Context = { ...context, call: callMarks(request, principal) };
  const storeAs = async (caller: Principal): Promise<string | null> => {
    const own = authorisedContext(within, caller, again);
    try {
      return await own.store.write((transaction) =>
        storeFile(transaction, { id: stage.stage_id, path, received }, caller, within),
      );
    } catch (error) {
      if (error instanceof ChangedPrincipal) return storeAs(error.principal);
      throw error;
    }
  };
  try {
    checkDigest(request.raw.headers, received.digest);
    const unused = await storeAs(principal);
    if (unused !== null) await rm(inFolder(unused), { force: true });
  } catch (error) {
    const { status } = storageHttpError(error) ?? toHttpError(error);
    // It is unknown whether it is stored now; if not, it is deleted with what the stage leaves.
    if (status !== 504) await rm(inFolder(received.file), { force: true });
    throw error;
  }
}

async function readFrom(stage: FileStage, reply: FastifyReply, context: Context): Promise<FastifyReply> {
  const path = pathOf(reply.request);
  // The files of a stage that failed are about to be deleted.
  const found = stage.state === "failed" ? null : await fileAt(context.store.read, stage.stage_id, path);
  if (found === null) throw notFound("the file");
  return sendFile(found, reply, context);
}

function pathOf({ params }: FastifyRequest): StagedPath {
  const { "*": path = "" } = params as { readonly "*"?: string };
  return readStagedPath(path);
}

function auditRefusal(
  name: StagedFileOperation,
  request: FastifyRequest,
  { principal, stage }: Access,
  error: unknown,
  { audit }: Context,
): void {
  const { status, code } = storageHttpError(error) ?? toHttpError(error);
  if (status === 401) return;
  const { "*": path = "" } = request.params as { readonly "*"?: string };
  audit.refusals.add({
    principal: principal.name,
    operation: STAGED_FILES,
    resource: redactCredentials(`stage/${stage.stage_id}${path === "" ? "" : `/${path}`}`.slice(0, 256)),
    outcome: status < 500 ? "refused" : "failed",
    keyHash: null,
    fencingNumber: null,
    details: { ...callMarks(request, principal), name, status, code },
  });
}
