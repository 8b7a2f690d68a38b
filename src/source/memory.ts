import { createHash } from "node:crypto";
import { join } from "node:path";
import { keepSealed, readSealed } from "../seal/file.ts";
import type { SealKey } from "../seal/key.ts";
import type { Meaning } from "./meaning.ts";
import {
  noSource,
  type RememberedContent,
  type RememberedDeclaration,
  type RememberedFile,
  type RememberedSource,
} from "./remembered.ts";

/** Where what is remembered of one source is kept, and for whom. */
export type SourceMemory = {
  readonly load: () => RememberedSource;
  readonly save: (source: RememberedSource) => void;
};

/** What decides how the same bytes are read. */
export type ReadBy = {
  /** Names the build of the program. */
  readonly build: string;
  /** Everything else that reading one file depends on. */
  readonly rules: unknown;
};

/**
 * Keeps what is remembered of a source in a sealed file: whatever cannot be read, was read by other rules or by another
 * build, or is of another source counts as nothing.
 */
export function sourceMemory(folder: string, root: string, key: SealKey, { build, rules }: ReadBy): SourceMemory {
  const place = createHash("sha256").update(root).digest("hex").slice(0, 16);
  const path = join(folder, `source-${place}`);
  const name = `source ${root} by ${build} with ${JSON.stringify(rules)}`;
  return {
    load: () => {
      const content = readSealed(path, key, name);
      return content === null ? noSource : unpack(JSON.parse(content.toString("utf8")) as Packed);
    },
    save: (source) => keepSealed(path, key, name, JSON.stringify(pack(source))),
  };
}

type Packed = { readonly at: number; readonly files: readonly PackedFile[] };

type PackedFile = readonly [
  path: string,
  stamp: readonly [size: number, modified: number, changed: number, inode: number],
  digest: string,
  blob: string | null,
  content: PackedContent | null,
];

/** What a file contributes, as it is written down and sent about. */
export type PackedContent = readonly [
  unmanaged: number,
  said: RememberedContent["said"],
  ...declarations: readonly PackedDeclaration[],
];

type PackedDeclaration = readonly [
  type: string,
  identity: string,
  key: string,
  line: number,
  index: number,
  meaning: readonly [cluster: string | null, day: string | null] | null,
  /** Identity and pointer by turns. */
  ...references: readonly string[],
];

function pack({ at, files }: RememberedSource): Packed {
  return { at, files: [...files].map(([path, file]) => packFile(path, file)) };
}

function packFile(path: string, { stamp, digest, blob, content }: RememberedFile): PackedFile {
  const { size, modified, changed, inode } = stamp;
  return [path, [size, modified, changed, inode], digest, blob, content && packContent(content)];
}

/** Makes what a file contributes ready to be written down. */
export function packContent({ unmanaged, said, declarations }: RememberedContent): PackedContent {
  return [unmanaged, said, ...declarations.map(packDeclaration)];
}

function packDeclaration(one: RememberedDeclaration): PackedDeclaration {
  const { type, identity, key, line, index, references, meaning } = one;
  const told = meaning && ([meaning.cluster, meaning.day] as const);
  return [type, identity, key, line, index, told, ...references.flatMap((each) => [each.identity, each.pointer])];
}

function unpack({ at, files }: Packed): RememberedSource {
  return { at, files: new Map(files.map((file) => [file[0], unpackFile(file)])) };
}

function unpackFile([, [size, modified, changed, inode], digest, blob, content]: PackedFile): RememberedFile {
  return { stamp: { size, modified, changed, inode }, digest, blob, content: content && unpackContent(content) };
}

/** What a file contributes, as it was written down. */
export function unpackContent([unmanaged, said, ...declarations]: PackedContent): RememberedContent {
  return { unmanaged, said, declarations: declarations.map(unpackDeclaration) };
}

function unpackDeclaration([
  type,
  identity,
  key,
  line,
  index,
  told,
  ...rest
]: PackedDeclaration): RememberedDeclaration {
  const meaning: Meaning | null = told && { cluster: told[0], day: told[1] };
  const references = Array.from({ length: rest.length / 2 }, (_, nth) => ({
    identity: rest[2 * nth] ?? "",
    pointer: rest[2 * nth + 1] ?? "",
  }));
  return { type, identity, key, line, index, references, meaning };
}
