import type { JsonObject } from "../../contract/json.ts";
import type { Identity } from "../manifest.ts";

/** A resource that is live and healthy in one target, and may be promoted to another. */
export type PromotionCandidate = {
  readonly identity: Identity;
  /** Its identity with the names of clusters and workspaces in the target that is promoted to. */
  readonly as: Identity;
  readonly kind: string;
  /** The file that declares it, as reports name it, and the first line of its document. */
  readonly file: string;
  readonly line: number;
  readonly live: JsonObject;
  /**
   * The fields that are copied, as paths in normal form, with the line that says what is live, in the manifest or in a patch of
   * it; null where none does.
   */
  readonly fields: readonly {
    readonly path: readonly string[];
    readonly place: { readonly file: string; readonly line: number } | null;
  }[];
  /** Since when it has been healthy; null where the control plane does not say so. */
  readonly since: string | null;
};
