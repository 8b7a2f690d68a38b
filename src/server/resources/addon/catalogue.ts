import type { JsonObject } from "../../../contract/json.ts";
import data from "./catalogue.json" with { type: "json" };

/** One release of an addon's chart, with the proposed values. */
export type AddonRelease = { readonly version: string; readonly values: JsonObject };

/** An addon in the catalogue, independent of a cluster. */
export type AddonEntry = {
  readonly name: string;
  /** Name of the application that installs it. */
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

/** The catalogue of addons, sorted by name; a test checks that the file has this type. */
export const catalogue = data as readonly unknown[] as readonly AddonEntry[];
