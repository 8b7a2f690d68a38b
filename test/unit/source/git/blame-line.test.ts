import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { blameLine } from "../../../../src/source/git/blame-line.ts";
import { findRepository } from "../../../../src/source/git/find-repository.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { commitAll, git } from "../../../support/git.ts";
import { signal } from "../source.ts";

test.each([
  ["of the same second", 1_700_000_000],
  ["whose clock was a day behind", 1_700_000_000 - 86_400],
])("the commit that last changed a document comes after those before it, also one %s", async (_, secondAt) => {
  const root = await temporaryFolder();
  const commitAt = async (time: number, replicas: number) => {
    await writeFile(join(root, "api.yaml"), `type: service\nname: api\nreplicas: ${replicas}\n`);
    await commitAll(root, `Want ${replicas}`);
    const body = `${await git(root, "cat-file", "commit", "HEAD")}\n`;
    await writeFile(join(root, ".git/timed"), body.replace(/^(committer .*>) .*$/m, `$1 ${time} +0000`));
    const commit = await git(root, "hash-object", "-t", "commit", "-w", ".git/timed");
    await git(root, "reset", "--quiet", "--soft", commit);
    return commit;
  };
  await commitAt(1_700_000_000, 1);
  const tip = await commitAt(secondAt, 2);
  const repository = await findRepository(root, { signal });
  if (repository === null) throw new TypeError("it is in no repository");
  const place = { commit: tip, path: "api.yaml", line: 1 } as const;
  expect(await blameLine(repository, { ...place, upTo: "document" }, { signal })).toMatchObject({ commit: tip });
  expect((await blameLine(repository, place, { signal }))?.commit).not.toBe(tip);
});
