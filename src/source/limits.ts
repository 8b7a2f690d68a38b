/** How much of a source is read; what exceeds a limit is refused with the limit named, never cut silently. */
export type Limits = {
  /** Bytes of one file. */
  readonly fileBytes: number;
  /** Bytes of all files of a revision together. */
  readonly totalBytes: number;
  /** Documents in one file. */
  readonly documents: number;
  /** Collections inside each other in one document. */
  readonly depth: number;
  /** Keys of one mapping. */
  readonly keys: number;
  /** Nodes of one document after alias expansion. */
  readonly nodes: number;
  /** Folders inside each other below the source's root. */
  readonly folderDepth: number;
};

/** The limits that hold unless told otherwise. */
export const defaultLimits: Limits = {
  fileBytes: 1024 * 1024,
  totalBytes: 1024 * 1024 * 1024,
  documents: 200,
  depth: 64,
  keys: 2000,
  nodes: 10_000,
  folderDepth: 64,
};
