import type { FormatVersion } from "../contract/generated/output.ts";

/** The version of the format of every document that this release writes and reads. */
export const FORMAT_VERSION: FormatVersion = "2.2";
