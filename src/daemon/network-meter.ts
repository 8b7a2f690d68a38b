import type { OnRequest } from "../client/call.ts";

/** Measures what a daemon sends over the network. */
export type Meter = {
  readonly request: OnRequest;
  /** A fetch of a source, by its name. */
  readonly fetch: (source: string, result: "fetched" | "failed") => void;
  /** A push of the ref that says what was applied last, by the target's name. */
  readonly publish: (target: string, result: "published" | "failed") => void;
};
