import type { Digests } from "../../cache/known-in-sync.ts";
import { rangeDigest, rangeDigests } from "../../cache/range-digests.ts";
import { ClientError } from "../../client/client-error.ts";
import type { ServerCapabilities } from "../../client/server-capabilities.ts";
import { isObject } from "../../contract/json.ts";
import type { Access } from "../../core/access.ts";
import type { ReaderAccess } from "./read-by-id.ts";
import { noteCaller, readCaller } from "./read-live.ts";

/** No digests: every list is read. */
export const NO_DIGESTS: Digests = { kinds: new Map(), of: async () => null, below: async () => new Map() };

/**
 * Reads the digest of each kind: while it is the same, so is live. None where the control plane does not tell them to this
 * token, or not whose token it is. The caller is read too: in the same reply, where the control plane tells it there.
 */
export async function readDigests(
  asking: ReaderAccess & { readonly capabilities: ServerCapabilities },
): Promise<{ readonly digests: Digests; readonly caller: Promise<Access | null> }> {
  const { reader, capabilities, signal } = asking;
  const unknown = () => ({ digests: NO_DIGESTS, caller: readCaller(asking) });
  if (!capabilities.has("getDigest")) return unknown();
  const ask = (prefix: string): Promise<unknown> =>
    reader.get("getDigest", prefix === "" ? {} : { query: { prefix } }, { signal }).catch((error: unknown) => {
      // A token that is refused is told by the lists, as without digests.
      if (error instanceof ClientError && error.reason !== "unreachable") return null;
      throw error;
    });
  const reply = await ask("");
  if (!isObject(reply)) return unknown();
  const access = isObject(reply.caller) ? noteCaller(reply.caller, capabilities) : await readCaller(asking);
  const caller = Promise.resolve(access);
  if (access === null) return { digests: NO_DIGESTS, caller };
  const of = async (prefix: string) => rangeDigest(await ask(prefix), prefix, access);
  const below = async (prefix: string) => rangeDigests(await ask(prefix), prefix, access);
  const kinds = [...rangeDigests(reply, "", access)].map(([range, said]) => [range.slice(0, -1), said] as const);
  return { digests: { kinds: new Map(kinds), of, below }, caller };
}
