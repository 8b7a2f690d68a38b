import type { OnRequest } from "../client/call.ts";

/** Measures what a daemon sends over the network. */
export type Meter = {
  readonly request: OnRequest;
  /** A fetch of a source, by its name. */
  readonly fetch: (source: string, result: "fetched" | "failed") => void;
};
