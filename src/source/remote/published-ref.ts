import type { Clock, Stop } from "../../clock/clock.ts";
import { publishedRefOf } from "../git/applied-commit.ts";
import { sourceFailure } from "./classify-failure.ts";
import { readCredentials } from "./credentials.ts";
import { remoteEnvironment } from "./git-environment.ts";
import type { RemoteAccess } from "./remote.ts";
import { type GitResult, runGit } from "./run-git.ts";

/** A ref of a remote that names the commit applied last. */
export type PublishedRef = {
  readonly ref: string;
  /** The commit that it names; null if the ref does not exist. `folder` is a git directory of ours. */
  readonly read: (folder: string, stop: Stop) => Promise<string | null>;
  /** Moves it to a commit of the git directory, if it still names the expected one. */
  readonly move: (
    commit: string,
    from: { readonly folder: string; readonly expected: string | null },
    stop: Stop,
  ) => Promise<"moved" | "lost">;
};

const MAX_MS = 60_000;

/** Messages of git if another process moved the ref after it was read. */
const LOST = /stale info|cannot lock ref|reference already exists|failed to update ref/;

/** The ref of a target in a remote repository. */
export function createPublishedRef(options: RemoteAccess & { readonly clock: Clock }): PublishedRef {
  const { clock, name, address } = options;
  const ref = publishedRefOf(name);
  const run = (folder: string, args: readonly string[], { signal }: Stop): Promise<GitResult> => {
    const credentials = readCredentials({ source: name, ...options.credentials });
    const env = remoteEnvironment(folder, { ...options, credentials });
    return runGit(args, { folder, env, signal: AbortSignal.any([signal, clock.timeout(MAX_MS)]) });
  };
  return {
    ref,
    read: async (folder, stop) => {
      const { code, stdout, stderr } = await run(folder, ["ls-remote", "--quiet", "--", address.url, ref], stop);
      if (code !== 0) throw sourceFailure(name, stderr);
      const found = stdout.split("\n").find((line) => line.endsWith(`\t${ref}`));
      return found?.split("\t")[0] ?? null;
    },
    move: async (commit, { folder, expected }, stop) => {
      const lease = `--force-with-lease=${ref}:${expected ?? ""}`;
      const flags = ["--quiet", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", lease];
      const pushed = await run(folder, ["push", ...flags, "--", address.url, `${commit}:${ref}`], stop);
      if (pushed.code === 0) return "moved";
      const output = pushed.stdout + pushed.stderr;
      if (LOST.test(output)) return "lost";
      // If the remote refused the push, its reason is on the line of the ref.
      const refused = pushed.stdout.split("\n").find((line) => line.startsWith("!\t"));
      throw sourceFailure(name, refused === undefined ? pushed.stderr : `error: ${refused.replaceAll("\t", " ")}`);
    },
  };
}
