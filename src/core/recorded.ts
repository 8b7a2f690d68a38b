import { equal, isObject, type JsonObject } from "../contract/json.ts";
import type { Shape } from "../contract/manifest-shape.ts";
import { isIgnored } from "./ignore/ignore-rules.ts";
import { keepIgnored } from "./ignore/keep-ignored.ts";
import type { Identity } from "./manifest.ts";

/** The unsealed part of a record: the resource's id and version, and the time of the write. */
export type RecordedHead = {
  readonly identity: Identity;
  readonly kind: string;
  readonly id: string | null;
  /** Version number that the write created, when the kind has versions. */
  readonly version: number | null;
  /** When it was last written or confirmed equal, in epoch milliseconds. */
  readonly at: number;
};

/** The sealed part of a record. */
export type ReceiptContent = {
  /** The manifest as it was sent. */
  readonly written: JsonObject;
  /** The manifest as the control plane answered it; null when the reply had none. */
  readonly returned: JsonObject | null;
  /** Paths under an ignore rule that we never wrote: the record does not cover them. */
  readonly unrecorded?: readonly (readonly string[])[];
};

/** The last written manifest of a resource and the control plane's answer, which distinguish drift from a change. */
export type Recorded = RecordedHead & ReceiptContent;

/**
 * The record of a write in which ignored fields kept live's values, which are not ours. For those fields it keeps the
 * previously recorded value, or none.
 */
export function withoutIgnored(
  shape: Shape,
  receipt: Recorded,
  { ignored, known }: { readonly ignored: readonly (readonly string[])[]; readonly known: Recorded | null },
): Recorded {
  if (ignored.length === 0) return receipt;
  const isRecorded = (path: readonly string[]): boolean =>
    known?.returned != null && !isIgnored(known.unrecorded ?? [], path);
  const before = (from: JsonObject | null | undefined, mine: JsonObject): JsonObject => {
    const kept = keepIgnored(shape, mine, from ?? {}, ignored.filter(isRecorded));
    const bare = keepIgnored(
      shape,
      kept,
      {},
      ignored.filter((path) => !isRecorded(path)),
    );
    return isObject(bare) ? bare : {};
  };
  const unrecorded = ignored.filter((path) => !isRecorded(path));
  return {
    ...receipt,
    written: before(known?.written, receipt.written),
    returned: receipt.returned && before(known?.returned, receipt.returned),
    ...(unrecorded.length === 0 ? {} : { unrecorded }),
  };
}

/** Whether two records of a resource are equal. */
export function equalRecorded(one: Recorded, other: Recorded): boolean {
  const { written, returned, id, version, unrecorded = [] } = one;
  const isSame = id === other.id && version === other.version && equal(unrecorded, other.unrecorded ?? []);
  return isSame && equal(written, other.written) && equal(returned ?? undefined, other.returned ?? undefined);
}

/** Whether a record equals the current manifest and live state. */
export function isRecordOf({ written, returned }: Recorded, manifest: JsonObject, live: JsonObject): boolean {
  return equal(written, manifest) && equal(returned ?? undefined, live);
}

/** The record with its sealed part. The caller must have opened it. */
export function requireOpened(recorded: RecordedHead): Recorded {
  if (isOpened(recorded)) return recorded;
  throw new TypeError(`the record of ${recorded.identity} was not opened`);
}

/** Whether a record has its sealed part. */
export function isOpened(recorded: RecordedHead): recorded is Recorded {
  return "written" in recorded;
}
