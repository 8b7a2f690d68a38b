/** Files of a version that cannot be read as they are declared, or have changed since. */
export class FilesError extends Error {
  override readonly name = "FilesError";
}
