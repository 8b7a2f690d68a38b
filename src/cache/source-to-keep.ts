import type { Contents, ReadFile } from "../manifests/load.ts";
import type { Outline } from "../manifests/outline.ts";
import { outlineOf } from "../manifests/outline-of.ts";
import { isUntouched } from "../source/stamp.ts";
import type { KnownFile, KnownSource } from "./known-source.ts";

type News = Contents["meanings"];

/** What to keep of a source for the next run; null where nothing is new. */
export function sourceToKeep({ at, files, meanings }: Contents, before: KnownSource): KnownSource | null {
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
  const paired = files.flatMap(({ file }, nth): [string, KnownFile][] => {
    const now = next[nth];
    return now === undefined ? [] : [[file.path, now]];
  });
  return { at, files: new Map(paired) };
}

function fileOf(read: ReadFile, meanings: News, known: KnownFile | undefined): KnownFile | undefined {
  const { file, from } = read;
  const { stamp, digest, blob } = file;
  if (stamp === null || digest === null) return undefined;
  const hasNews = read.content.declarations.some(({ identity }) => identity !== null && meanings.has(identity));
  const before = known?.outside;
  const isAsKnown = before?.digest === digest && before.blob === blob;
  // Compared with itself, at the end of time: whether nothing but the time of looking differs.
  const isUnmoved = isAsKnown && isUntouched(stamp, before.stamp, Number.POSITIVE_INFINITY);
  if (isUnmoved && from === known && !hasNews) return known;
  const told = from === null ? outlineOf(read) : from.content;
  const content = told && hasNews ? withMeanings(told, meanings) : told;
  const isNone = content === null && known?.content === null;
  return isUnmoved && isNone ? known : { outside: { stamp, digest, blob }, content };
}

function withMeanings(content: Outline, meanings: News): Outline {
  const declarations = content.declarations.map((one) => {
    const news = meanings.get(one.identity);
    return news === undefined ? one : { ...one, meaning: news };
  });
  return { ...content, declarations };
}
