import { createHash } from "node:crypto";

/** A file of a tree: its path below the root, with `/`, and the SHA-256 of its content in hexadecimal. */
type TreeFile = { readonly path: string; readonly digest: string };

/**
 * The digest of a tree of files: the SHA-256 of what `sha256sum` prints of its files in the order of their paths by bytes.
 * The order in which they are given does not matter.
 */
export function treeDigest(files: readonly TreeFile[]): string {
  const sum = createHash("sha256");
  const named = files.map(({ path, digest }) => ({ bytes: Buffer.from(path), digest }));
  for (const { bytes, digest } of named.toSorted((a, b) => Buffer.compare(a.bytes, b.bytes))) {
    sum.update(`${digest}  `).update(bytes).update("\n");
  }
  return `sha256:${sum.digest("hex")}`;
}
