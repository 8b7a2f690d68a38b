import { HoldfastError } from "../core/errors.ts";
import { defaultYamlLimits, type YamlLimits } from "../yaml/limits.ts";

/** Limits for reading a source. Content beyond a limit is refused with the limit named, never truncated silently. */
export type Limits = YamlLimits & {
  /** Total bytes of all files of a revision. */
  readonly totalBytes: number;
  /** Depth of nested folders below the source's root. */
  readonly folderDepth: number;
  /** Files in a commit's tree, whatever they are. */
  readonly entries: number;
  /** Symbolic links of a commit that are warned about, or may be. */
  readonly links: number;
  /** Different files of a commit that exceed `fileBytes`: each is looked into by a git process of its own. */
  readonly largeFiles: number;
};

/** The default limits. */
export const defaultLimits: Limits = {
  ...defaultYamlLimits,
  totalBytes: 1024 * 1024 * 1024,
  folderDepth: 64,
  entries: 500_000,
  links: 10_000,
  largeFiles: 200,
};

/** The error for a source that exceeds one of the limits above. */
export function tooMany(limit: number, what: string): HoldfastError {
  return new HoldfastError("invalid", `the source has more than ${limit} ${what}`, {
    hint: "make it smaller, or follow a repository of manifests alone",
  });
}
