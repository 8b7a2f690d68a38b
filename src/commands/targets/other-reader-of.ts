import { isUnder } from "../../core/selection/select.ts";
import type { CommandTarget } from "./create-target.ts";

/**
 * The name of another target that reads a file of the source of this one, by its path below the root; null if none does. A
 * folder of patches is read by the targets that name it alone.
 */
export function otherReaderOf(path: string, to: CommandTarget, all: readonly CommandTarget[]): string | null {
  const others = all.filter(({ name, remote, choice }) => {
    return name !== to.name && remote === to.remote && choice !== null && !choice.isRetired;
  });
  const isPatches = all.some(({ choice }) => choice?.patches.own && isUnder(choice.patches.own, path));
  const reader = others.find(({ choice }) => {
    if (isPatches) return choice?.patches.own && isUnder(choice.patches.own, path);
    return !choice?.paths || choice.paths.some((one) => isUnder(one, path));
  });
  return reader?.name ?? null;
}
