import type { Diagnostic } from "../core/diagnostic.ts";
import type { Identity } from "../core/manifest.ts";
import type { Declaration } from "./declaration.ts";
import type { FileContent } from "./declare.ts";
import type { Meaning } from "./meaning.ts";
import type { RememberedContent, RememberedDeclaration, RememberedFile, RememberedSource } from "./remembered.ts";
import type { SourceFile } from "./revision.ts";
import { isUntouched } from "./stamp.ts";

/** A file as one run has read it. */
export type ReadFile = {
  readonly file: SourceFile;
  readonly content: FileContent;
  /** What was said of it alone. */
  readonly said: readonly Diagnostic[];
  /** What it was recalled from; null where it was read. */
  readonly recalled: RememberedContent | null;
};

const NO_MEANINGS: ReadonlyMap<Identity, Meaning> = new Map();

/** A file of which more is said is read each time. */
const MOST_SAID = 20;

/** What to remember of a source for the next run; null where nothing is new. */
export function remember(
  at: number,
  files: readonly ReadFile[],
  meanings: ReadonlyMap<Identity, Meaning>,
  before: RememberedSource,
): RememberedSource | null {
  // A commit's files lie in no folder that could be read again.
  if (files.length > 0 && files.every(({ file }) => file.stamp === null)) return null;
  let isNew = files.length < before.files.size;
  const next = new Map<string, RememberedFile>();
  for (const read of files) {
    const known = before.files.get(read.file.path);
    const now = fileOf(read, meanings, known);
    isNew ||= now !== known || (now !== undefined && !isUntouched(now.stamp, now.stamp, before.at));
    if (now !== undefined) next.set(read.file.path, now);
  }
  return isNew ? { at, files: next } : null;
}

function fileOf(
  read: ReadFile,
  meanings: ReadonlyMap<Identity, Meaning>,
  known: RememberedFile | undefined,
): RememberedFile | undefined {
  const { stamp, digest, blob } = read.file;
  if (stamp === null || digest === null) return undefined;
  const content = read.recalled === null ? contentOf(read, meanings) : withMeanings(read.recalled, meanings);
  const isKnown = known !== undefined && known.content === content && known.blob === blob && known.digest === digest;
  // Compared with itself, at the end of time: whether nothing but the time of looking differs.
  return isKnown && isUntouched(stamp, known.stamp, Number.POSITIVE_INFINITY)
    ? known
    : { stamp, digest, blob, content };
}

/** What to remember of a file that was read; null where it has to be read each time. */
export function contentOf(
  { content, said }: Pick<ReadFile, "content" | "said">,
  meanings: ReadonlyMap<Identity, Meaning> = NO_MEANINGS,
): RememberedContent | null {
  const declarations = content.declarations.map((one) => declarationOf(one, meanings));
  const isWhole = declarations.every((one) => one !== null);
  if (!content.isReadable || !isWhole || said.length > MOST_SAID) return null;
  return { declarations, unmanaged: content.unmanaged, said: said.map(({ file: _, ...rest }) => rest) };
}

function declarationOf(
  { type, identity, key, line, index, references, isSound, meaning }: Declaration,
  meanings: ReadonlyMap<Identity, Meaning>,
): RememberedDeclaration | null {
  if (!isSound || identity === null || key === null) return null;
  return { type, identity, key, line, index, references, meaning: meanings.get(identity) ?? meaning };
}

// The same object where nothing is new, which is what is mostly so.
function withMeanings(content: RememberedContent, meanings: ReadonlyMap<Identity, Meaning>): RememberedContent {
  const isSame = content.declarations.every(({ identity, meaning }) => (meanings.get(identity) ?? null) === meaning);
  if (isSame) return content;
  const declarations = content.declarations.map((one) => ({ ...one, meaning: meanings.get(one.identity) ?? null }));
  return { ...content, declarations };
}
