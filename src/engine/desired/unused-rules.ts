import type { Diagnostic } from "../../core/diagnostic.ts";
import type { Identity, ManifestHead } from "../../core/manifest.ts";
import { globMatcher } from "../../core/selection/glob.ts";
import type { Selection } from "../../core/selection/select.ts";
import type { SourceConfig } from "../../source/read-source-config.ts";

/** The resources and fields that rules and globs are matched with. */
export type Declared = {
  readonly manifests: readonly Pick<ManifestHead, "kind" | "references">[];
  readonly declared: ReadonlySet<Identity>;
  /** Files that were read, relative to the source. */
  readonly files: () => readonly string[];
};

/** Warnings of rules, globs and kinds that match nothing, most likely because of a typing error. */
export function unusedRules(
  { manifests, declared, files }: Declared,
  { ignore, external, allowLiteralSecrets }: SourceConfig["repository"],
  { kinds, exclude }: Selection,
): readonly Diagnostic[] {
  const isDeclared = (glob: string): boolean => declared.values().some(globMatcher(glob));
  const isReferred = (glob: string): boolean => {
    const matches = globMatcher(glob);
    return manifests.some(({ references }) => references.some(({ identity }) => matches(identity)));
  };
  const isFile = (glob: string): boolean => files().some(globMatcher(glob));
  const isPresent = (type: string): boolean => manifests.some(({ kind }) => kind === type);
  return [
    ...(ignore ?? []).flatMap(({ match }) => (match == null || isDeclared(match) ? [] : [`ignore: match: ${match}`])),
    ...(external ?? []).flatMap((glob) => (isReferred(glob) ? [] : [`external: ${glob}`])),
    ...(allowLiteralSecrets ?? []).flatMap((glob) => (isFile(glob) ? [] : [`allowLiteralSecrets: ${glob}`])),
    ...exclude.flatMap((glob) => (isDeclared(glob) ? [] : [`--exclude ${glob}`])),
    ...kinds.flatMap((type) => (isPresent(type) ? [] : [`--kind ${type}`])),
  ].map(unused);
}

function unused(rule: string): Diagnostic {
  const summary = `\`${rule}\` matches nothing in the source`;
  const detail = "Correct it, or remove it.";
  return { severity: "warning", code: "matches-nothing", summary, detail, file: null, line: null, column: null };
}
