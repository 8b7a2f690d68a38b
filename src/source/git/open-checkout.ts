import { errorMessage } from "../../contract/error-message.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { SourceConfigOptions } from "../read-source-config.ts";
import { findRepository } from "./find-repository.ts";
import { noRepository, type Stop } from "./git.ts";
import { locateRepository, type Repository } from "./repository-paths.ts";
import { type TemporaryRepository, temporaryRepository } from "./temporary-repository.ts";
import { headOf } from "./tree.ts";

/** The repository of a source, as it may be read. */
export type Checkout = {
  readonly repository: Repository | null;
  /** The git directory of our own in its place, where there is one. */
  readonly temporary: TemporaryRepository | null;
  /** Whether its commits cannot be read. */
  readonly isUnreadable: boolean;
  readonly warnings: readonly Diagnostic[];
};

type CheckoutOptions = Pick<SourceConfigOptions, "root" | "cwd" | "base"> & { readonly doesWithoutGit?: boolean };

/** A repository that nobody but us writes. */
export function ownRepository(repository: Repository): Checkout {
  return { repository, temporary: null, isUnreadable: false, warnings: [] };
}

/**
 * Opens the repository that a source lies in. Where it is another user's, or is compared with a base, git reads it through
 * a directory of our own, and none of its configuration.
 */
export async function openCheckout(
  { root, cwd, base, doesWithoutGit = false }: CheckoutOptions,
  resources: DisposableStack,
  stop: Stop,
): Promise<Checkout> {
  const found = await find(root, { cwd, doesWithoutGit }, stop);
  if (base !== null) {
    if (found === null) throw noRepository(root);
    const temporary = resources.use(temporaryRepository(found));
    return { repository: temporary, temporary, isUnreadable: false, warnings: [] };
  }
  if (found === null) return { repository: null, temporary: null, isUnreadable: false, warnings: [] };
  if (found.isUnreadable) return { repository: found, temporary: null, isUnreadable: true, warnings: [] };
  return found.isForeign ? openForeign(found, root, resources, stop) : ownRepository(found);
}

async function find(
  root: string,
  { cwd, doesWithoutGit }: { readonly cwd: string; readonly doesWithoutGit: boolean },
  stop: Stop,
): Promise<(Repository & { readonly isForeign: boolean; readonly isUnreadable: boolean }) | null> {
  try {
    const found = await findRepository(root, stop, { cwd });
    return found && { ...found, isUnreadable: doesWithoutGit && found.isForeign };
  } catch (error) {
    const located = doesWithoutGit && error instanceof HoldfastError ? locateRepository(root) : null;
    if (located === null) throw error;
    return { ...located, isForeign: true, isUnreadable: true };
  }
}

async function openForeign(found: Repository, root: string, resources: DisposableStack, stop: Stop): Promise<Checkout> {
  try {
    const temporary = resources.use(temporaryRepository(found));
    if ((await headOf(temporary, root, stop)) !== null) return { ...ownRepository(temporary), temporary: null };
    return { repository: found, temporary: null, isUnreadable: true, warnings: [unreadable(found, null)] };
  } catch (error) {
    stop.signal.throwIfAborted();
    const why = errorMessage(error);
    return { repository: found, temporary: null, isUnreadable: true, warnings: [unreadable(found, why)] };
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
