import type { RemoteWithBackoff } from "../../source/remote/with-backoff.ts";
import type { OwnClaims } from "./claims.ts";

/** What those who find the targets of one process again share, so that each source is fetched once. */
export type SharedReads = {
  /** The open remotes, by the name of their source. */
  readonly remotes: Map<string, RemoteWithBackoff>;
  /** What the targets declare; absent until it is first needed. */
  claims?: OwnClaims;
};
