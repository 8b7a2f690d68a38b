import { isObject, type JsonObject } from "../contract/json.ts";
import type { Shape } from "../contract/shape.ts";
import { isIgnored } from "./ignore.ts";
import { keepIgnored } from "./keep-ignored.ts";
import type { Identity } from "./manifest.ts";
import { equal } from "./normalise.ts";

/** What the outside of a receipt tells: that something was written, and what became of it. */
export type RecordedHead = {
  readonly identity: Identity;
  readonly kind: string;
  readonly id: string | null;
  /** Version number that the write made, where the kind has versions. */
  readonly version: number | null;
  /** When it was last written or seen equal, epoch milliseconds. */
  readonly at: number;
  /** What tells this receipt from every other, by its sealed inside. */
  readonly mark?: string;
  /** The digest of its sealed content, by which it is recognised without opening it; absent where none is known. */
  readonly digest?: string;
};

/** What we last wrote of a resource, and what the control plane answered: the receipt that tells drift from change. */
export type Recorded = RecordedHead & {
  /** The manifest as it was sent. */
  readonly written: JsonObject;
  /** The manifest as the control plane answered it; null when the reply carried none. */
  readonly echo: JsonObject | null;
  /** Paths that were left to somebody else, and never written by us: there it says nothing. */
  readonly unrecorded?: readonly (readonly string[])[];
};

/**
 * The receipt of a resource of which rules left some fields as live has them: those are not ours. There it says what
 * was recorded before, or nothing.
 */
export function withoutIgnored(
  shape: Shape,
  receipt: Recorded,
  { left, known }: { readonly left: readonly (readonly string[])[]; readonly known: Recorded | null },
): Recorded {
  if (left.length === 0) return receipt;
  const isRecorded = (path: readonly string[]): boolean =>
    known?.echo != null && !isIgnored(known.unrecorded ?? [], path);
  const before = (from: JsonObject | null | undefined, mine: JsonObject): JsonObject => {
    const kept = keepIgnored(shape, mine, from ?? {}, left.filter(isRecorded));
    const bare = keepIgnored(
      shape,
      kept,
      {},
      left.filter((path) => !isRecorded(path)),
    );
    return isObject(bare) ? bare : {};
  };
  const unrecorded = left.filter((path) => !isRecorded(path));
  return {
    ...receipt,
    written: before(known?.written, receipt.written),
    echo: receipt.echo && before(known?.echo, receipt.echo),
    ...(unrecorded.length === 0 ? {} : { unrecorded }),
  };
}

/** Whether two receipts of a resource say the same of it. */
export function equalRecorded(one: Recorded, other: Recorded): boolean {
  const { written, echo, id, version, unrecorded = [] } = one;
  const isSame = id === other.id && version === other.version && equal(unrecorded, other.unrecorded ?? []);
  return isSame && equal(written, other.written) && equal(echo ?? undefined, other.echo ?? undefined);
}

/** Whether a receipt says of a resource exactly what is declared and live now. */
export function isRecordOf({ written, echo }: Recorded, manifest: JsonObject, live: JsonObject): boolean {
  return equal(written, manifest) && equal(echo ?? undefined, live);
}

/** The receipt with its inside, which must have been opened by whoever decides on it. */
export function requireOpened(recorded: RecordedHead): Recorded {
  if (isOpened(recorded)) return recorded;
  throw new TypeError(`the receipt of ${recorded.identity} was not opened`);
}

function isOpened(recorded: RecordedHead): recorded is Recorded {
  return "written" in recorded;
}
