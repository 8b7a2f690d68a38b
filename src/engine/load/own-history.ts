import type { JsonObject } from "../../contract/json.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { Identity } from "../../core/manifest.ts";
import { DeclaredHistory } from "../../manifests/declared-history.ts";
import type { Loaded, LoadOptions } from "../../manifests/load-manifests.ts";
import { readManifests } from "../../manifests/read-manifests.ts";
import { once } from "../../model/once.ts";
import type { AppliedRef } from "../../source/git/applied-commit.ts";
import type { Pace } from "../../source/pacer.ts";
import { type HistoryOptions, readApplied } from "../../source/read-commit-history.ts";
import type { RevisionFiles, SourceFile } from "../../source/revision.ts";
import type { SourceReader } from "../../source/source-reader.ts";
import { appliedWarnings } from "./check-merged-base.ts";

/** What the repository of a source tells of resources that the ledger does not know. Nothing is read before it is asked. */
export type OwnHistory = {
  /** Whether the user named the ref of the applied commit, so that a wrong one is reported in any case. */
  readonly namesApplied: boolean;
  /** The manifests of the applied commit; null if no ref names one, or only one that is not trusted. */
  readonly applied: () => Promise<AppliedManifests>;
  /** What the first-parent line has declared; null outside git. */
  readonly declared: () => Promise<DeclaredHistory | null>;
};

/** The manifests of the applied commit, null without one, and the warning about a ref that is not trusted. */
export type AppliedManifests = {
  readonly manifests: ReadonlyMap<Identity, JsonObject> | null;
  readonly warnings: readonly Diagnostic[];
};

/** The history of a source at a commit; each part of it is read once. */
export function ownHistory(
  options: HistoryOptions & { readonly applied: AppliedRef | null },
  loading: LoadOptions & { readonly patchFiles: readonly SourceFile[] },
  {
    load,
    readHistory,
  }: {
    readonly load: (files: RevisionFiles) => Promise<Loaded>;
    readonly readHistory: SourceReader["history"];
  },
  pace: Pace,
): OwnHistory {
  const { applied } = options;
  return {
    namesApplied: applied?.isNamed ?? false,
    applied: once(async () => {
      const found = applied && (await readApplied({ ...options, applied }, pace));
      if (found === null) return { manifests: null, warnings: [] };
      const manifests = found.files === null ? null : await valuesOf(await load(found.files), pace);
      return { manifests, warnings: appliedWarnings(found) };
    }),
    declared: once(async () => {
      await options.commits?.deepen(options.most, pace);
      const history = await readHistory(options, pace);
      return history && new DeclaredHistory(history, { ...loading, clock: pace.clock });
    }),
  };
}

/** The values of every valid manifest, by identity. */
export async function valuesOf({ manifests }: Loaded, pace: Pace): Promise<ReadonlyMap<Identity, JsonObject>> {
  const read = await readManifests(manifests, pace);
  return new Map(read.map(({ identity, value }) => [identity, value]));
}
