// src/engine/load: the phase that reads what a revision declares. See docs/architecture.md#a-pass.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Loaded } from "../../manifests/load-manifests.ts";
import type { ComparedBase } from "../../source/read-source.ts";

type Sides = {
  readonly merged: Pick<Loaded, "manifests" | "refused" | "contents">;
  readonly atBase: Pick<Loaded, "manifests" | "refused" | "contents">;
};

/** Refuses a source where a file with manifests or patches on either side cannot be merged with the base. */
export function requireMerged({ ref, conflicts }: ComparedBase, { merged, atBase }: Sides): void {
  if (conflicts.length === 0) return;
  const lines = new Map([atBase, merged].flatMap(({ manifests }) => manifests.map(({ file, line }) => [file, line])));
  const refused = new Set([merged, atBase].flatMap((side) => side.refused.map(({ file }) => file)));
  const patches = new Set(
    [merged, atBase].flatMap(({ contents }) => contents.patches.files.map(({ file }) => file.display)),
  );
  const diagnostics = conflicts
    .filter(({ display }) => lines.has(display) || refused.has(display) || patches.has(display))
    .map(
      ({ display, here, atBase: there }): Diagnostic => ({
        severity: "error",
        code: "merge-conflict",
        summary: `changed in ways that conflict: by ${here ?? "uncommitted changes"} here, by ${there ?? "the merge"} on ${ref}`,
        detail: `Merge ${ref} into this branch, and resolve it there.`,
        file: display,
        line: lines.get(display) ?? 1,
        column: 1,
      }),
    );
  if (diagnostics.length === 0) return;
  const files = diagnostics.length === 1 ? "1 manifest file" : `${diagnostics.length} manifest files`;
  throw new HoldfastError("invalid", `this branch conflicts with ${ref} in ${files}`, {
    hint: `git merge ${ref}, resolve the conflicts, and plan again`,
    diagnostics,
  });
}

/** Warns of a branch that lacks commits of its base. */
export function behindWarnings({ ref, behind }: ComparedBase): readonly Diagnostic[] {
  if (behind === 0) return [];
  const commits = behind === 1 ? "1 commit" : `${behind} commits`;
  const summary = `${commits} behind ${ref}: this is the plan for the result of merging it`;
  return [{ severity: "warning", code: "behind-base", summary, detail: null, ...NOWHERE }];
}

/** Warns of an ignored ref for the last applied commit. */
export function appliedWarnings({ applied }: Pick<ComparedBase, "applied">): readonly Diagnostic[] {
  if (applied?.is !== "untrusted") return [];
  const summary = `the last applied commit is unknown: ${applied.ref} is ignored, since ${applied.why}`;
  return [{ severity: "warning", code: "applied-ref", summary, detail: applied.hint, ...NOWHERE }];
}

const NOWHERE = { file: null, line: null, column: null };
