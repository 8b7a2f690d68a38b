/** The extension by which the files of staged versions go through the control plane. */
export const STAGED_FILES = "E21";

/** Where they are below the address of the control plane, by the stage and the path of the file. */
export const STAGED_PATH = "/api/ml/v1/staged";

/**
 * The operations on files of staged versions. Their requests or replies are the bytes of a file, so they are not in the table
 * of operations, whose requests and replies are JSON.
 */
export const stagedFileOperations = {
  listStagedFiles: { method: "GET", path: `${STAGED_PATH}/{stage}`, summary: "List the files of a staged version" },
  getStagedFile: {
    method: "GET",
    path: `${STAGED_PATH}/{stage}/{path}`,
    summary: "Read a file of a staged version",
  },
  putStagedFile: {
    method: "PUT",
    path: `${STAGED_PATH}/{stage}/{path}`,
    summary: "Store a file of a staged version",
  },
} as const;

/** The name of such an operation. */
export type StagedFileOperation = keyof typeof stagedFileOperations;
