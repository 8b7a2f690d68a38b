import type { JsonObject } from "../../contract/json.ts";

/** What was read of another control plane, row by row as it answered, by what the rows are. */
export type Snapshot = { readonly [rows: string]: readonly JsonObject[] };
