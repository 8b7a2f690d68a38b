import type { JsonObject } from "../contract/json.ts";
import type { Identity } from "./manifest.ts";
import { equal } from "./normal.ts";

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
  /** By what its sealed inside is recognised without opening it; absent where nobody told. */
  readonly tally?: string;
};

/** What we last wrote of a resource, and what the control plane answered: the receipt that tells drift from change. */
export type Recorded = RecordedHead & {
  /** The manifest as it was sent. */
  readonly written: JsonObject;
  /** The manifest as the control plane answered it; null when the reply carried none. */
  readonly echo: JsonObject | null;
};

/** Whether a receipt says of a resource exactly what is declared and live now. */
export function saysExactly({ written, echo }: Recorded, manifest: JsonObject, live: JsonObject): boolean {
  return equal(written, manifest) && equal(echo ?? undefined, live);
}

/** The receipt with its inside, which must have been opened by whoever decides on it. */
export function opened(recorded: RecordedHead): Recorded {
  if (isOpened(recorded)) return recorded;
  throw new TypeError(`the receipt of ${recorded.identity} was not opened`);
}

function isOpened(recorded: RecordedHead): recorded is Recorded {
  return "written" in recorded;
}
