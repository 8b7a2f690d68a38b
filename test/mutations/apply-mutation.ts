import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Mutation } from "./mutations.ts";

// The sources, and what runs and judges the tests.
const MUTATED = [
  "src/**/*.ts",
  "{scripts,bench}/**/*.ts",
  "test/{runner,support}/*.ts",
  "test/mutations/run.ts",
  ".ci/run",
];

/** The files that a mutation applies to: exactly one, unless the code has changed. */
export function filesOf({ find }: Pick<Mutation, "find">, root: string): readonly string[] {
  const files = globSync(MUTATED, { cwd: root }).filter((file) => !file.endsWith(".test.ts"));
  return files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    return Array<string>(text.split(find).length - 1).fill(join(root, file));
  });
}

/** Takes a safeguard out of the code below a folder. */
export function applyMutation(mutation: Pick<Mutation, "name" | "find" | "replace">, root: string): void {
  const [file, ...more] = filesOf(mutation, root);
  if (file === undefined || more.length > 0) {
    throw new Error(`${mutation.name}: \`${mutation.find}\` is to be in the code once: change it where it is listed`);
  }
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace(mutation.find, () => mutation.replace),
  );
}
