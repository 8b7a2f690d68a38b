// src/engine/upload: the places where files of model versions are stored. See docs/architecture.md#files-of-model-versions.

import type { TransferOptions } from "../../client/transfer.ts";
import { isSentInClear } from "../../http/loopback.ts";
import { folderStorage } from "./folder-storage.ts";
import { s3Storage } from "./s3-storage.ts";
import { servedStorage } from "./served-storage.ts";
import { StorageRefusal, type VersionStorage } from "./storage.ts";

/** Opens the storage root that a control plane has answered. */
export type OpenStorage = (root: string) => VersionStorage;

/** How storage roots are opened; `server` is the address of the control plane. */
export type StorageOptions = Omit<TransferOptions, "concurrency"> & { readonly server: string };

/** Opens storage roots by their scheme; one of another scheme is a `StorageRefusal`. */
export function storageOpener(options: StorageOptions): OpenStorage {
  return (root) => {
    if (root.startsWith("file:///")) return folderStorage(root);
    if (root.startsWith("s3://")) return s3Storage(root, options);
    const { protocol = "", origin } = URL.parse(root) ?? {};
    if (protocol === "https:" || protocol === "http:") {
      // The token of the control plane goes the same way.
      if (isSentInClear(root) && origin !== URL.parse(options.server)?.origin) {
        throw new StorageRefusal("the storage root is an http:// address: files are sent over https");
      }
      return servedStorage(root, options);
    }
    throw new StorageRefusal(
      `files cannot be stored at ${protocol === "" ? "the storage root" : protocol}//: it is none of file, https and s3`,
    );
  };
}
