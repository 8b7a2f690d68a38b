import type { Schema } from "./schema.ts";

/** What is said of every PUT that declares a resource by its manifest. */
export const REPLACE_DESCRIPTION =
  "A PUT replaces the manifest as a whole. The same manifest again changes nothing, `updatedAt` included.";

/** What is said of every write of a version. */
export const VERSION_DESCRIPTION =
  "What counts as content is the manifest without `version`, `description`, `metadata` and `version_alias`. With a `version`: equal content updates those three in place, changed content is 409, the newest number + 1 is made, anything further ahead is 422. Without one: content equal to the newest updates in place, other content is the next version. A `version_alias` moves to the version being written.";

/** A token in the one reply that carries it. */
export const oneTimeToken: Schema = {
  description: "The token, in this one reply only",
  type: "string",
  examples: ["hf_pat_…"],
};
