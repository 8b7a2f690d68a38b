import { type JsonObject, text } from "../../contract/json.ts";
import type { Rule } from "./rule.ts";
import { twins } from "./twins.ts";

/** Rules of clusters. */
export const clusterMeaning: readonly Rule[] = [
  (manifest: JsonObject) =>
    twins(
      manifest.supported_nodepools,
      (index) => `/supported_nodepools/${index}/name`,
      ({ name }) => text(name),
      "name",
    ),
];
