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

/** An address of staged files without the signature that gives access to them. */
export function withoutSignature(uri: string): string {
  const [, plain] = SIGNED_ADDRESS.exec(uri) ?? [];
  return plain ?? uri;
}

const SIGNED_ADDRESS = /^(https?:\/\/[^?#]*\/api\/ml\/v1\/staged\/[\w-]+)\.\d+\.[\w-]+\/?$/;

/** The longest path of a file of a version, and of a part of it, in bytes, and how many folders deep a file may be. */
const STAGED_PATH_LIMITS = { bytes: 1024, segmentBytes: 255, depth: 32 } as const;

/** Why a file of a version cannot have this path, so that any file system can hold it; null if it can. */
export function stagedPathFault(path: string): string | null {
  const { bytes, segmentBytes, depth } = STAGED_PATH_LIMITS;
  const segments = path.split("/");
  if (Buffer.byteLength(path) > bytes) return `is longer than ${bytes} bytes`;
  if (segments.length > depth) return `is more than ${depth} folders deep`;
  if (segments.includes("")) return "must not begin or end with a slash, or have two in a row";
  if (segments.some((segment) => segment === "." || segment === "..")) return "must not have a segment `.` or `..`";
  if (segments.some((segment) => Buffer.byteLength(segment) > segmentBytes)) {
    return `has a segment of more than ${segmentBytes} bytes`;
  }
  if (path.includes("\\")) return "must not have a backslash";
  // Control characters, invisible ones, those that change the direction of text, and halves of characters.
  if (/\p{C}|[\u2028\u2029]/u.test(path)) return "must not have control characters or invisible ones";
  return path === path.normalize("NFC") ? null : "must be in Unicode's form NFC";
}
