import { Buffer } from "node:buffer";
import { REPLY_CAP } from "../../contract/limits.ts";
import { HttpError } from "../../http/http-error.ts";

// What a resource may gain after its last write: statuses of a rollout, alerts, what was found out about failures.
const ROOM_TO_GROW = 512 * 1024;
// What stands around the rows of a page, between two of them, and what a row gains at most as it is answered.
const PAGE_FRAME = 128;
const COMMA = 1;
const ROW_FRAME = 256;

/**
 * The text of a resource that a write makes, refused (413) where no later reply could show it; asked before the
 * write is committed.
 */
export function checkResourceSize<Text extends string>(text: Text): Text {
  if (exceedsBytes(text, REPLY_CAP - ROOM_TO_GROW)) throw tooLarge("the resource would be too large for one reply");
  return text;
}

/** Refuses (413) a value whose secret could not be read any more, since one reply shows the values of all its versions. */
export function checkSecretSize(sealedBytes: number): void {
  // The newest value is shown twice.
  if (sealedBytes > REPLY_CAP / 2) throw tooLarge("the versions of this secret would be too large for one reply");
}

/** The text of a reply, refused (413) where it is larger than any reply may be. */
export function checkReplySize(text: string): string {
  if (exceedsBytes(text, REPLY_CAP)) throw tooLarge("the reply is larger than 8 MiB");
  return text;
}

/** Refuses (413) a page whose rows have together more bytes than a reply may have, and names a limit that fits. */
export function checkPageSize(rowSizes: Iterable<number>): void {
  let [size, framed, fits] = [PAGE_FRAME, PAGE_FRAME, 0];
  for (const rowSize of rowSizes) {
    size += rowSize + COMMA;
    framed += rowSize + ROW_FRAME;
    if (framed <= REPLY_CAP) fits += 1;
    if (size <= REPLY_CAP) continue;
    throw fits === 0 ? tooLarge("a row of this page is larger than 8 MiB") : pageTooLarge(fits);
  }
}

/** The bytes of a text in UTF-8. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

/** Whether a text has more bytes. */
export function exceedsBytes(text: string, most: number): boolean {
  // A character has one to three bytes: what is short enough need not be measured.
  return text.length * 3 > most && byteLength(text) > most;
}

function pageTooLarge(limit: number): HttpError {
  const details = [{ pointer: "/limit", message: `must be at most ${limit} at this offset`, code: TOO_LARGE }];
  return new HttpError(413, TOO_LARGE, `the page is larger than 8 MiB: ask with limit=${limit}`, { details });
}

function tooLarge(message: string): HttpError {
  return new HttpError(413, TOO_LARGE, message);
}

const TOO_LARGE = "reply-too-large";
