import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { STAGED_PATH } from "../../../contract/staged-files.ts";
import type { KeyRing } from "../../../seal/seal-key.ts";
import { signStage } from "./signed-stage.ts";

/** The place of a staged version. */
export type StagePlace = {
  /** The URI that the version's source has. */
  readonly uri: string;
  /** What the caller gets: the same, or with a signature that opens it for a time. */
  readonly storageRoot: string;
  /** When the signature expires, in epoch milliseconds; null where files do not go through this server. */
  readonly expiresAt: number | null;
};

/** The storage of staged versions; the client puts the files there. */
export type ArtifactRoot = {
  /** Creates the place of a staged version. */
  readonly prepare: (id: string) => Promise<StagePlace>;
  /** Whether it has no files; false when that cannot be checked. */
  readonly isEmpty: (uri: string) => Promise<boolean>;
  /** Deletes the place of a staged version. */
  readonly discard: (id: string) => Promise<void>;
};

/** What a root needs whose files go through this server. */
export type ServedRoot = {
  /** The folder in which the files are. */
  readonly folder: string;
  readonly keys: () => KeyRing;
  /** The end of a signature that is made now, in epoch milliseconds. */
  readonly expiry: () => number;
};

/** Whether a root is the address of a control plane, through which its files go. */
export function isServedRoot(uri: string | undefined): uri is string {
  return uri !== undefined && /^https?:/.test(uri);
}

/** Opens the root at a `file:///`, `s3://` or `https://` URI, the last of which is the address of this server; throws for any other. */
export function openArtifactRoot(uri: string, served: ServedRoot): ArtifactRoot {
  if (uri.startsWith("file:///")) return folderRoot(fileURLToPath(uri));
  // The naming rules of buckets, and a plain prefix.
  const isBucket = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[\w!.*'()/-]*)?$/.test(uri);
  if (isBucket) return bucketRoot(uri.replace(/\/+$/, ""));
  const { protocol, username, search, hash } = URL.parse(uri) ?? { protocol: "", username: "", search: "", hash: "" };
  if (/^https?:$/.test(protocol) && `${username}${search}${hash}` === "") {
    return servedRoot(uri.replace(/\/+$/, ""), served);
  }
  throw new TypeError(
    `artifacts are stored at file:///folder, s3://bucket/prefix or the https:// address of this server, not at ${uri}`,
  );
}

function folderRoot(root: string): ArtifactRoot {
  return {
    prepare: async (id) => {
      const folder = join(root, id);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return ownPlace(pathToFileURL(folder).href);
    },
    isEmpty: async (uri) => uri.startsWith("file:///") && (await isEmptyFolder(fileURLToPath(uri))),
    discard: (id) => rm(join(root, id), { recursive: true, force: true }),
  };
}

function ownPlace(uri: string): StagePlace {
  return { uri, storageRoot: uri, expiresAt: null };
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
  return { prepare: async (id) => ownPlace(`${root}/${id}`), isEmpty: async () => false, discard: async () => {} };
}

function servedRoot(address: string, { folder, keys, expiry }: ServedRoot): ArtifactRoot {
  const root = `${address}${STAGED_PATH}`;
  return {
    prepare: async (id) => {
      await mkdir(join(folder, id), { recursive: true, mode: 0o700 });
      const expiresAt = expiry();
      return { uri: `${root}/${id}`, storageRoot: `${root}/${signStage({ id, expiresAt }, keys())}`, expiresAt };
    },
    // The database knows the files of such a stage.
    isEmpty: async () => false,
    discard: (id) => rm(join(folder, id), { recursive: true, force: true }),
  };
}
