import { badRequest } from "../../../http/http-error.ts";

/** A name in a stage, of a file or of a folder on the way to one, and the key under which it is unique. */
export type StagedName = {
  readonly path: string;
  /** Equal for paths that a file system which ignores case takes for the same. */
  readonly key: string;
};

/** The path of a file in a stage, and the folders on the way to it. */
export type StagedPath = StagedName & { readonly folders: readonly StagedName[] };

const MAX_BYTES = 1024;
// The limit of common file systems.
const MAX_SEGMENT_BYTES = 255;
const MAX_DEPTH = 32;

/** Checks the path of a file, so that any file system can hold it, below the folder that a client chooses; else 400. */
export function readStagedPath(text: string): StagedPath {
  const segments = text.split("/");
  const fault = faultOf(text, segments);
  if (fault !== null) throw badRequest(`the path of the file ${fault}`);
  const folders = segments.slice(1).map((_, at) => nameOf(segments.slice(0, at + 1).join("/")));
  return { ...nameOf(text), folders };
}

function nameOf(path: string): StagedName {
  return { path, key: path.toLowerCase().normalize("NFC") };
}

function faultOf(text: string, segments: readonly string[]): string | null {
  if (Buffer.byteLength(text) > MAX_BYTES) return `is longer than ${MAX_BYTES} bytes`;
  if (segments.length > MAX_DEPTH) return `is more than ${MAX_DEPTH} folders deep`;
  if (segments.includes("")) return "must not begin or end with a slash, or have two in a row";
  if (segments.some((segment) => segment === "." || segment === "..")) return "must not have a segment `.` or `..`";
  if (segments.some((segment) => Buffer.byteLength(segment) > MAX_SEGMENT_BYTES)) {
    return `has a segment of more than ${MAX_SEGMENT_BYTES} bytes`;
  }
  if (text.includes("\\")) return "must not have a backslash";
  // Control characters, invisible ones, those that change the direction of text, and halves of characters.
  if (/\p{C}|[\u2028\u2029]/u.test(text)) return "must not have control characters or invisible ones";
  return text === text.normalize("NFC") ? null : "must be in Unicode's form NFC";
}
