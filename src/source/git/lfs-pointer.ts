import type { Diagnostic } from "../../core/diagnostic.ts";
import { fileDiagnostic } from "../file-diagnostic.ts";
import type { SourceFile } from "../revision.ts";

const MAX_POINTER_LENGTH = 1024;
const BEGINNING = "version https://git-lfs.github.com/spec/";

/** The diagnostic code for a pointer. */
export const LFS_POINTER = "lfs-pointer";

/** The error for a manifest file that is a Git LFS pointer; null for other files. */
export function lfsPointer(file: Pick<SourceFile, "size" | "display">, bytes: Uint8Array): Diagnostic | null {
  if (file.size > MAX_POINTER_LENGTH) return null;
  const isPointer = Buffer.from(bytes).toString("latin1", 0, BEGINNING.length) === BEGINNING;
  if (!isPointer) return null;
  const next = "Filters are not run on commits: take the file out of Git LFS.";
  return fileDiagnostic("error", LFS_POINTER, file.display, "a Git LFS pointer stands in place of the manifest", next);
}
