import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import type { CommitSource } from "../../src/source/read-source.ts";
import type { SourceConfig } from "../../src/source/read-source-config.ts";
import { filesByPath, type SourceFile } from "../../src/source/revision.ts";
import { SourceError } from "../../src/source/source-error.ts";
import type { SourceReader } from "../../src/source/source-reader.ts";
import type { Files } from "../support/manifests.ts";
import type { Process } from "./process.ts";

/** What a daemon says while the remote cannot be reached. */
export const REMOTE_AWAY = "the remote does not answer";

/** A git remote in memory: the commits of one branch, of which the last one is its tip. */
export type Repository = {
  readonly push: (files: Files) => string;
  /** The files of a commit. */
  readonly filesOf: (commit: string) => Files | undefined;
  readonly tip: () => string;
  /** Whether it can be reached. */
  isReachable: boolean;
};

/** Creates a remote with a first commit. */
export function createRepository(first: Files): Repository {
  const commits = new Map<string, Files>();
  let tip = "";
  const push = (files: Files): string => {
    tip = hash("sha1", `${tip} ${commits.size} ${JSON.stringify(files)}`);
    commits.set(tip, files);
    return tip;
  };
  push(first);
  return { push, filesOf: (commit) => commits.get(commit), tip: () => tip, isReachable: true };
}

/** The root of the source; nothing is read there. */
export const ROOT = "/";

/** The configuration of a source that has none. */
export const NO_CONFIG: SourceConfig = {
  files: [],
  isPresent: false,
  repository: {},
  policies: { folders: [], own: null, base: null, operator: null, place: null },
  places: new Map(),
  diagnostics: [],
};

/** A remote as a process follows it, and how it reads its commits. */
export function followed(
  repository: Repository,
  process: Process,
  kept: { commit: string | null },
): { readonly commits: CommitSource; readonly reader: SourceReader } {
  let newest: string | null = null;
  const commits: CommitSource = {
    repository: { top: ROOT, gitFolder: ROOT, commonFolder: ROOT } as unknown as CommitSource["repository"],
    resolve: async () => {
      await process.clock.sleep(process.random.next() * 50);
      if (!process.passSeam("fetch")) return new Promise<never>(() => {});
      if (!repository.isReachable) throw new SourceError("Unreachable", REMOTE_AWAY, { hint: "try again" });
      newest = repository.tip();
      return newest;
    },
    newest: () => newest,
    keep: (commit) =>
      process.durably(() => {
        kept.commit = commit;
      }),
    kept: async (stored) => stored ?? kept.commit,
    onUnreadable: () => {},
    deepen: async () => {},
    retryNow: () => {},
  };
  const read: SourceReader["read"] = async ({ commits: source }, prepare, pace) => {
    const commit = (await source?.resolve(pace)) ?? repository.tip();
    const files = Object.entries(repository.filesOf(commit) ?? {})
      .map(([path, text]) => fileOf(path, text))
      .toSorted((one, other) => (one.path < other.path ? -1 : 1));
    const prepared = await prepare(NO_CONFIG);
    const all = { files, filesByPath: filesByPath(files), diagnostics: [], leftOut: new Map<string, number>() };
    return {
      revision: { commit, at: process.clock.now(), root: ROOT, config: NO_CONFIG, ...all },
      prepared,
      checkoutFault: null,
      base: null,
      [Symbol.dispose]: () => {},
    };
  };
  return { commits, reader: { read, history: async () => null } };
}

const known = new Map<string, SourceFile>();

function fileOf(path: string, text: string): SourceFile {
  const key = `${path}\0${text}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size > 10_000) known.clear();
  const content = Buffer.from(text);
  const file: SourceFile = {
    path,
    display: path,
    bytes: () => content,
    size: content.length,
    digest: hash("sha256", content),
    stamp: null,
    blob: hash("sha1", `blob ${content.length}\0${text}`),
  };
  known.set(key, file);
  return file;
}
