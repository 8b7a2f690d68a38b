import { isUnder } from "../../core/selection/select.ts";
import { isOneRepository } from "../../source/remote/address.ts";
import { followedRef } from "../../source/remote/bare-repository.ts";
import type { CommandTarget } from "./create-target.ts";

/**
 * The name of another target that reads a file of the source of this one, by its path below the root; null if none does. A
 * folder of patches is read by the targets that name it alone.
 */
export function otherReaderOf(path: string, to: CommandTarget, all: readonly CommandTarget[]): string | null {
  const same = all.filter((one) => mayReadOneBranch(one, to));
  const others = same.filter(({ name, choice }) => name !== to.name && choice !== null && !choice.isRetired);
  const isPatches = same.some(({ choice }) => choice?.patches.own && isUnder(choice.patches.own, path));
  const reader = others.find(({ choice }) => {
    if (isPatches) return choice?.patches.own && isUnder(choice.patches.own, path);
    return !choice?.paths || choice.paths.some((one) => isUnder(one, path));
  });
  return reader?.name ?? null;
}

/** Whether two targets follow one repository, by whatever sources, and not two branches of it. */
export function mayReadOneBranch(one: CommandTarget, other: CommandTarget): boolean {
  if (one.remote === other.remote) return true;
  const [a, b] = [one.choice?.source, other.choice?.source];
  if (!a || !b || !isOneRepository(a.address, b.address)) return false;
  const [own, others] = [branchOf(one), branchOf(other)];
  return own === null || others === null || own === others;
}

// The default branch is known once it has been fetched.
function branchOf({ remote }: CommandTarget): string | null {
  const ref = remote === null ? null : (remote.ref ?? followedRef(remote.repository.gitFolder));
  return ref?.replace(/^refs\/heads\//, "") ?? null;
}
