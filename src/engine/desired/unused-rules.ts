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
  { repository, places }: Pick<SourceConfig, "repository" | "places">,
  { kinds, exclude }: Selection,
): readonly Diagnostic[] {
  const { ignore, external, allowLiteralSecrets } = repository;
  const isDeclared = (glob: string): boolean => declared.values().some(globMatcher(glob));
  const isReferred = (glob: string): boolean => {
    const matches = globMatcher(glob);
    return manifests.some(({ references }) => references.some(({ identity }) => matches(identity)));
  };
  const isFile = (glob: string): boolean => files().some(globMatcher(glob));
  const isPresent = (type: string): boolean => manifests.some(({ kind }) => kind === type);
  const placeOf = (key: string, at: number): Place | undefined => places.get(`/${key}/${at}`);
  return [
    ...(ignore ?? []).flatMap(({ match }, at) =>
      match == null || isDeclared(match) ? [] : [unused(`ignore: match: ${match}`, placeOf("ignore", at))],
    ),
    ...(external ?? []).flatMap((glob, at) =>
      isReferred(glob) ? [] : [unused(`external: ${glob}`, placeOf("external", at))],
    ),
    ...(allowLiteralSecrets ?? []).flatMap((glob, at) =>
      isFile(glob) ? [] : [unused(`allowLiteralSecrets: ${glob}`, placeOf("allowLiteralSecrets", at))],
    ),
    ...exclude.flatMap((glob) => (isDeclared(glob) ? [] : [unused(`--exclude ${glob}`)])),
    ...kinds.flatMap((type) => (isPresent(type) ? [] : [unused(`--kind ${type}`)])),
  ];
}

type Place = Omit<Diagnostic, "severity" | "code" | "summary" | "detail">;

function unused(rule: string, place: Place = { file: null, line: null, column: null }): Diagnostic {
  const summary = `\`${rule}\` matches nothing in the source`;
  const detail = "Correct it, or remove it.";
  const { file, line, column } = place;
  return { severity: "warning", code: "matches-nothing", summary, detail, file, line, column };
}
