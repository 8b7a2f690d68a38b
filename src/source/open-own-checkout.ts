import type { Stop } from "../clock/clock.ts";
import { openCheckout } from "./git/open-checkout.ts";
import type { Repository } from "./git/repository-paths.ts";
import type { SourceOptions } from "./read-source.ts";
import { realRoot } from "./source-root.ts";

/** A repository whose commits can be read, and the source's root in it. */
export type OpenedRepository = { readonly repository: Repository; readonly root: string };

/** Opens the repository of a source again, after the source was read; null if its commits cannot be read. */
export async function openOwnCheckout(
  { commits, base, cwd, root: named }: Pick<SourceOptions, "root" | "cwd" | "base" | "commits">,
  resources: DisposableStack,
  stop: Stop,
): Promise<OpenedRepository | null> {
  if (commits !== null) return { repository: commits.repository, root: commits.repository.gitFolder };
  const root = realRoot(named);
  const { repository, isUnreadable } = await openCheckout({ root, cwd, base, isCommitOptional: true }, resources, stop);
  return repository === null || isUnreadable ? null : { repository, root };
}
