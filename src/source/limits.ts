import { defaultYamlLimits, type YamlLimits } from "../yaml/limits.ts";

/** Limits for reading a source. Content beyond a limit is refused with the limit named, never truncated silently. */
export type Limits = YamlLimits & {
  /** Total bytes of all files of a revision. */
  readonly totalBytes: number;
  /** Depth of nested folders below the source's root. */
  readonly folderDepth: number;
};

/** The default limits. */
export const defaultLimits: Limits = { ...defaultYamlLimits, totalBytes: 1024 * 1024 * 1024, folderDepth: 64 };
