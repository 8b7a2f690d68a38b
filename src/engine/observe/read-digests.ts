import { type KindDigest, kindDigests } from "../../cache/kind-digests.ts";
import type { ServerCapabilities } from "../../client/server-capabilities.ts";
import type { Access } from "../../core/access.ts";
import type { ReaderAccess } from "./read-by-id.ts";
import { isResourceError } from "./read-live.ts";

/**
 * Reads the digest of each kind: while it is the same, so is live. None where the control plane does not tell them to this
 * token, or not whose token it is; then the lists are read.
 */
export async function readDigests(
  caller: Promise<Access | null>,
  { reader, capabilities, signal }: ReaderAccess & { readonly capabilities: ServerCapabilities },
): Promise<ReadonlyMap<string, KindDigest>> {
  if (!capabilities.has("getDigest")) return new Map();
  const [access, reply] = await Promise.all([
    caller,
    reader.get("getDigest", {}, { signal }).catch((error: unknown) => {
      if (isResourceError(error)) return null;
      throw error;
    }),
  ]);
  return access === null ? new Map() : kindDigests(reply, access);
}
