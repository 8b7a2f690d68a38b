import type { SourceFile } from "../source/revision.ts";
import { formatOf } from "../yaml/document.ts";
import type { KnownFile, KnownSource } from "./known-source.ts";

/** Finds the file that had the same content before, wherever it lay: unless the place decides what it may hold. */
export function knownOutline(
  { files }: KnownSource,
  { allowLiteralSecrets = [] }: { readonly allowLiteralSecrets?: readonly string[] } = {},
): (file: SourceFile) => KnownFile | null {
  let elsewhere: ReadonlyMap<string, KnownFile> | null = null;
  const index = () =>
    new Map(
      Array.from(files, ([path, file]): [string, KnownFile] => [`${formatOf(path)} ${file.outside.digest}`, file]),
    );
  return ({ path, digest }) => {
    const known = files.get(path);
    if (known?.outside.digest === digest) return known;
    if (digest === null || files.size === 0 || allowLiteralSecrets.length > 0) return null;
    elsewhere ??= index();
    return elsewhere.get(`${formatOf(path)} ${digest}`) ?? null;
  };
}
