import type { ImportedResource } from "../../contract/generated/output.ts";
import { kindIn } from "../../core/kind.ts";
import { type Identity, splitIdentity } from "../../core/manifest.ts";
import type { ImportedFile } from "../../core/report/events.ts";
import { kindsByType } from "../../kinds/index.ts";
import { type Loaded, type LoadRules, loadManifests } from "../../manifests/load-manifests.ts";
import { globMatcher } from "../../model/glob.ts";
import { defaultLimits } from "../../source/limits.ts";
import type { Pace } from "../../source/pacer.ts";
import { filesByPath, type SourceFile } from "../../source/revision.ts";

/** The files that a source may have, those that it would refuse, and what they refer to. */
export type CheckedFiles = {
  readonly files: readonly ImportedFile[];
  readonly refused: readonly ImportedResource[];
  /** What they refer to and nothing declares, though others of the kind are declared. */
  readonly undeclared: readonly Identity[];
};

type Checking = {
  readonly rules: LoadRules;
  /** Globs over identities that are declared elsewhere. */
  readonly external: readonly string[];
  /** What the source declares besides. */
  readonly declared: ReadonlySet<Identity>;
  readonly pace: Pace;
};

/** Reads files as a source would be read that has them, and leaves out those with errors. */
export async function checkFiles(files: readonly ImportedFile[], checking: Checking): Promise<CheckedFiles> {
  const loaded = await loadFiles(files, checking);
  const faults = new Map(
    loaded.diagnostics.flatMap(({ severity, file, summary, detail }) =>
      severity === "error" && file !== null ? [[file, [summary, detail].filter(Boolean).join(". ")] as const] : [],
    ),
  );
  if (faults.size === 0) return { files, refused: [], undeclared: undeclaredIn(loaded, checking) };
  // A file that is left out may be what made others invalid, as in a cycle.
  const rest = await checkFiles(
    files.filter(({ path }) => !faults.has(path)),
    checking,
  );
  const refused = files.flatMap(({ identity, kind, path }): ImportedResource[] => {
    const detail = faults.get(path);
    return detail === undefined ? [] : [{ identity, kind, file: null, result: "skipped", why: "invalid", detail }];
  });
  return { ...rest, refused: [...refused, ...rest.refused] };
}

async function loadFiles(files: readonly ImportedFile[], { rules, pace }: Checking): Promise<Loaded> {
  const sources = files.map(({ path, text }): SourceFile => {
    const bytes = Buffer.from(text);
    return { path, display: path, bytes: () => bytes, size: bytes.length, digest: null, stamp: null, blob: null };
  });
  const revision = {
    commit: null,
    at: pace.clock.now(),
    root: "",
    files: sources,
    filesByPath: filesByPath(sources),
    diagnostics: [],
    leftOut: new Map(),
  };
  // References to what is not among the files are no errors: the source may declare it.
  const lenient = { ...rules, external: ["**"] };
  return loadManifests(revision, { rules: lenient, limits: defaultLimits, now: new Date(pace.clock.now()) }, pace);
}

function undeclaredIn({ manifests, declared }: Loaded, { external, declared: before }: Checking): readonly Identity[] {
  const all = declared.union(before);
  const kinds = new Set([...all].map((identity) => splitIdentity(identity).kind));
  const externals = external.map(globMatcher);
  const referredTo = new Set(manifests.flatMap(({ references }) => references.map(({ identity }) => identity)));
  return (
    [...referredTo]
      .filter((identity) => !all.has(identity) && kinds.has(splitIdentity(identity).kind))
      // As in any source, a group of secrets may be made by hand.
      .filter((identity) => kindIn(kindsByType, identity)?.values === undefined)
      .filter((identity) => !externals.some((matches) => matches(identity)))
      .toSorted()
  );
}
