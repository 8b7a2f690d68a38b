import type { Diagnostic } from "../core/diagnostic.ts";
import type { Identity } from "../core/manifest.ts";
import type { SourceFile } from "../source/revision.ts";
import { isUntouched } from "../source/stamp.ts";
import type { Declaration } from "./declaration.ts";
import type { FileContent } from "./declare.ts";
import type { Meaning } from "./meaning.ts";
import type { RememberedContent, RememberedDeclaration, RememberedFile, RememberedSource } from "./remembered.ts";

/** A file as one run has read it. */
export type ReadFile = {
  readonly file: SourceFile;
  readonly content: FileContent;
  /** What was said of it alone. */
  readonly said: readonly Diagnostic[];
  /** What it was recalled from; null where it was read. */
  readonly recalled: Pick<RememberedFile, "content"> | null;
};

/** By what manifests were told to mean something sound, where that is news; null where they do not. */
type News = ReadonlyMap<Identity, Meaning | null>;

/** A file of which more is said is read each time. */
const MOST_SAID = 20;

/** What to remember of a source for the next run; null where nothing is new. */
export function remember(
  at: number,
  files: readonly ReadFile[],
  meanings: News,
  before: RememberedSource,
): RememberedSource | null {
  // A commit's files lie in no folder that could be read again.
  if (files.length > 0 && files.every(({ file }) => file.stamp === null)) return null;
  let isNew = files.length < before.files.size;
  const next = files.map((read) => {
    const known = before.files.get(read.file.path);
    const now = fileOf(read, meanings, known);
    isNew ||= now !== known || (now !== undefined && !isUntouched(now.outside.stamp, now.outside.stamp, before.at));
    return now;
  });
  if (!isNew) return null;
  const paired = files.flatMap(({ file }, nth): [string, RememberedFile][] => {
    const now = next[nth];
    return now === undefined ? [] : [[file.path, now]];
  });
  return { at, files: new Map(paired) };
}

function fileOf(read: ReadFile, meanings: News, known: RememberedFile | undefined): RememberedFile | undefined {
  const { file, recalled } = read;
  const { stamp, digest, blob } = file;
  if (stamp === null || digest === null) return undefined;
  const hasNews = read.content.declarations.some(({ identity }) => identity !== null && meanings.has(identity));
  const before = known?.outside;
  const isAsKnown = before?.digest === digest && before.blob === blob;
  // Compared with itself, at the end of time: whether nothing but the time of looking differs.
  const isUnmoved = isAsKnown && isUntouched(stamp, before.stamp, Number.POSITIVE_INFINITY);
  if (isUnmoved && recalled === known && !hasNews) return known;
  const told = recalled === null ? contentOf(read) : recalled.content;
  const content = told && hasNews ? withMeanings(told, meanings) : told;
  const isNone = content === null && known?.content === null;
  return isUnmoved && isNone ? known : { outside: { stamp, digest, blob }, content };
}

/** What to remember of a file that was read; null where it has to be read each time. */
export function contentOf({ content, said }: Pick<ReadFile, "content" | "said">): RememberedContent | null {
  const declarations = content.declarations.map(declarationOf);
  const isWhole = declarations.every((one) => one !== null);
  if (!content.isReadable || !isWhole || said.length > MOST_SAID) return null;
  return { declarations, unmanaged: content.unmanaged, said: said.map(({ file: _, ...rest }) => rest) };
}

function declarationOf(one: Declaration): RememberedDeclaration | null {
  const { type, identity, line, index, references, isSound, meaning } = one;
  return isSound && identity !== null ? { type, identity, line, index, references, meaning } : null;
}

function withMeanings(content: RememberedContent, meanings: News): RememberedContent {
  const declarations = content.declarations.map((one) => {
    const news = meanings.get(one.identity);
    return news === undefined ? one : { ...one, meaning: news };
  });
  return { ...content, declarations };
}
