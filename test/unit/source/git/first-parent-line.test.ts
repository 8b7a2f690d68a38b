import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { blameLine } from "../../../../src/source/git/blame-line.ts";
import { findRepository } from "../../../../src/source/git/find-repository.ts";
import { firstParentLine } from "../../../../src/source/git/first-parent-line.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { commitAll, git } from "../../../support/git.ts";
import { signal } from "../source.ts";

test("a commit of a later time than a date can have is read all the same, and its time is in UTC", async () => {
  const root = await temporaryFolder();
  await writeFile(join(root, "a.yaml"), "type: team\n");
  await commitAll(root, "Begin");
  const body = `${await git(root, "cat-file", "commit", "HEAD")}\n`;
  await writeFile(join(root, ".git/late"), body.replace(/^(author .*>) .*$/m, "$1 9999999999999 +0900"));
  const tip = await git(root, "hash-object", "-t", "commit", "-w", ".git/late");
  const repository = await findRepository(root, { signal });
  if (repository === null) throw new TypeError("it is in no repository");
  const last = "+275760-09-13T00:00:00.000Z";
  expect(await firstParentLine(repository, { tip, most: 1 }, { signal })).toMatchObject([{ commit: tip, at: last }]);
  const place = { commit: tip, path: "a.yaml", line: 1 };
  expect(await blameLine(repository, place, { signal })).toMatchObject({ commit: tip, at: last });
});
