import { defaultYamlLimits, type YamlLimits } from "../yaml/limits.ts";

/** How much of a source is read; what exceeds a limit is refused with the limit named, never cut silently. */
export type Limits = YamlLimits & {
  /** Bytes of all files of a revision together. */
  readonly totalBytes: number;
  /** Folders inside each other below the source's root. */
  readonly folderDepth: number;
};

/** The limits that hold unless told otherwise. */
export const defaultLimits: Limits = { ...defaultYamlLimits, totalBytes: 1024 * 1024 * 1024, folderDepth: 64 };
