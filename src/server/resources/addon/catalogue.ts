import type { JsonObject } from "../../../contract/json.ts";
import data from "./catalogue.json" with { type: "json" };

/** One release of an addon's chart, with the values that this catalogue proposes for it. */
export type AddonRelease = { readonly version: string; readonly values: JsonObject };

/** An addon that a cluster can have: what is declared of it, whatever the cluster. */
export type AddonEntry = {
  readonly name: string;
  /** Name of the application that it is installed as. */
  readonly appName: string;
  readonly namespace: string;
  readonly description: string;
  readonly repoUrl: string;
  readonly chart: string;
  /** Whether clusters need it, where it is supported. */
  readonly required: boolean;
  readonly unsupportedClusterTypes: readonly string[];
  readonly knownCRDs: readonly string[];
  readonly labels: readonly string[];
  /** The newest first. */
  readonly releases: readonly [AddonRelease, ...AddonRelease[]];
};

/** Every addon that is known, by name; a test holds the file to this type. */
export const catalogue = data as readonly unknown[] as readonly AddonEntry[];
