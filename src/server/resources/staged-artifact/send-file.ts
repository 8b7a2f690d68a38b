import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyReply } from "fastify";
import { HttpError } from "../../../http/http-error.ts";
import type { Context } from "../../context.ts";
import { byteRange, fileHeaders } from "./file-headers.ts";
import type { StoredFile } from "./file-rows.ts";

/** Sends a file, or the part of it that the request asks for. */
export async function sendFile(found: StoredFile, reply: FastifyReply, context: Context): Promise<FastifyReply> {
  const { method, raw } = reply.request;
  const size = Number(found.size);
  const range = byteRange(raw.headers, { size, digest: found.digest });
  const { first, last } = range ?? { first: 0, last: size - 1 };
  const file = method === "HEAD" || size === 0 ? null : await opened(found, context);
  reply.code(range === null ? 200 : 206).headers(fileHeaders(found.digest));
  reply.headers({
    "accept-ranges": "bytes",
    "content-length": last - first + 1,
    "content-type": "application/octet-stream",
    // A browser must not show it under the address of this server.
    "content-disposition": "attachment",
    ...(range !== null && { "content-range": `bytes ${first}-${last}/${size}` }),
  });
  return reply.send(file?.createReadStream({ start: first, end: last }));
}

// Whatever else is there is neither followed nor waited for.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Opens the file; 500 where it is not what was stored. */
async function opened({ stage_id: stage, file, size }: StoredFile, { stagedFiles, log }: Context): Promise<FileHandle> {
  let reason: unknown = "another size";
  try {
    const handle = await open(join(stagedFiles.folder, stage, file), FLAGS);
    const stat = await handle.stat();
    if (stat.isFile() && stat.size === Number(size)) return handle;
    await handle.close();
  } catch (error) {
    reason = error instanceof Error ? error.message : error;
  }
  log.error({ event: "staged-file-missing", stage, reason }, "a staged file that the database knows cannot be read");
  throw new HttpError(500, "internal", "the server failed; its log says why");
}
