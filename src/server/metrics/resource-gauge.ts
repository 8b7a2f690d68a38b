import type { Context } from "../context.ts";

/** A number that a resource adds to the metrics, read from the database when they are collected. */
export type ResourceGauge = {
  readonly name: string;
  readonly help: string;
  /** Whether anyone may read it, or only callers who read the whole tenant. */
  readonly shownTo: "everyone" | "trusted";
  readonly read: (context: Context) => Promise<number>;
};
