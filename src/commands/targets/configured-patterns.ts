import { join } from "node:path";
import { errorMessage } from "../../contract/error-message.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { HoldfastError } from "../../core/errors.ts";
import { runWarning } from "../../core/run-warning.ts";
import { type EachOf, type PatternRead, readPattern } from "../../source/read-pattern.ts";
import { fileStatus } from "../../source/read-regular-file.ts";
import { realRoot } from "../../source/source-root.ts";
import { isStorageError } from "../../state/is-storage-error.ts";
import type { ChosenSources } from "./choose-targets.ts";
import { placed } from "./configured-places.ts";
import { sourceOf } from "./configured-sources.ts";
import type { SharedByTargets } from "./create-target.ts";
import { isPattern, type TargetEntry } from "./expand-pattern.ts";
import { type Expanded, expandTargets, requireExpandable } from "./expand-targets.ts";
import { patternKey, type RecordedPattern, readExpansion, writeExpansion } from "./expansion-record.ts";
import { remoteOf, type TargetsFollowing } from "./target-remote.ts";
import { targetState } from "./target-state.ts";

/** The patterns of targets while their passes run. */
export type TargetPatterns = {
  /** Looks in the sources as they are now. */
  readonly expandAgain: () => Promise<Expanded>;
  readonly expanded: Expanded;
  readonly following: TargetsFollowing;
  /** Whether a pattern is looked up in a local folder, whose changes no fetch tells. */
  readonly areLocal: boolean;
};

/** The patterns of a configuration, to be looked up again; null if it has none. */
export function patternsOf(expanded: Expanded, chosen: ChosenSources, shared: SharedByTargets): TargetPatterns | null {
  const patterns = chosen.entries.filter(isPattern);
  if (patterns.length === 0) return null;
  const areLocal = patterns.some((entry) => sourceOf(entry, chosen.sources, chosen.placeOf) === null);
  const lists = new Map<string, ListRead>();
  const expandAgain = (): Promise<Expanded> =>
    expandNow(chosen, { ...shared, root: realRoot(shared.named) }, expanded.record, (entry, file, read) => {
      const { mtimeMs = 0, size = -1, ino = 0 } = fileStatus(join(realRoot(shared.named), file)) ?? {};
      const stamp = `${mtimeMs} ${size} ${ino}`;
      const known = lists.get(patternKey(entry));
      if (known?.stamp === stamp) return known.read;
      const now = read();
      lists.set(patternKey(entry), { stamp, read: now });
      return now;
    });
  return { expandAgain, expanded, following: shared.following, areLocal };
}

type ListRead = { readonly stamp: string; readonly read: Promise<PatternRead> };

/** The targets of a configuration, with those that its patterns stand for. */
export async function expandedOf(chosen: ChosenSources, shared: SharedByTargets): Promise<Expanded> {
  const { entries } = chosen;
  if (!entries.some(isPattern)) {
    for (const entry of entries) requireExpandable(entry, chosen);
    return { entries, retired: [], kept: null, record: [] };
  }
  const { use, invocation, stateFolder, database } = shared;
  // The record is of the configuration, and in the state that belongs to none of its targets.
  await using state = targetState({ folder: stateFolder, target: null, database, isUnsealed: true }, invocation);
  const recorded = await state
    .target()
    .then(readExpansion)
    .catch((error: unknown) => {
      if (!use.reading || !isStorageError(error)) throw error;
      invocation.terminal.warnings.add(unreadRecord(error));
      return [];
    });
  const expanded = await expandNow(chosen, shared, recorded, null);
  if (!use.reading) await writeExpansion(await state.target(), expanded.record);
  if (expanded.kept !== null) invocation.terminal.warnings.add(keptWarning(expanded.kept));
  for (const [at, entry] of entries.filter(isPattern).entries())
    if (expanded.record[at]?.items.length === 0) invocation.terminal.warnings.add(emptyWarning(entry, chosen));
  return expanded;
}

/** Reads a list of a local folder, unless it is the file that was read before; null where each is read. */
type ReadChangedList = (entry: TargetEntry, file: string, read: () => Promise<PatternRead>) => Promise<PatternRead>;

async function expandNow(
  { sources, entries, placeOf }: ChosenSources,
  shared: SharedByTargets,
  recorded: readonly RecordedPattern[],
  readChanged: ReadChangedList | null,
): Promise<Expanded> {
  const { root, stateFolder, database, use, invocation } = shared;
  const { flags, terminal } = invocation;
  const pace = { clock: terminal.clock, signal: terminal.stopping };
  const read = async (entry: TargetEntry, each: EachOf): Promise<PatternRead> => {
    const source = sourceOf(entry, sources, placeOf);
    if (source === null) {
      const readFolder = (): Promise<PatternRead> => readPattern(each, { is: "folder", root }, pace);
      return readChanged === null || typeof each === "string"
        ? readFolder()
        : readChanged(entry, each.file, readFolder);
    }
    const known = recorded.find(({ key }) => key === patternKey(entry));
    const remote = remoteOf(source, shared);
    const latest = remote.latest();
    // No remote is asked for what the last command that wrote has found, nor where passes fetch.
    const usesKnown = use.usesRecordedTargets || (readChanged !== null && latest === null);
    if (usesKnown && known !== undefined) return { items: known.items, diagnostics: [] };
    const commit = latest ?? (await remote.fetch(pace)).commit;
    return readPattern(each, { is: "commit", repository: remote.repository, commit }, pace);
  };
  return expandTargets(entries, {
    read,
    recorded,
    placeOf,
    keepsLast: (use.follows ?? false) || (use.usesRecordedTargets ?? false),
    allowShrink: flags.allowShrink ?? false,
    hasState: async (name) => {
      await using state = targetState(
        { folder: join(stateFolder, "targets", name), target: name, database },
        invocation,
      );
      if (!(await state.exists())) return false;
      return (await state.recorded()).length > 0 || (await (await state.target()).status()) !== null;
    },
  });
}

function keptWarning({ message, hint }: HoldfastError): Diagnostic {
  return runWarning("targets-kept", `${message}: the targets stay as they were`, hint);
}

function emptyWarning({ name, each }: TargetEntry, { placeOf }: ChosenSources): Diagnostic {
  const what = typeof each === "string" ? each : each?.file;
  const text = placed(`the pattern of target ${name} stands for no target`, placeOf(name, "each"));
  return runWarning("no-targets", text, `${what} finds nothing in the source`);
}

function unreadRecord(error: unknown): Diagnostic {
  return runWarning(
    "not-remembered",
    `what the patterns of targets stood for last cannot be read: ${errorMessage(error)}`,
  );
}
