import type { Schema } from "./schemas/json-schema.ts";

/** The description of every PUT that declares a resource by a manifest. */
export const REPLACE_DESCRIPTION =
  "A PUT replaces the manifest as a whole. The same manifest again changes nothing, `updatedAt` included.";

/** The description of every write of a version. */
export const VERSION_DESCRIPTION =
  "The content of a version is its manifest without `version`, `description`, `metadata` and `version_alias`. With a `version`: equal content updates those three in place, changed content is 409, the newest number + 1 is created, and a higher number is 422. Without a `version`: content equal to the newest version updates it in place, other content becomes the next version. A `version_alias` moves to the version being written.";

/** A token in the only reply that has it. */
export const oneTimeToken: Schema = {
  description: "The token, in this reply only",
  type: "string",
  examples: ["hf_pat_…"],
};
