import { join } from "node:path";
import type { Meter } from "../../daemon/meter.ts";
import { createRemote, type Remote } from "../../source/remote/remote.ts";
import { type RemoteWithBackoff, withBackoff } from "../../source/remote/with-backoff.ts";
import type { Invocation } from "../command.ts";
import { tell } from "../output/log-stream.ts";
import { sentence } from "../terminal.ts";
import type { SourceChoice } from "./configured-sources.ts";

/** How the targets of patterns are followed while passes run. */
export type TargetsFollowing = {
  /** Looks whether patterns stand for other targets; passes with a new commit wait for that. */
  check: () => Promise<void>;
  /** The targets that patterns no longer stand for. */
  gone: ReadonlySet<string>;
};

/** Where remotes are opened, and how they are used. */
export type RemotePlace = {
  /** The open remotes, by the name of their source. */
  readonly remotes: Map<string, RemoteWithBackoff>;
  readonly stateFolder: string;
  readonly invocation: Invocation;
  readonly use: { readonly meter?: Meter | undefined; readonly follows?: boolean };
  readonly following: TargetsFollowing;
};

/** The remote of a source, opened once. */
export function remoteOf(source: SourceChoice, place: RemotePlace): RemoteWithBackoff {
  const { remotes, stateFolder, invocation, use, following } = place;
  const known = remotes.get(source.name);
  if (known !== undefined) return known;
  const { clock } = invocation.terminal;
  const remote = createRemote({ ...source, clock, folder: join(stateFolder, "sources", `${source.name}.git`) });
  const followed = withBackoff(
    sayCommits(measured(remote, use.meter, invocation.terminal), invocation.terminal),
    clock,
  );
  const paced = use.follows ? checkedFirst(followed, following) : fetchedOnce(followed);
  remotes.set(source.name, paced);
  return paced;
}

// A command looks at one revision of each source, however many of its targets follow it.
function fetchedOnce(remote: RemoteWithBackoff): RemoteWithBackoff {
  let fetched: ReturnType<Remote["fetch"]> | null = null;
  return {
    ...remote,
    fetch: (stop) => {
      fetched ??= remote.fetch(stop).catch((error: unknown) => {
        fetched = null;
        throw error;
      });
      return fetched;
    },
  };
}

// A target whose folder a commit removes is retired before its pass misses the folder.
function checkedFirst(remote: RemoteWithBackoff, following: TargetsFollowing): RemoteWithBackoff {
  let checked: string | null = null;
  let checking: Promise<void> = Promise.resolve();
  return {
    ...remote,
    fetch: async (stop) => {
      const fetched = await remote.fetch(stop);
      if (fetched.commit !== checked) {
        checked = fetched.commit;
        checking = checking.then(() => following.check());
      }
      await checking;
      return fetched;
    },
  };
}

function measured(remote: Remote, meter: Meter | undefined, { clock }: Invocation["terminal"]): Remote {
  if (meter === undefined) return remote;
  return {
    ...remote,
    fetch: async (stop) => {
      const begunAt = clock.monotonic();
      let result: "fetched" | "failed" = "failed";
      try {
        const fetched = await remote.fetch(stop);
        result = "fetched";
        return fetched;
      } finally {
        meter.count("fetches", remote.name, result);
        meter.fetched(remote.name, clock.monotonic() - begunAt);
      }
    },
  };
}

// Reports the fetched commit whenever it changes.
function sayCommits(remote: Remote, { stderr }: Invocation["terminal"]): Remote {
  let reported: string | null = null;
  return {
    ...remote,
    fetch: async (stop) => {
      const fetched = await remote.fetch(stop);
      const { commit, change, before } = fetched;
      const ref = remote.ref === null ? "" : ` ${remote.ref}`;
      const rewritten =
        change === "rewritten" ? `; its history was rewritten, ${before?.slice(0, 12)} is not in it` : "";
      const message = `source ${remote.name}:${ref} is at ${commit.slice(0, 12)}${rewritten}`;
      if (commit !== reported)
        tell(stderr, { event: "fetched", message, source: remote.name, revision: commit }, () =>
          sentence(message, stderr),
        );
      reported = commit;
      return fetched;
    },
  };
}
