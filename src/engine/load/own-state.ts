import { HoldfastError } from "../../core/errors.ts";
import { isTrackedFolder } from "../../source/git/is-tracked.ts";
import { contentAround } from "../../source/source-root.ts";
import { requireStateFolder } from "../../state/require-state-folder.ts";
import type { ReadTarget } from "../target.ts";

/** Refuses a state folder that may come from the source. */
export async function requireOwnState({ source, state }: ReadTarget, signal: AbortSignal): Promise<void> {
  const content = contentAround({ root: source.root, isFetched: source.commits !== null });
  await requireStateFolder(state.folder, { content, isTracked: isTrackedFolder, signal });
}

/**
 * The same, but returns false where git cannot check the folder and the source does not need git, as in `validate`; then no
 * cache is used.
 */
export async function hasOwnState(target: ReadTarget, signal: AbortSignal): Promise<boolean> {
  try {
    await requireOwnState(target, signal);
    return true;
  } catch (error) {
    if (!target.source.isCommitOptional || !(error instanceof HoldfastError)) throw error;
    return false;
  }
}
