import type { JsonObject } from "../../contract/json.ts";

/** The rows read from another control plane, by their kind. */
export type Snapshot = { readonly [rows: string]: readonly JsonObject[] };
