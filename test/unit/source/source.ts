import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemClock } from "../../../src/clock/system.ts";
import type { Diagnostic } from "../../../src/core/diagnostic.ts";
import { type Loaded, type LoadRules, loadManifests } from "../../../src/manifests/load-manifests.ts";
import { findRepository } from "../../../src/source/git/find-repository.ts";
import { defaultLimits, type Limits } from "../../../src/source/limits.ts";
import { readFolder } from "../../../src/source/read-folder.ts";
import type { CommitSource } from "../../../src/source/read-source.ts";
import { createRemote, type Remote } from "../../../src/source/remote/remote.ts";
import type { RevisionFiles, SourceFile } from "../../../src/source/revision.ts";
import { temporaryFolder } from "../../support/folder.ts";

/** Files by path; bytes where text would not do. */
export type Files = { readonly [path: string]: string | Uint8Array };

/** A signal that never fires. */
export const signal: AbortSignal = new AbortController().signal;

/** A folder of the test's own with the given files. */
export async function folderOf(files: Files): Promise<string> {
  const folder = await temporaryFolder();
  write(folder, files);
  return folder;
}

/** Writes files into a folder. */
export function write(folder: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/** What may be said of a reading. */
export type ReadOptions = {
  readonly paths?: readonly string[];
  readonly ignore?: readonly string[];
  readonly limits?: Partial<Limits>;
};

/** Reads a folder as a source. */
export async function read(root: string, options: ReadOptions = {}): Promise<RevisionFiles> {
  const limits = { ...defaultLimits, ...options.limits };
  const repository = await findRepository(root, { signal });
  return readFolder({ ...options, root, cwd: root, repository, limits }, { clock: systemClock, signal });
}

/** The paths that were read. */
export function pathsOf({ files }: RevisionFiles): readonly string[] {
  return files.map(({ path }) => path);
}

/** What files hold, as text; they are read in turn. */
export async function textsOf(files: readonly SourceFile[]): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const file of files) texts.push(Buffer.from(await file.bytes({ signal })).toString());
  return texts;
}

/** The size of each file, and how many bytes of it are read. */
export async function sizesOf(files: readonly SourceFile[]): Promise<readonly (readonly [number, number])[]> {
  return Promise.all(files.map(async (file) => [file.size, (await file.bytes({ signal })).length] as const));
}

/** Writes files into a new folder and loads it. */
export async function loadFiles(files: Files, rules: LoadRules = {}): Promise<Loaded> {
  return loadRevision(await read(await folderOf(files)), rules);
}

/** Loads a revision, on a fixed day. */
export function loadRevision(revision: RevisionFiles, rules: LoadRules = {}): Promise<Loaded> {
  const now = new Date("2026-11-21T12:00:00Z");
  return loadManifests(revision, { rules, limits: defaultLimits, now }, { clock: systemClock, signal });
}

/** Diagnostics in short: where, how bad, what. */
export function brief(diagnostics: readonly Diagnostic[]): readonly string[] {
  return diagnostics.map(({ file, line, column, severity, code }) => `${file}:${line}:${column} ${severity} ${code}`);
}

/** A repository that a folder follows, and its newest commits as a source reads them. */
export function followedInto(url: string, folder: string): { readonly remote: Remote; readonly commits: CommitSource } {
  const remote = createRemote({
    clock: systemClock,
    name: "platform",
    folder,
    address: { protocol: "file", url },
    ref: "main",
    credentials: { username: null, tokenFile: null, sshKeyFile: null, tokenText: null },
    caFile: null,
    knownHosts: null,
    env: {},
  });
  const commits: CommitSource = {
    repository: remote.repository,
    resolve: async () => (await remote.fetch({ signal })).commit,
    newest: () => null,
    keep: async () => {},
    kept: async () => null,
    deepen: async () => undefined,
    onUnreadable: () => {},
    retryNow: () => {},
  };
  return { remote, commits };
}
