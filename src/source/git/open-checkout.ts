import type { Stop } from "../../clock/clock.ts";
import { errorMessage } from "../../contract/error-message.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { SourceConfigOptions } from "../read-source-config.ts";
import { findRepository } from "./find-repository.ts";
import { noRepository } from "./git.ts";
import { locateRepository, type Repository } from "./repository-paths.ts";
import { type TemporaryRepository, temporaryRepository } from "./temporary-repository.ts";
import { headOf } from "./tree.ts";

/** The repository of a source, and how it may be read. */
export type Checkout = {
  readonly repository: Repository | null;
  /** The temporary git directory of ours that replaces it; null if there is none. */
  readonly temporary: TemporaryRepository | null;
  /** Whether its commits cannot be read. */
  readonly isUnreadable: boolean;
  /** Whether another user owns it, so that git must not read its configuration. */
  readonly isForeign: boolean;
  readonly warnings: readonly Diagnostic[];
};

/** A repository that git may read directly: this user owns it, or it is ours. */
export function ownRepository(repository: Repository): Checkout {
  return { repository, temporary: null, isUnreadable: false, isForeign: false, warnings: [] };
}

/**
 * Opens the repository that a source lies in. If another user owns it, or it is compared with a base, git reads it
 * through a temporary directory of ours, without its configuration.
 */
export async function openCheckout(
  {
    root,
    cwd,
    base,
    isCommitOptional = false,
  }: Pick<SourceConfigOptions, "root" | "cwd" | "base"> & { readonly isCommitOptional?: boolean },
  resources: DisposableStack,
  stop: Stop,
): Promise<Checkout> {
  const found = await find(root, { cwd, isCommitOptional }, stop);
  if (base !== null) {
    if (found === null) throw noRepository(root);
    const temporary = resources.use(temporaryRepository(found));
    return { repository: temporary, temporary, isUnreadable: false, isForeign: found.isForeign, warnings: [] };
  }
  const { isForeign = false, isUnreadable = false } = found ?? {};
  if (found === null || isUnreadable)
    return { repository: found, temporary: null, isUnreadable, isForeign, warnings: [] };
  return found.isForeign ? openForeign(found, root, resources, stop) : ownRepository(found);
}

async function find(
  root: string,
  { cwd, isCommitOptional }: { readonly cwd: string; readonly isCommitOptional: boolean },
  stop: Stop,
): Promise<(Repository & { readonly isForeign: boolean; readonly isUnreadable: boolean }) | null> {
  try {
    const found = await findRepository(root, stop, { cwd });
    return found && { ...found, isUnreadable: isCommitOptional && found.isForeign };
  } catch (error) {
    const located = isCommitOptional && error instanceof HoldfastError ? locateRepository(root) : null;
    if (located === null) throw error;
    return { ...located, isForeign: true, isUnreadable: true };
  }
}

const unreadableCheckout = { temporary: null, isUnreadable: true, isForeign: true };

async function openForeign(found: Repository, root: string, resources: DisposableStack, stop: Stop): Promise<Checkout> {
  try {
    const temporary = resources.use(temporaryRepository(found));
    if ((await headOf(temporary, root, stop)) !== null) return { ...ownRepository(temporary), isForeign: true };
    return { ...unreadableCheckout, repository: found, warnings: [unreadable(found, null)] };
  } catch (error) {
    stop.signal.throwIfAborted();
    const why = errorMessage(error);
    return { ...unreadableCheckout, repository: found, warnings: [unreadable(found, why)] };
  }
}

function unreadable({ top, gitFolder }: Repository, why: string | null): Diagnostic {
  return {
    severity: "warning",
    code: "unknown-revision",
    summary: `no commit can be read in ${top ?? gitFolder}, which belongs to another user; the revision is unknown`,
    detail: why,
    file: null,
    line: null,
    column: null,
  };
}
