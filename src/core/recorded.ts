import type { JsonObject } from "../contract/json.ts";
import type { Identity } from "./manifest.ts";

/** What we last wrote of a resource, and what the control plane answered: the receipt that tells drift from change. */
export type Recorded = {
  readonly identity: Identity;
  readonly kind: string;
  readonly id: string | null;
  /** The manifest as it was sent. */
  readonly written: JsonObject;
  /** The manifest as the control plane answered it; null when the reply carried none. */
  readonly echo: JsonObject | null;
  /** Version number that the write made, where the kind has versions. */
  readonly version: number | null;
  /** When it was last written or seen equal, epoch milliseconds. */
  readonly at: number;
};
