import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Where the files of staged versions go: whoever stages one puts them there, not we. */
export type ArtifactRoot = {
  /** Makes room for a staged version, and answers its URI. */
  readonly prepare: (id: string) => Promise<string>;
  /** Whether nothing was put there; false where that cannot be looked up. */
  readonly isEmpty: (uri: string) => Promise<boolean>;
  /** Takes the room away again. */
  readonly discard: (id: string) => Promise<void>;
};

/** The root at a `file:///` or `s3://` URI; any other is refused. */
export function openArtifactRoot(uri: string): ArtifactRoot {
  if (uri.startsWith("file:///")) return folderRoot(fileURLToPath(uri));
  // The name rules of buckets, and a prefix that stays one whatever follows.
  const isBucket = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[\w!.*'()/-]*)?$/.test(uri);
  if (isBucket) return bucketRoot(uri.replace(/\/+$/, ""));
  throw new TypeError(`artifacts go to file:///folder or s3://bucket/prefix, not to ${uri}`);
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

// A bucket has no folders to make: a prefix is there once something lies under it.
function bucketRoot(root: string): ArtifactRoot {
  return { prepare: async (id) => `${root}/${id}`, isEmpty: async () => false, discard: async () => undefined };
}
