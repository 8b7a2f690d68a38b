import { execFileSync } from "node:child_process";

/** The commit that a checkout is at, with `-changed` where its files are other ones; null where there is none. */
export function checkoutCommit(folder: string): string | null {
  const args = ["describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=-changed"];
  try {
    return execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    return null;
  }
}
