import type { Diagnostic } from "../../core/diagnostic.ts";
import { type ContentGate, namedByGate } from "../../core/gates/content-gate.ts";
import type { Identity, ManifestHead } from "../../core/manifest.ts";
import type { Selection } from "../../core/selection/select.ts";
import { kindOf, kindsByType, kinds as knownKinds } from "../../kinds/index.ts";
import { type Glob, globMatcher, hasWildcard } from "../../model/glob.ts";
import { closestName } from "../../schema/closest-name.ts";
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
  gates: readonly ContentGate[] = [],
): readonly Diagnostic[] {
  const { ignore, external, allowLiteralSecrets } = repository;
  const matchOf = (glob: string, names: Iterable<string>): Match => {
    return Iterator.from(names).some(globMatcher(glob))
      ? { is: "found" }
      : { is: "none", near: nearMatch(glob, names) };
  };
  const references = (): Iterable<Identity> =>
    new Set(manifests.flatMap((one) => one.references.map(({ identity }) => identity)));
  const present = (): Iterable<string> => new Set(manifests.map(({ kind }) => kind));
  const placeOf = (key: string, at: number): Place | undefined => places.get(`/${key}/${at}`);
  return [
    ...(ignore ?? []).flatMap(({ match }, at) =>
      match == null ? [] : unused(`ignore: match: ${match}`, matchOf(match, declared), placeOf("ignore", at)),
    ),
    ...(external ?? []).flatMap((glob, at) =>
      unused(`external: ${glob}`, matchOf(glob, references()), placeOf("external", at)),
    ),
    ...(allowLiteralSecrets ?? []).flatMap((glob, at) =>
      unused(`allowLiteralSecrets: ${glob}`, matchOf(glob, files()), placeOf("allowLiteralSecrets", at)),
    ),
    ...gates.flatMap((gate) => unusedGate(gate, declared)),
    ...exclude.flatMap((glob) => unused(`--exclude ${glob}`, matchOf(glob, declared))),
    ...kinds.flatMap((kind) => unused(`--kind ${kind}`, matchOf(kind, present()))),
  ];
}

// A gate for a kind of which nothing is declared is not needed yet.
function unusedGate({ match, place, ...gate }: ContentGate, declared: ReadonlySet<Identity>): readonly Diagnostic[] {
  if (match === null) return [];
  const names = namedByGate({ ...gate, match, place }, declared, kindOf);
  if (names.length === 0 || names.some(globMatcher(match))) return [];
  const near = nearMatch(match, names);
  return unused(`gate: match: ${match}`, { is: "none", near }, place === null ? undefined : { ...place, column: null });
}

/** Whether a glob matches anything, and else the nearest one that does. */
type Match = { readonly is: "found" } | { readonly is: "none"; readonly near: string | undefined };

type Place = Omit<Diagnostic, "severity" | "code" | "summary" | "detail">;

function unused(
  rule: string,
  match: Match,
  place: Place = { file: null, line: null, column: null },
): readonly Diagnostic[] {
  if (match.is === "found") return [];
  const summary = `\`${rule}\` matches nothing in the source`;
  const guess = match.near === undefined ? "" : `Did you mean ${match.near}? `;
  const detail = `${guess}Correct it, or remove it.`;
  const { file, line, column } = place;
  return [{ severity: "warning", code: "matches-nothing", summary, detail, file, line, column }];
}

/** What to write instead of a glob over identities that no resource of any kind can match; null where one can. */
export function kindCorrection(pattern: Glob): string | null {
  const [head = "", ...rest] = pattern.split("/");
  const across = head.indexOf("**");
  const first = across < 0 ? head : head.slice(0, across + 2);
  const canMatch = (rest.length > 0 || across >= 0) && knownKinds.some(({ type }) => globMatcher(first)(type));
  if (canMatch) return null;
  const near = kindOf(nearMatch(head, kindsByType.keys()) ?? "");
  if (near !== undefined) return `did you mean ${[near.type, ...(rest.length === 0 ? ["**"] : rest)].join("/")}?`;
  return `it begins with a kind: ${knownKinds.map(({ type }) => type).join(", ")}`;
}

/** The name or glob nearest to one that matches nothing, which does match one of the names: of resources, or of files. */
export function nearMatch(pattern: Glob, names: Iterable<string>): string | undefined {
  const candidates = [...names].flatMap((name) => {
    const candidate = corrected(pattern, name, ["/", ":"]);
    return globMatcher(candidate)(name) ? [candidate] : [];
  });
  return closestName(pattern, [...new Set(candidates)]);
}

// The parts of a pattern without wildcards are replaced by those of the name; behind `**` they cannot be told apart.
function corrected(pattern: string, name: string, [separator, ...finer]: readonly string[]): string {
  if (!hasWildcard(pattern)) return name;
  if (separator === undefined) return pattern;
  const known = name.split(separator);
  const parts = pattern.split(separator);
  const across = parts.findIndex((part) => part.includes("**"));
  const all = parts.map((part, at) => (across >= 0 && at > across ? part : corrected(part, known[at] ?? part, finer)));
  return all.join(separator);
}
