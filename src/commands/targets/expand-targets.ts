import { canonical } from "../../contract/json.ts";
import { type Diagnostic, hasErrors } from "../../core/diagnostic.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { KeyPlace } from "../../source/read-config.ts";
import type { EachOf, PatternItem, PatternRead } from "../../source/read-pattern.ts";
import type { PlaceOf } from "./configured-places.ts";
import {
  duplicateNames,
  type ExpandedEntry,
  expandPattern,
  isPattern,
  patternFault,
  type TargetEntry,
} from "./expand-pattern.ts";
import { patternKey, type RecordedPattern } from "./expansion-record.ts";
import { refusedConfig } from "./refused-config.ts";

/** The targets of a configuration, with those that patterns stand for. */
export type Expanded = {
  readonly entries: readonly TargetEntry[];
  /** Targets that a pattern stood for earlier and whose state is still there. */
  readonly retired: readonly TargetEntry[];
  /** Why an earlier expansion stays in force; null if each pattern is as it is in its source. */
  readonly kept: HoldfastError | null;
  /** What is to be recorded. */
  readonly record: readonly RecordedPattern[];
};

/** How patterns are expanded. */
export type ExpandOptions = {
  readonly placeOf: PlaceOf;
  /** Reads what a pattern stands for in its source. */
  readonly read: (entry: TargetEntry, each: EachOf) => Promise<PatternRead>;
  /** What the patterns stood for last. */
  readonly recorded: readonly RecordedPattern[];
  /** Whether what was recorded last stays in force where a pattern cannot be read, is refused or is emptied. */
  readonly keepsLast: boolean;
  /** Whether a pattern may stand for nothing though it stood for something. */
  readonly allowShrink: boolean;
  /** Whether a target with that name has written or had a pass. */
  readonly hasState: (name: string) => Promise<boolean>;
};

type Part = {
  readonly entry: TargetEntry;
  readonly items: readonly PatternItem[];
  readonly targets: readonly ExpandedEntry[];
  readonly fault: HoldfastError | null;
};

/** Expands the patterns of a configuration. */
export async function expandTargets(entries: readonly TargetEntry[], options: ExpandOptions): Promise<Expanded> {
  for (const entry of entries) requireExpandable(entry, options);
  const parts: Part[] = [];
  for (const entry of entries) parts.push(await partOf(entry, options));
  const all = parts.flatMap(({ targets }) => targets);
  const twice = duplicateNames(all);
  // Which pattern the second one comes from is in its place; all of them keep what they stood for.
  const used = twice.length === 0 ? parts : parts.map((part) => keptPart(part, refusal(twice), options));
  if (twice.length > 0 && duplicateNames(used.flatMap(({ targets }) => targets)).length > 0) throw refusal(twice);
  return joined(used, options);
}

/** Refuses an entry that cannot be expanded, at the place of the key that is wrong. */
export function requireExpandable(entry: TargetEntry, { placeOf }: Pick<ExpandOptions, "placeOf">): void {
  const fault = patternFault(entry);
  if (fault === null) return;
  throw refusedConfig(fault.why, fault.hint, placeOf(entry.name, fault.key));
}

async function partOf(entry: TargetEntry, options: ExpandOptions): Promise<Part> {
  if (!isPattern(entry)) {
    const place = options.placeOf(entry.name, "name");
    const { file, line, column } = place ?? { file: "the configuration", line: null, column: null };
    const item = { values: {}, folder: null, file, line, column };
    return { entry, items: [], targets: [{ entry, item }], fault: null };
  }
  const nothing = { entry, items: [], targets: [], fault: null };
  const place = options.placeOf(entry.name, "each");
  try {
    const { items, diagnostics } = await options.read(entry, entry.each);
    if (hasErrors(diagnostics)) return keptPart(nothing, refusal(diagnostics, place), options);
    const hadItems = recordedOf(entry, options).items.length > 0;
    if (items.length === 0 && hadItems && !options.allowShrink) return keptPart(nothing, emptied(entry), options);
    const expanded = expandPattern(entry, items);
    if (hasErrors(expanded.diagnostics)) return keptPart(nothing, refusal(expanded.diagnostics, place), options);
    return { entry, items, targets: expanded.targets, fault: null };
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code === "terminated" || error.code === "interrupted") throw error;
    return keptPart(nothing, error, options);
  }
}

// Only for reading a pattern, which says nothing of its targets: what it stood for stays in force.
function keptPart(part: Part, fault: HoldfastError, options: ExpandOptions): Part {
  if (!isPattern(part.entry)) return part;
  const { items } = recordedOf(part.entry, options);
  if (!options.keepsLast || items.length === 0) throw fault;
  return { ...part, items, targets: expandPattern(part.entry, items).targets, fault };
}

function recordedOf(entry: TargetEntry, { recorded }: ExpandOptions): RecordedPattern {
  const key = patternKey(entry);
  return recorded.find((one) => one.key === key) ?? { key, items: [], retired: [] };
}

async function joined(parts: readonly Part[], options: ExpandOptions): Promise<Expanded> {
  const entries = parts.flatMap(({ targets }) => targets.map(({ entry }) => entry));
  const names = new Set(entries.map(({ name }) => name.toLowerCase()));
  const patterns = parts.filter(({ entry }) => isPattern(entry));
  const left = await Promise.all(patterns.map((part) => retiredOf(part, names, options)));
  return {
    entries,
    retired: left.flat().map(({ entry }) => entry),
    kept: parts.find(({ fault }) => fault !== null)?.fault ?? null,
    record: patterns.map(({ entry, items }, at) => ({
      key: patternKey(entry),
      items,
      retired: (left[at] ?? []).map(({ item }) => item),
    })),
  };
}

async function retiredOf(
  { entry, items }: Part,
  names: ReadonlySet<string>,
  options: ExpandOptions,
): Promise<readonly ExpandedEntry[]> {
  const { items: before, retired } = recordedOf(entry, options);
  const current = new Set(items.map(({ values }) => canonical({ ...values })));
  const gone = [...retired, ...before].filter(({ values }) => !current.has(canonical({ ...values })));
  const { targets } = expandPattern(entry, gone);
  const byName = new Map(targets.map((one) => [one.entry.name.toLowerCase(), one]));
  const unnamed = [...byName.values()].filter(({ entry: { name } }) => !names.has(name.toLowerCase()));
  const left: ExpandedEntry[] = [];
  for (const one of unnamed) if (await options.hasState(one.entry.name)) left.push(one);
  return left;
}

function refusal(diagnostics: readonly Diagnostic[], place: KeyPlace | null = null): HoldfastError {
  const files = [...new Set(diagnostics.flatMap(({ file }) => file ?? []))].join(", ");
  const pattern = place === null ? "" : `, or the pattern at ${place.file}:${place.line}:${place.column}`;
  return new HoldfastError("invalid", `the targets of a pattern are refused: ${files}`, {
    hint: `correct it${pattern}; nothing was read or sent`,
    diagnostics,
  });
}

function emptied({ each }: TargetEntry): HoldfastError {
  const what = typeof each === "string" ? each : each?.file;
  return new HoldfastError("refused", `${what} stands for no target, and stood for some before`, {
    hint: "bring them back, or allow it once with --allow-shrink: their targets are then retired, and nothing is deleted",
  });
}
