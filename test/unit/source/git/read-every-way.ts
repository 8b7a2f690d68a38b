import { existsSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../../src/clock/system.ts";
import { shareCommitReads } from "../../../../src/source/git/share-commit-reads.ts";
import { defaultLimits } from "../../../../src/source/limits.ts";
import { type Revision, readSource, type SourceOptions } from "../../../../src/source/read-source.ts";
import { git } from "../../../support/git.ts";
import { checkOut, FILTER_RAN, MONITOR_RAN, makeBare, type RandomRepository } from "./random-repository.ts";

const { signal } = new AbortController();

/** What a reading of a source gives, in a form that can be compared; or why there is none. */
export type Reading = object;

/** The readings of one commit, and whether git calls the checkout clean. */
export type Readings = {
  readonly isClean: boolean;
  /** Whether a filter or a monitor of the repository was run. */
  readonly hasRun: boolean;
  readonly remote: Reading;
  readonly atBase: Reading;
  readonly checkout: Reading;
  /** The checkout merged with a base that is ahead, and that base. */
  readonly merged: Reading;
  readonly ahead: Reading;
};

/** Reads a random repository from a remote, at a base, and from a checkout. */
export async function readEveryWay(random: RandomRepository): Promise<Readings> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "holdfast-random-")));
  try {
    const [bare, root] = [join(folder, "bare"), join(folder, "checkout")];
    await makeBare(bare, random);
    await checkOut(bare, root, random);
    const commit = await git(bare, "rev-parse", "main");
    const at = (ref: string, use: "instead" | "compare") => readRevision({ root, base: { ref, use } });
    const idle = { newest: () => null, keep: async () => undefined, kept: async () => null };
    const calls = {
      resolve: async () => commit,
      deepen: async () => undefined,
      onUnreadable: () => undefined,
      retryNow: () => undefined,
    };
    // As a remote has it.
    const repository = shareCommitReads({ gitFolder: bare, commonFolder: bare, top: null }, systemClock);
    using _reads = { [Symbol.dispose]: () => repository.reads?.release() };
    const commits = { repository, ...calls, ...idle };
    const readings = {
      remote: await readRevision({ root, commits }),
      atBase: await at("HEAD", "instead"),
      checkout: await readRevision({ root }),
      merged: { ...(await at("origin/ahead", "compare")), commit: null },
      ahead: { ...(await at("origin/ahead", "instead")), commit: null },
      hasRun: existsSync(join(folder, FILTER_RAN)) || existsSync(join(root, MONITOR_RAN)),
    };
    const status = ["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all"];
    // A mode is no change for us, and what git calls unchanged counts only if it ran no filter for that.
    const settings = ["core.fileMode=false", "filter.upper.clean=", "filter.upper.smudge="];
    const isClean = (await git(root, ...settings.flatMap((each) => ["-c", each]), ...status)) === "";
    return { ...readings, isClean };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readRevision(options: Partial<SourceOptions> & { readonly root: string }): Promise<Reading> {
  const all = { cwd: options.root, base: null, commits: null, limits: defaultLimits, ...options };
  const prepared = { ignore: [], knownFiles: { at: 0, files: new Map() }, ref: null };
  try {
    using read = await readSource(all, async () => prepared, { clock: systemClock, signal });
    return { commit: read.revision.commit, ...(await contentOf(read.revision)) };
  } catch (error) {
    // Only for a commit does the message name it.
    return { failed: String(error).replace(/ at "[^"]*"$/, "") };
  }
}

async function contentOf({ files, diagnostics, config }: Revision) {
  const texts: (readonly [string, string])[] = [];
  for (const file of files) texts.push([file.path, Buffer.from(await file.bytes({ signal })).toString("latin1")]);
  const found = diagnostics.map(({ code, file, summary }) => `${file} ${code} ${summary}`).toSorted();
  const { paths = null, unknownFields = null } = config.repository;
  return { texts, found, config: { paths, unknownFields } };
}
