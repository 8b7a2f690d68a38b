import { type JsonObject, text } from "../../contract/json.ts";
import { duplicates, type Rule } from "../rule.ts";

/** Rules of clusters. */
export const rules: readonly Rule[] = [
  (manifest: JsonObject) =>
    duplicates(
      manifest.supported_nodepools,
      (index) => `/supported_nodepools/${index}/name`,
      ({ name }) => text(name),
      "name",
    ),
];
