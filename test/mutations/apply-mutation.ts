import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Mutation } from "./mutations.ts";

/** The files of the sources that a mutation applies to: exactly one, unless the sources have changed. */
export function filesOf({ find }: Pick<Mutation, "find">, root: string): readonly string[] {
  const files = globSync("src/**/*.ts", { cwd: root }).map((file) => join(root, file));
  return files.flatMap((file) => Array<string>(readFileSync(file, "utf8").split(find).length - 1).fill(file));
}

/** Takes a safeguard out of the sources below a folder. */
export function applyMutation(mutation: Mutation, root: string): void {
  const [file, ...more] = filesOf(mutation, root);
  if (file === undefined || more.length > 0) {
    throw new Error(`${mutation.name}: \`${mutation.find}\` is to be in the sources once: change it in mutations.ts`);
  }
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace(mutation.find, () => mutation.replace),
  );
}
