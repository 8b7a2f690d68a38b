import { Buffer } from "node:buffer";
import { REPLY_CAP } from "../../contract/limits.ts";
import { HttpError } from "../../http/http-error.ts";

// A resource may grow after its last write: statuses of a rollout, alerts, debug information.
const GROWTH_BYTES = 512 * 1024;
// The bytes around the rows of a page, between two rows, and the most that a reply adds to a row.
const PAGE_FRAME = 128;
const COMMA = 1;
const ROW_FRAME = 256;

/**
 * Refuses (413) a resource that would be too large for later replies, before the write is committed; returns its text.
 */
export function checkResourceSize<Text extends string>(text: Text): Text {
  if (exceedsBytes(text, REPLY_CAP - GROWTH_BYTES)) throw tooLarge("the resource would be too large for one reply");
  return text;
}

/** Refuses (413) a secret value that would make the secret unreadable. */
export function checkSecretSize(sealedBytes: number): void {
  // It is in the reply twice: in the secret and in its newest version.
  if (sealedBytes > REPLY_CAP / 2) throw tooLarge("the value of this secret would be too large for one reply");
}

/** Refuses (413) a reply that is too large; returns its text. */
export function checkReplySize(text: string): string {
  if (exceedsBytes(text, REPLY_CAP)) throw tooLarge("the reply is larger than 8 MiB");
  return text;
}

/** Refuses (413) a page that is too large for one reply, and names a limit that fits. */
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

/** The length of a text in UTF-8 bytes. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

/** Whether a text has more bytes than `max`. */
export function exceedsBytes(text: string, max: number): boolean {
  // A UTF-16 unit has at most three bytes: short texts need not be measured.
  return text.length * 3 > max && byteLength(text) > max;
}

function pageTooLarge(limit: number): HttpError {
  const details = [{ pointer: "/limit", message: `must be at most ${limit} at this offset`, code: TOO_LARGE }];
  return new HttpError(413, TOO_LARGE, `the page is larger than 8 MiB: ask with limit=${limit}`, { details });
}

function tooLarge(message: string): HttpError {
  return new HttpError(413, TOO_LARGE, message);
}

const TOO_LARGE = "reply-too-large";
