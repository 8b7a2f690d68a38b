import type { Stop } from "../../clock/clock.ts";
import type { VersionFiles } from "../model-files/read-version-files.ts";
import type { OpenStorage } from "./open-storage.ts";

/** Stores the files of a version under a storage root; `onProgress` is told how much of how much is there. */
export async function storeFiles(
  { files, bytes }: VersionFiles,
  { root, open }: { readonly root: string; readonly open: OpenStorage },
  { signal, onProgress }: Stop & { readonly onProgress: (done: number, total: number) => void },
): Promise<void> {
  await using storage = open(root);
  let done = 0;
  await storage.store(files, {
    signal,
    onStored: (stored) => {
      done += stored;
      onProgress(done, bytes);
    },
  });
}
