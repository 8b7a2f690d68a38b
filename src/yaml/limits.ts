/** Limits for reading one file. A file that exceeds a limit is refused with the limit named, never cut silently. */
export type YamlLimits = {
  /** Bytes of one file. */
  readonly fileBytes: number;
  /** Documents in one file. */
  readonly documents: number;
  /** Nesting depth of the collections of one document. */
  readonly depth: number;
  /** Keys of one mapping. */
  readonly keys: number;
  /** Nodes of one document after alias expansion. */
  readonly nodes: number;
};

/** The default limits of a file. */
export const defaultYamlLimits: YamlLimits = {
  fileBytes: 1024 * 1024,
  documents: 200,
  depth: 64,
  keys: 2000,
  nodes: 10_000,
};
