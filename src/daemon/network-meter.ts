import type { OnRequest } from "../client/call.ts";

/** Measures the network requests of a daemon. */
export type Meter = {
  readonly request: OnRequest;
  /** Counts a fetch of the named source. */
  readonly fetch: (source: string, result: "fetched" | "failed") => void;
  /** Counts a push of the ref that names the last applied commit of the named target. */
  readonly publish: (target: string, result: "published" | "failed") => void;
};
