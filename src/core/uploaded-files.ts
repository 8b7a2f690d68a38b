import { equal, type JsonObject } from "../contract/json.ts";
import type { FileUpload } from "./kind.ts";
import type { Live } from "./live.ts";
import type { Recorded } from "./recorded.ts";

/** What is known of a version that may have the files already. */
type Known = { readonly live: Live; readonly recorded: Recorded | null };

/**
 * A manifest with the digest of its files, and with the source of the live version if that has the same files. Otherwise it still
 * names the files on this machine, which are uploaded before it is written.
 */
export function withFileDigest(
  manifest: JsonObject,
  digest: string,
  upload: FileUpload,
  { live, recorded }: Known,
): JsonObject {
  const stored = storedFiles(digest, upload, { live, recorded });
  const named = upload.withDigest(manifest, digest);
  return stored === null ? named : upload.withStored(named, stored);
}

function storedFiles(digest: string, upload: FileUpload, { live, recorded }: Known): JsonObject | null {
  const written = recorded !== null && upload.digestIn(recorded.written) === digest ? recorded.written : null;
  const byRecord = written === null ? null : upload.storedIn(written);
  if (live.state === "unknown") return byRecord;
  if (live.state === "absent") return null;
  const source = upload.storedIn(live.row.manifest);
  if (upload.digestIn(live.row.manifest) === digest) return source;
  // The files of a version never change, but anybody may change its metadata.
  return byRecord !== null && source !== null && equal(byRecord, source) ? source : null;
}
