import type { Stop } from "../../clock/clock.ts";
import type { CommitSummary } from "../../contract/generated/output.ts";
import { runInRepository } from "./base-commit.ts";
import { commitTime } from "./first-parent-line.ts";
import type { Repository } from "./repository-paths.ts";

/** Author and subject of commits, given by their full ids; those that the repository does not have are left out. */
export async function commitSummaries(
  repository: Repository,
  ids: readonly string[],
  stop: Stop,
): Promise<readonly CommitSummary[]> {
  if (ids.length === 0) return [];
  const options = [
    "--no-walk=unsorted",
    "--ignore-missing",
    "--encoding=UTF-8",
    "--format=%H%x00%an <%ae>%x00%at%x00%s",
  ];
  const { code, stdout } = await runInRepository(repository, ["rev-list", ...options, ...ids, "--"], stop);
  if (code !== 0) return [];
  return stdout.split("\n").flatMap((line) => {
    const [commit = "", author = "", authoredAt, subject = ""] = line.split("\0");
    return authoredAt === undefined ? [] : [{ commit, author, at: commitTime(Number(authoredAt)), subject }];
  });
}
