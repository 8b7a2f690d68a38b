import { exec } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { temporaryFolder } from "./folder.ts";
import { commitAll, git } from "./git.ts";
import type { Files } from "./manifests.ts";
import type { Server } from "./server.ts";
import { type Source, sourceOf } from "./source.ts";

/** A git repository that others follow. */
export type Upstream = {
  readonly folder: string;
  /** Writes files, and commits everything; answers the commit. */
  readonly commit: (files: Files, message?: string) => Promise<string>;
  /** Makes many commits on `main` at once, each with these files in place of all others. */
  readonly importCommits: (count: number, filesOf: (at: number) => Files) => Promise<void>;
  readonly remove: (file: string) => Promise<string>;
  readonly git: (...args: readonly string[]) => Promise<string>;
};

/** A repository with one commit of these files on the branch `main`. */
export async function upstreamOf(files: Files): Promise<Upstream> {
  const { folder, write, remove } = await sourceOf(files);
  await commitAll(folder, "Begin");
  return {
    folder,
    commit: async (changed, message = "Change") => {
      for (const [file, text] of Object.entries(changed)) await write(file, text);
      return commitAll(folder, message);
    },
    importCommits: async (count, filesOf) => {
      const commits = Array.from({ length: count }, (_, at) => {
        const files = Object.entries(filesOf(at)).map(
          ([file, text]) => `M 100644 inline ${file}\ndata ${Buffer.byteLength(text)}\n${text}\n`,
        );
        const from = at === 0 ? "from refs/heads/main^0\n" : "";
        const who = `Ada <ada@example.com> ${1_800_000_000 + at} +0000`;
        return `commit refs/heads/main\ncommitter ${who}\ndata 6\nChange\n${from}deleteall\n${files.join("")}\n`;
      });
      await write(".git/commits", commits.join(""));
      await promisify(exec)("git fast-import --quiet < .git/commits", { cwd: folder });
      await git(folder, "reset", "--hard", "--quiet", "main");
    },
    remove: async (file) => {
      await remove(file);
      return commitAll(folder, `Remove ${file}`);
    },
    git: (...args) => git(folder, ...args),
  };
}

/** A working directory whose commands follow the operator's configuration, which lies elsewhere. */
export async function operatorOf(config: object, server?: Server): Promise<Source & { readonly config: string }> {
  const file = join(await temporaryFolder(), "operator.yaml");
  await writeFile(file, stringify(config));
  const source = await sourceOf({}, server);
  const env = { HOLDFAST_CONFIG: file };
  return {
    ...source,
    config: file,
    run: (args, more) => source.run(args, { ...env, ...more }),
    runHere: (args, more) => source.runHere(args, { ...env, ...more }),
    start: (args, more, through) => source.start(args, { ...env, ...more }, through),
  };
}
