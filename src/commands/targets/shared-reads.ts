import type { ConfigFile } from "../../source/read-config.ts";
import type { RemoteWithBackoff } from "../../source/remote/with-backoff.ts";
import type { Claims } from "./claims.ts";
import type { Expanded } from "./expand-targets.ts";

/** What the runs of one command over several targets share, so that each source is fetched and each pattern read once. */
export type SharedReads = {
  /** The open remotes, by the name of their source. */
  readonly remotes: Map<string, RemoteWithBackoff>;
  /** The operator's configuration file; absent until the first run has read it, or if there is none. */
  operatorFile?: ConfigFile | undefined;
  /** What the targets declare; absent until the first run needs it. */
  claims?: Claims;
  /** The targets of the configuration; absent until the first run needs them. */
  expanded?: Expanded;
};
