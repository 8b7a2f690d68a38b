import type { TestContext } from "vitest";

/** Ends a test that gives files to other users, and says why, where only root could do so. */
export function needsRoot({ skip }: Pick<TestContext, "skip">): void {
  skip(process.geteuid?.() !== 0, "only root can give files to other users");
}

/** Ends a test of permissions, and says why, where none are checked. */
export function needsPermissions({ skip }: Pick<TestContext, "skip">): void {
  skip(process.geteuid?.() === 0, "root may read and write everything");
}

/** Does something as another user, which the machine need not know; as root alone. */
export function asUser<Result>(
  { uid, groups }: { uid: number; groups: readonly number[] },
  work: () => Result,
): Result {
  const [gid = 0] = groups;
  process.setegid?.(gid);
  process.seteuid?.(uid);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
}
