import type { Digests } from "../../cache/known-in-sync.ts";
import { rangeDigest, rangeDigests } from "../../cache/range-digests.ts";
import { ClientError } from "../../client/client-error.ts";
import type { ServerCapabilities } from "../../client/server-capabilities.ts";
import type { Access } from "../../core/access.ts";
import type { ReaderAccess } from "./read-by-id.ts";

/** No digests: every list is read. */
export const NO_DIGESTS: Digests = { kinds: new Map(), of: async () => null, below: async () => new Map() };

/**
 * Reads the digest of each kind: while it is the same, so is live. None where the control plane does not tell them to this
 * token, or not whose token it is.
 */
export async function readDigests(
  caller: Promise<Access | null>,
  { reader, capabilities, signal }: ReaderAccess & { readonly capabilities: ServerCapabilities },
): Promise<Digests> {
  if (!capabilities.has("getDigest")) return NO_DIGESTS;
  const ask = (prefix: string): Promise<unknown> =>
    reader.get("getDigest", prefix === "" ? {} : { query: { prefix } }, { signal }).catch((error: unknown) => {
      // A token that is refused is told by the lists, as without digests.
      if (error instanceof ClientError && error.reason !== "unreachable") return null;
      throw error;
    });
  const [access, reply] = await Promise.all([caller, ask("")]);
  if (access === null) return NO_DIGESTS;
  const of = async (prefix: string) => rangeDigest(await ask(prefix), prefix, access);
  const below = async (prefix: string) => rangeDigests(await ask(prefix), prefix, access);
  const kinds = [...rangeDigests(reply, "", access)].map(([range, said]) => [range.slice(0, -1), said] as const);
  return { kinds: new Map(kinds), of, below };
}
