import type { Json } from "../../contract/json.ts";
import type { Limits } from "../limits.ts";
import { build, tooDeep } from "./build.ts";
import { isDelicate } from "./delicate.ts";
import { parseExact } from "./exact.ts";
import { parseFast } from "./fast.ts";
import { type Fault, fault } from "./fault.ts";
import { mayLookOdd } from "./invisible.ts";
import { parseJson } from "./json.ts";
import { type Chunk, splitDocuments } from "./split.ts";
import type { Parsed, Stream } from "./stream.ts";
import { decode } from "./text.ts";

/** One document of a file. Offsets count from the start of the file's text. */
export type ParsedDocument = {
  /** Null when the document is empty, or could not be read at all. */
  readonly value: Json;
  readonly faults: readonly Fault[];
  /** Where its content starts. */
  readonly offset: number;
  /** Whether a text in it is in a known credential format. */
  readonly hasCredentials: boolean;
  /** Its own part of the file's text. */
  readonly text: string;
  /** Reads the document again, for the positions of its fields; null when it cannot be read. */
  readonly reread: () => { readonly stream: Stream; readonly offset: number } | null;
};

/** What a file holds. A file that is no text has faults and no documents. */
export type ParsedFile = {
  readonly text: string;
  readonly faults: readonly Fault[];
  readonly documents: readonly ParsedDocument[];
};

/** How a file is to be read, by its name. */
export type Format = "yaml" | "json";

/** The format of a manifest file, or null for any other file. */
export function formatOf(path: string): Format | null {
  const ending = /\.(ya?ml|json)$/i.exec(path)?.[1]?.toLowerCase();
  if (ending === undefined) return null;
  return ending === "json" ? "json" : "yaml";
}

/** Whether a text is worth the exact parser's time: most of what fails to parse in a repository is not ours. */
export type Matters = (text: string) => boolean;

/** Parses the bytes of one file: pure, bounded by the limits, and never throws. */
export function parseFile(
  bytes: Uint8Array,
  format: Format,
  limits: Limits,
  matters: Matters = () => true,
): ParsedFile {
  const decoded = decode(bytes);
  if ("fault" in decoded) return { text: decoded.text, faults: [decoded.fault], documents: [] };
  const { text, isSimple } = decoded;
  const isOdd = mayLookOdd(text, isSimple);
  if (format === "json") {
    const read = () => parseJson(text, limits.depth);
    const document = finish({ text, offset: 0, isExplicit: false }, read, limits, isOdd);
    return { text, faults: [], documents: document === null ? [] : [document] };
  }
  const directive = directiveFault(text);
  if (directive !== null) return { text, faults: [directive], documents: [] };
  const chunks = splitDocuments(text);
  if (chunks.length > limits.documents) return { text, faults: [tooMany(chunks, limits)], documents: [] };
  const permit = permits(matters);
  const documents = chunks.flatMap((chunk) => {
    const mayLook = permit(chunk.text);
    return finish(chunk, () => readYaml(chunk.text, limits, mayLook), limits, isOdd) ?? [];
  });
  return { text, faults: [], documents };
}

// Characters of broken text that get an exact look in one file: there can be a fault in each.
const MOST_BROKEN = 64 * 1024;

type MayLook = (isBroken: boolean) => boolean;

// Decided once per document, so that reading it again gives the same.
function permits(matters: Matters): (text: string) => MayLook {
  let left = MOST_BROKEN;
  return (text) => {
    let decided: boolean | null = null;
    return (isBroken) => {
      decided ??= matters(text) && (!isBroken || text.length <= left);
      if (isBroken && decided) left -= text.length;
      return decided;
    };
  };
}

/** Reads YAML fast where that is safe; where the fast parser fails or the two could differ, the exact one decides. */
export function readYaml(text: string, limits: Limits, mayLook: MayLook = () => true): Parsed {
  const fast = parseFast(text, limits.depth);
  if ("faults" in fast) {
    if (fast.faults[0]?.code === "too-deep")
      return { faults: fast.faults.map(({ offset }) => tooDeep(limits, offset)) };
    return mayLook(true) ? (parseExact(text) ?? fast) : fast;
  }
  if (fast.stream === null || !isDelicate(text, fast.stream)) return fast;
  return mayLook(false) ? (parseExact(text) ?? fast) : fast;
}

function finish(chunk: Chunk, read: () => Parsed, limits: Limits, isOdd: boolean): ParsedDocument | null {
  const { offset, isExplicit } = chunk;
  const shift = (found: Fault): Fault => ({ ...found, offset: Math.max(0, found.offset) + offset });
  const parsed = read();
  if ("faults" in parsed)
    return {
      value: null,
      faults: parsed.faults.map(shift),
      offset,
      hasCredentials: false,
      text: chunk.text,
      reread: () => null,
    };
  if (parsed.stream === null)
    return isExplicit
      ? { value: null, faults: [], offset, hasCredentials: false, text: chunk.text, reread: () => null }
      : null;
  const built = build(parsed.stream, limits, isOdd);
  return {
    value: built.value,
    faults: built.faults.length === 0 ? built.faults : built.faults.map(shift),
    offset: offset + Math.max(0, built.offset),
    hasCredentials: built.hasCredentials,
    text: chunk.text,
    reread: () => {
      const again = read();
      return "stream" in again && again.stream !== null ? { stream: again.stream, offset } : null;
    },
  };
}

function directiveFault(text: string): Fault | null {
  const at = text.startsWith("%") ? 0 : text.indexOf("\n%") + 1;
  if (at === 0 && !text.startsWith("%")) return null;
  return fault(
    at,
    "directive",
    "a YAML directive",
    "Remove the line that starts with `%`: manifests are YAML 1.2 without directives.",
  );
}

function tooMany(chunks: readonly Chunk[], { documents }: Limits): Fault {
  const offset = chunks[documents]?.offset ?? 0;
  return fault(offset, "too-many-documents", `more than ${documents} documents in one file`, "Split the file.");
}
