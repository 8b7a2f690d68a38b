import type { Diagnostic } from "../../core/diagnostic.ts";
import type { OperatorConfig } from "../../source/read-config.ts";
import type { PatternItem } from "../../source/read-pattern.ts";

/** An entry of `targets` in the operator's configuration. */
export type TargetEntry = NonNullable<OperatorConfig["targets"]>[number];

/** A target that an entry with `each` stands for, with the item that it was made for. */
export type ExpandedEntry = { readonly entry: TargetEntry; readonly item: PatternItem };

/** The entry with a pattern, and the places that it has placeholders in. */
type Pattern = Omit<TargetEntry, "each"> & { readonly each: NonNullable<TargetEntry["each"]> };

const PLACEHOLDER = /\{([A-Za-z][A-Za-z0-9_-]*)\}/g;
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const SEGMENT = /^(?!\.{1,2}$)[A-Za-z0-9._-]+$/;
const MAX_VALUE = 255;
const MAX_NAME = 63;

/** The keys in which placeholders stand. */
const WITH_PLACEHOLDERS: readonly (keyof TargetEntry)[] = ["each", "name", "paths", "server"];

/** Whether an entry stands for one target for each item. */
export function isPattern(entry: TargetEntry): entry is TargetEntry & Pattern {
  return entry.each !== undefined && entry.each !== null;
}

/** Why an entry cannot be expanded, whatever the source has, with the key that is wrong. */
type PatternFault = { readonly key: keyof TargetEntry; readonly why: string; readonly hint: string };

/** Why an entry cannot be expanded, whatever the source has, and what to do; null if it can. */
export function patternFault(entry: TargetEntry): PatternFault | null {
  const used = placeholdersIn(entry);
  if (!isPattern(entry)) {
    const [first] = used;
    if (first === undefined) return null;
    return {
      key: namesIn(entry.name).length > 0 ? "name" : "server",
      why: `target ${entry.name} has the placeholder {${first}} without \`each\``,
      hint: "add `each`, or write a name",
    };
  }
  const elsewhere = keysOf(entry).find(
    (key) => !WITH_PLACEHOLDERS.includes(key) && namesIn(JSON.stringify(entry[key])).length > 0,
  );
  if (elsewhere !== undefined) {
    return {
      key: elsewhere,
      why: `target ${entry.name} has a placeholder in \`${elsewhere}\``,
      hint: "placeholders stand in `name`, `paths` and `server` alone",
    };
  }
  if (namesIn(entry.name).length === 0) {
    return {
      key: "name",
      why: `the name of target ${entry.name} has no placeholder, so all its targets have one name`,
      hint: 'such as "{dir}"',
    };
  }
  if (entry.server?.includes("://") && namesIn(entry.server).length > 0) {
    return {
      key: "server",
      why: `the address in \`server\` of target ${entry.name} has a placeholder`,
      hint: 'name the control planes in `servers`, and give the name of one, such as `server: "{dir}"`',
    };
  }
  const unknown = typeof entry.each === "string" ? used.find((name) => name !== "dir") : undefined;
  if (unknown === undefined) return null;
  const key = WITH_PLACEHOLDERS.find((one) => namesIn(JSON.stringify(entry[one] ?? "")).includes(unknown));
  return {
    key: key ?? "each",
    why: `target ${entry.name} has the placeholder {${unknown}}, which folders do not have`,
    hint: "folders have {dir}",
  };
}

function placeholdersIn({ each, name, paths, server }: TargetEntry): readonly string[] {
  // Without a pattern, braces in a path are its own.
  return [name, ...(each ? (paths ?? []) : []), server ?? ""].flatMap(namesIn);
}

function keysOf(entry: TargetEntry): readonly (keyof TargetEntry)[] {
  // An entry that was read has no other keys.
  return Object.keys(entry) as (keyof TargetEntry)[];
}

function namesIn(text: string): readonly string[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, name = ""]) => name);
}

/** The targets that an entry stands for, and the faults of its items. Two targets of one name are a fault, also by case. */
export function expandPattern(
  pattern: TargetEntry,
  items: readonly PatternItem[],
): { readonly targets: readonly ExpandedEntry[]; readonly diagnostics: readonly Diagnostic[] } {
  const faults = items.flatMap((item) => itemFaults(pattern, item));
  if (faults.length > 0) return { targets: [], diagnostics: faults };
  const targets = items.map((item) => ({ entry: entryOf(pattern, item), item }));
  const wrong = targets.flatMap(nameFaults);
  return { targets, diagnostics: wrong.length > 0 ? wrong : duplicateNames(targets) };
}

/** A fault for each target whose name an earlier one has, also by case. */
export function duplicateNames(targets: readonly ExpandedEntry[]): readonly Diagnostic[] {
  const first = new Map<string, ExpandedEntry>();
  return targets.flatMap((one) => {
    const key = one.entry.name.toLowerCase();
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, one);
    if (earlier === undefined) return [];
    const both = earlier.entry.name === one.entry.name ? "" : `, which differs from ${earlier.entry.name} only by case`;
    return [
      fault(
        one.item,
        `a second target is called ${one.entry.name}${both}`,
        `The first one comes from ${placeOf(earlier.item)}.`,
      ),
    ];
  });
}

function entryOf({ each: _, ...pattern }: TargetEntry, { values, folder }: PatternItem): TargetEntry {
  const fill = (text: string): string => text.replace(PLACEHOLDER, (whole, name: string) => values[name] ?? whole);
  const paths = pattern.paths?.map(fill) ?? (folder === null ? null : [folder]);
  return {
    ...pattern,
    name: fill(pattern.name),
    ...(paths === null ? {} : { paths }),
    ...(pattern.server ? { server: fill(pattern.server) } : {}),
  };
}

function itemFaults(pattern: TargetEntry, item: PatternItem): readonly Diagnostic[] {
  return [...new Set(placeholdersIn(pattern))].flatMap((name) => {
    const value = item.values[name];
    if (value === undefined) {
      return [
        fault(item, `the item has no ${name}, which the target ${pattern.name} uses`, `Add \`${name}\` to the item.`),
      ];
    }
    if (SEGMENT.test(value) && value.length <= MAX_VALUE) return [];
    return [
      fault(
        item,
        `${JSON.stringify(value)} cannot stand for {${name}}`,
        "A value has letters, digits, '-', '_' and '.' alone, and is neither '.' nor '..'.",
      ),
    ];
  });
}

function nameFaults({ entry: { name }, item }: ExpandedEntry): readonly Diagnostic[] {
  // A git ref with the name of the target says what was applied last.
  if (name.length <= MAX_NAME && NAME.test(name) && !name.includes("..") && !name.endsWith(".lock")) return [];
  const form = `A name has at most ${MAX_NAME} letters, digits, '-', '_' and single '.', with a letter or a digit at both ends.`;
  return [fault(item, `${JSON.stringify(name)} cannot be the name of a target`, form)];
}

function placeOf({ file, line }: PatternItem): string {
  return line === null ? file : `${file}:${line}`;
}

function fault({ file, line, column }: PatternItem, summary: string, detail: string): Diagnostic {
  return { severity: "error", code: "target-pattern", summary, detail, file, line, column };
}
