import { type Dirent, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { compareText } from "../../contract/json.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { HoldfastError } from "../../core/errors.ts";
import { readGivenFile, UnreadableFileError, whyUnreadable } from "../../files/read-given-file.ts";
import { relativePath } from "../../files/real-path.ts";
import { fileDiagnostic } from "../../source/file-diagnostic.ts";
import { isManifestFile, isSkippedName } from "../../source/ignore-files.ts";
import type { ExactProcess } from "../../yaml/read-yaml.ts";
import { POLICY_LIMITS, type PolicyFile, type ReadPolicies, readPolicies } from "./read-policies.ts";

/**
 * Reads the policies of a folder that the operator, or a person, has named, and of those below it: the files that would be
 * manifests in a source. Links are followed. What may hold a policy and cannot be read is an error.
 */
export async function readOperatorFolder(
  folder: string,
  { cwd, exact, correction }: FolderReading,
): Promise<ReadPolicies> {
  const shown = (path: string): string => relativePath(cwd, path);
  const found: (PolicyFile | Diagnostic)[] = [];
  for (const one of filesBelow({ path: folder, entries: entriesOf(folder, correction), above: new Set() }, shown)) {
    found.push(typeof one === "string" ? policyFile(one, shown(one)) : one);
    // The limit of files is reported by the first beyond it.
    if (found.length > POLICY_LIMITS.files) break;
  }
  if (found.length === 0) throw noPolicy(folder, correction);
  const unread = found.filter((one): one is Diagnostic => "severity" in one);
  if (unread.length > 0) return { policies: [], diagnostics: unread };
  return readPolicies(
    found.filter((one): one is PolicyFile => "bytes" in one),
    exact,
  );
}

/** How a folder of policies is read: `correction` is what to do where it holds none. */
export type FolderReading = { readonly cwd: string; readonly exact: ExactProcess; readonly correction: string };

type Folder = {
  readonly path: string;
  readonly entries: readonly Dirent[];
  /** The real paths of the folders that it lies in, so that a link to one of them is followed once. */
  readonly above: ReadonlySet<string>;
};

function* filesBelow(folder: Folder, shown: (path: string) => string): Generator<string | Diagnostic> {
  const above = new Set([...folder.above, realpathSync(folder.path)]);
  for (const entry of folder.entries.toSorted((a, b) => compareText(a.name, b.name))) {
    const path = join(folder.path, entry.name);
    const stat = statusOf(path);
    if (stat?.isDirectory()) {
      if (isSkippedName(entry.name) || above.has(realpathSync(path))) continue;
      const entries = readable(path);
      if (entries === null) yield unreadable(shown(path), "a folder that cannot be read");
      else yield* filesBelow({ path, entries, above }, shown);
    } else if (isManifestFile(entry.name)) yield path;
    else if (stat === null && entry.isSymbolicLink() && !isSkippedName(entry.name))
      yield unreadable(shown(path), "a link that leads nowhere");
  }
}

function statusOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

function readable(folder: string): readonly Dirent[] | null {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return null;
  }
}

function entriesOf(folder: string, correction: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (cause) {
    throw new HoldfastError("invalid", `the folder of policies ${folder} cannot be read`, {
      hint: `${correction}; nothing is planned or written without the policies`,
      cause,
    });
  }
}

function noPolicy(folder: string, correction: string): HoldfastError {
  return new HoldfastError("invalid", `the folder ${folder} holds no policy`, {
    hint: `a policy is a file that ends in .yaml, .yml or .json; ${correction}`,
  });
}

function policyFile(path: string, display: string): PolicyFile | Diagnostic {
  try {
    const bytes = readGivenFile(path, POLICY_LIMITS.bytes);
    return { display, bytes, size: bytes.length };
  } catch (error) {
    if (!(error instanceof UnreadableFileError)) throw error;
    return unreadable(display, `a policy that ${whyUnreadable(error)}`);
  }
}

function unreadable(display: string, summary: string): Diagnostic {
  return fileDiagnostic("error", "unreadable", display, summary);
}
