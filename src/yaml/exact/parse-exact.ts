import { type ParsedNode, parseDocument, type YAMLError } from "yaml";
import { type Fault, fault, tooDeep } from "../fault.ts";
import type { YamlLimits } from "../limits.ts";
import { lineFinder } from "../locator.ts";
import { likelyMistake } from "./likely-mistake.ts";

/** The root of a document's nodes (null when it has only white space and comments), or its faults. */
export type Parsed = { readonly root: ParsedNode | null } | { readonly faults: readonly Fault[] };

/** Parses one document with the library `yaml`: the reference for the meaning of a text, and slow. */
export function parseExact(text: string, { depth }: YamlLimits): Parsed {
  const { stackTraceLimit } = Error;
  // The parser creates an error object for every fault; their stack traces would cost more than the parsing.
  Error.stackTraceLimit = 0;
  try {
    const { errors, contents } = parseDocument(text, OPTIONS);
    if (errors.length === 0) return { root: contents };
    // The nesting exceeds the call stack, which the parser reports as an error of the text.
    if (errors.some(({ code }) => code === "RESOURCE_EXHAUSTION"))
      return { faults: [tooDeep(depth, tooDeepAt(text, depth))] };
    const faults = errors.slice(0, MAX_FAULTS).map((error) => syntaxFault(error, text));
    return { faults: firstOfEachLine(faults, text) };
  } catch (error) {
    // The same, thrown where the parser does not expect it.
    if (error instanceof RangeError) return { faults: [tooDeep(depth, tooDeepAt(text, depth))] };
    throw error;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

const OPTIONS = { schema: "failsafe", uniqueKeys: false, prettyErrors: false, logLevel: "silent" } as const;

/** Faults after the first few are usually consequences of them. */
const MAX_FAULTS = 10;

// The parser's own messages quote the text and are never shown.
function syntaxFault({ code, message, pos: [at] }: YAMLError, text: string): Fault {
  const { offset, summary, detail } = likelyMistake({ code, message, offset: at }, text);
  return fault(offset, code === "TAG_RESOLVE_FAILED" ? "tag" : "syntax", `not valid YAML: ${summary}`, detail);
}

// Later faults on the same line are consequences of the first, as are many after an open bracket.
function firstOfEachLine(faults: readonly Fault[], text: string): readonly Fault[] {
  const positionAt = lineFinder(text);
  return [...new Map(faults.toReversed().map((each) => [positionAt(each.offset).line, each])).values()].toReversed();
}

// About where a text is nested deeper than that, since the parser does not tell: quotation marks are not looked at.
function tooDeepAt(text: string, depth: number): number {
  const columns: number[] = [];
  let brackets = 0;
  for (const { 0: line, index } of text.matchAll(/.+/g)) {
    const [, indent = "", dashes = ""] = /^( *)((?:- +)*)/.exec(line) ?? [];
    if (brackets === 0) {
      while ((columns.at(-1) ?? -1) >= indent.length) columns.pop();
      columns.push(indent.length);
      for (const { index: column } of dashes.matchAll(/- +/g)) {
        if (columns.push(indent.length + column + 2) > depth) return index + indent.length + column;
      }
    }
    for (let at = indent.length + dashes.length; at < line.length; at += 1) {
      const mark = line.charAt(at);
      if (mark === "[" || mark === "{") brackets += 1;
      else if (mark === "]" || mark === "}") brackets -= 1;
      if (columns.length + brackets > depth) return index + at;
    }
  }
  return 0;
}
