import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The storage of staged versions; the client puts the files there. */
export type ArtifactRoot = {
  /** Creates the place of a staged version, and returns its URI. */
  readonly prepare: (id: string) => Promise<string>;
  /** Whether it has no files; false when that cannot be checked. */
  readonly isEmpty: (uri: string) => Promise<boolean>;
  /** Deletes the place of a staged version. */
  readonly discard: (id: string) => Promise<void>;
};

/** Opens the root at a `file:///` or `s3://` URI; throws for any other. */
export function openArtifactRoot(uri: string): ArtifactRoot {
  if (uri.startsWith("file:///")) return folderRoot(fileURLToPath(uri));
  // The naming rules of buckets, and a plain prefix.
  const isBucket = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[\w!.*'()/-]*)?$/.test(uri);
  if (isBucket) return bucketRoot(uri.replace(/\/+$/, ""));
  throw new TypeError(`artifacts are stored at file:///folder or s3://bucket/prefix, not at ${uri}`);
}

function folderRoot(root: string): ArtifactRoot {
  return {
    prepare: async (id) => {
      const folder = join(root, id);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return pathToFileURL(folder).href;
    },
    isEmpty: async (uri) => uri.startsWith("file:///") && (await isEmptyFolder(fileURLToPath(uri))),
    discard: (id) => rm(join(root, id), { recursive: true, force: true }),
  };
}

async function isEmptyFolder(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length === 0;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return true;
    throw error;
  }
}

// A bucket has no folders: a prefix needs not be created.
function bucketRoot(root: string): ArtifactRoot {
  return { prepare: async (id) => `${root}/${id}`, isEmpty: async () => false, discard: async () => undefined };
}
