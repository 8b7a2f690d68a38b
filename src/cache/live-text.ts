import { KnownRow, type PageFact } from "../client/recall.ts";
import type { Identity } from "../core/manifest.ts";
import type { KnownLive, ListFacts, LiveToKeep, SyncRecord, SyncRecords } from "./in-sync.ts";

/** In the first line: the lists, each with a line of its rows that follows. */
type Head = { readonly lists: readonly (readonly [kind: string, pages: readonly PageFact[]])[] };

type WrittenRow = readonly [imprint: string, id: string, key: string | null, version: number | null];

/**
 * Writes what is known of a control plane as text, so that a hundred thousand rows and records are no more than one
 * long string until somebody asks for one: a line that tells the lists and their pages, a line for the rows of each, and
 * four lines for every record. It comes in pieces, since the whole may be as large as everything else that a run holds.
 */
export function* writeLiveText({ lists, inSync }: LiveToKeep): Generator<string> {
  const head: Head = { lists: [...lists].map(([kind, { pages }]) => [kind, pages]) };
  yield `${JSON.stringify(head)}\n`;
  for (const list of lists.values()) yield `${list instanceof KeptList ? list.line : writeRows(list)}\n`;
  let piece: string[] = [];
  for (const lines of writeRecords(inSync)) {
    piece.push(lines, "\n");
    if (piece.length < PIECE) continue;
    yield piece.join("");
    piece = [];
  }
  yield piece.join("");
}

// Record by record it would take longer to seal.
const PIECE = 2000;

/** Reads what `writeLiveText` wrote. */
export function readLiveText(text: string): KnownLive {
  let at = lineAfter(text, 0);
  const { lists } = JSON.parse(text.slice(0, at)) as Head;
  const kept = new Map<string, ListFacts>();
  for (const [kind, pages] of lists) {
    const end = lineAfter(text, at);
    kept.set(kind, new KeptList(pages, text.slice(at, end - 1)));
    at = end;
  }
  return { lists: kept, inSync: new KeptRecords(text, at) };
}

/** Where nothing is known. */
export const NOTHING = '{"lists":[]}\n';

class KeptList implements ListFacts {
  readonly pages: readonly PageFact[];
  /** As it is written. */
  readonly line: string;
  #rows: readonly KnownRow[] | null = null;

  constructor(pages: readonly PageFact[], line: string) {
    this.pages = pages;
    this.line = line;
  }

  get rows(): readonly KnownRow[] {
    this.#rows ??= (JSON.parse(this.line) as readonly WrittenRow[]).map(
      ([imprint, id, key, version]) => new KnownRow(imprint, { id, key, version }),
    );
    return this.#rows;
  }
}

function writeRows({ rows }: ListFacts): string {
  return JSON.stringify(rows.map(({ imprint, id, key, version }): WrittenRow => [imprint, id, key, version]));
}

function* writeRecords(inSync: LiveToKeep["inSync"]): Generator<string> {
  for (const [identity, record] of inSync) {
    const lines = record instanceof KeptRecord ? record.lines : linesOf(identity, record);
    // Whoever puts line breaks into a name has it looked at each time.
    if (record instanceof KeptRecord || lines.split("\n").length === LINES) yield lines;
  }
}

/** Of a record: whose it is, and what it rests on. */
const LINES = 4;

function linesOf(identity: Identity, { manifest, receipt, row }: SyncRecord): string {
  return [identity, manifest, receipt ?? "", row ?? ""].join("\n");
}

class KeptRecord implements SyncRecord {
  /** As it is written. */
  readonly lines: string;

  constructor(lines: string) {
    this.lines = lines;
  }

  get manifest(): string {
    return this.#line(1) ?? "";
  }

  get receipt(): string | null {
    return this.#line(2);
  }

  get row(): string | null {
    return this.#line(3);
  }

  #line(nth: number): string | null {
    return this.lines.split("\n", LINES)[nth] || null;
  }
}

class KeptRecords implements SyncRecords {
  readonly #text: string;
  readonly #start: number;
  /** Where the next one stands, if they are asked for in order. */
  #next: number;
  #places: ReadonlyMap<Identity, number> | null = null;

  constructor(text: string, start: number) {
    this.#text = text;
    this.#start = start;
    this.#next = start;
  }

  get(identity: Identity): SyncRecord | undefined {
    const at = this.#find(identity);
    return at === undefined ? undefined : this.#read(at);
  }

  hold(identity: Identity, { manifest, receipt }: Pick<SyncRecord, "manifest" | "receipt">): boolean {
    const text = this.#text;
    const at = this.#find(identity);
    if (at === undefined) return false;
    const manifestAt = at + identity.length + 1;
    const receiptAt = lineAfter(text, manifestAt);
    this.#next = lineAfter(text, lineAfter(text, receiptAt));
    return isLine(text, manifestAt, manifest) && isLine(text, receiptAt, receipt ?? "");
  }

  *[Symbol.iterator](): Generator<readonly [Identity, SyncRecord]> {
    for (const at of this.#all()) yield [this.#line(at), this.#read(at)];
  }

  #find(identity: Identity): number | undefined {
    if (this.#next === this.#text.length) this.#next = this.#start;
    if (isLine(this.#text, this.#next, identity)) return this.#next;
    this.#places ??= new Map(this.#all().map((at) => [this.#line(at), at]));
    return this.#places.get(identity);
  }

  *#all(): Generator<number> {
    for (let at = this.#start; at < this.#text.length; at = lineAfter(this.#text, at, LINES)) yield at;
  }

  #read(at: number): KeptRecord {
    this.#next = lineAfter(this.#text, at, LINES);
    return new KeptRecord(this.#text.slice(at, this.#next - 1));
  }

  #line(at: number): string {
    return this.#text.slice(at, lineAfter(this.#text, at) - 1);
  }
}

// Without making a text of the line.
function isLine(text: string, at: number, line: string): boolean {
  return text.startsWith(line, at) && text[at + line.length] === "\n";
}

function lineAfter(text: string, at: number, lines = 1): number {
  let next = at;
  for (let line = 0; line < lines; line += 1) next = text.indexOf("\n", next) + 1;
  return next;
}
