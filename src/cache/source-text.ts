import { compareText } from "../core/diagnostic.ts";
import type { Outline } from "../manifests/outline.ts";
import { readOutline, type Same, writeOutline } from "../manifests/outline-text.ts";
import type { FileState } from "../source/known-files.ts";
import type { Stamp } from "../source/stamp.ts";
import type { KnownFile, KnownSource, KnownSourceFiles } from "./known-source.ts";

/**
 * What is known of a source, as text: a line that tells the files apart, then a line for what each contributes, so
 * that thousands of files are no more than a few long strings until somebody asks for one.
 */
export function writeSourceText({ at, files }: KnownSource): string {
  const head: Head = { at, paths: [], stamps: [], digests: [], blobs: [] };
  const lines: string[] = [];
  for (const [path, file] of files) {
    const { stamp, digest, blob } = file.outside;
    head.paths.push(path);
    head.stamps.push(stamp.size, stamp.modified, stamp.changed, stamp.inode);
    head.digests.push(digest);
    head.blobs.push(blob);
    lines.push(file instanceof KeptFile ? file.line : writeOutline(file.content));
  }
  return [JSON.stringify(head), ...lines].join("\n");
}

/** Reads what `writeSource` wrote. */
export function readSourceText(text: string): KnownSource {
  const end = text.indexOf("\n");
  const head = JSON.parse(end === -1 ? text : text.slice(0, end)) as Head;
  return { at: head.at, files: new KeptFiles(head, text) };
}

/** By columns, four numbers a stamp. */
type Outsides = { readonly stamps: number[]; readonly digests: string[]; readonly blobs: (string | null)[] };

type Head = Outsides & { readonly at: number; readonly paths: string[] };

class KeptFiles implements KnownSourceFiles {
  readonly outsides: Outsides;
  readonly same = textsOnce();
  readonly #paths: readonly string[];
  readonly #text: string;
  /** Where the line of each file ends. */
  readonly #ends: Uint32Array;
  readonly #files: KeptFile[] = [];
  #next = 0;

  constructor({ paths, stamps, digests, blobs }: Head, text: string) {
    this.outsides = { stamps, digests, blobs };
    this.#paths = paths;
    this.#text = text;
    this.#ends = lineEnds(text, paths.length);
  }

  get size(): number {
    return this.#paths.length;
  }

  get(path: string): KnownFile | undefined {
    // Mostly they are asked for in order.
    const place = this.#paths[this.#next] === path ? this.#next : placeOf(this.#paths, path);
    if (place === -1) return undefined;
    this.#next = place + 1;
    return this.#at(place);
  }

  *[Symbol.iterator](): Generator<readonly [string, KnownFile]> {
    for (const [place, path] of this.#paths.entries()) yield [path, this.#at(place)];
  }

  line(place: number): string {
    return this.#text.slice((this.#ends[place] ?? 0) + 1, this.#ends[place + 1]);
  }

  #at(place: number): KeptFile {
    const known = this.#files[place];
    if (known !== undefined) return known;
    const file = new KeptFile(this, place);
    this.#files[place] = file;
    return file;
  }
}

// The first is that of the head.
function lineEnds(text: string, lines: number): Uint32Array {
  const ends = new Uint32Array(lines + 1);
  for (let line = 0, from = 0; line <= lines; line++) {
    const end = text.indexOf("\n", from);
    ends[line] = end === -1 ? text.length : end;
    from = end + 1;
  }
  return ends;
}

function placeOf(paths: readonly string[], path: string): number {
  let [low, high] = [0, paths.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareText(paths[middle] ?? "", path) < 0) low = middle + 1;
    else high = middle;
  }
  return paths[low] === path ? low : -1;
}

// Apart from the file, so that whoever holds it for long does not hold what all files contribute.
class KeptOutside implements FileState {
  readonly #all: Outsides;
  readonly #place: number;

  constructor(all: Outsides, place: number) {
    this.#all = all;
    this.#place = place;
  }

  get stamp(): Stamp {
    const { stamps } = this.#all;
    const at = 4 * this.#place;
    const [size = 0, modified = 0, changed = 0, inode = 0] = [
      stamps[at],
      stamps[at + 1],
      stamps[at + 2],
      stamps[at + 3],
    ];
    return { size, modified, changed, inode };
  }

  get digest(): string {
    return this.#all.digests[this.#place] ?? "";
  }

  get blob(): string | null {
    return this.#all.blobs[this.#place] ?? null;
  }
}

class KeptFile implements KnownFile {
  readonly outside: FileState;
  readonly #files: KeptFiles;
  readonly #place: number;

  constructor(files: KeptFiles, place: number) {
    this.outside = new KeptOutside(files.outsides, place);
    this.#files = files;
    this.#place = place;
  }

  /** As it is written. */
  get line(): string {
    return this.#files.line(this.#place);
  }

  get content(): Outline | null {
    return readOutline(this.line, this.#files.same);
  }
}

// Files that lie side by side refer to the same resources: more than the last few thousand texts need not be known.
const MOST_TEXTS = 4096;

function textsOnce(): Same {
  const known = new Map<string, string>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    if (known.size >= MOST_TEXTS) known.clear();
    known.set(text, text);
    return text;
  };
}
