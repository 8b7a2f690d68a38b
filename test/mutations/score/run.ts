// Measures by Stryker how many small changes of the code its unit tests notice. Arguments name folders, of which the files
// directly in them count; without any, `src/core` and each folder in it. It fails where a folder's score is less than
// `--at-least`. `--publish` writes the results into docs/mutation-score.md and survivors.txt.
import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { readPart, writePart } from "../../support/page-part.ts";
import {
  countMutants,
  type FolderScore,
  type MutantResult,
  percentOf,
  percentText,
  scoreTable,
  survivorList,
} from "./folder-score.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    concurrency: { type: "string" },
    "at-least": { type: "string", default: "90" },
    publish: { type: "boolean", default: false },
  },
});

const root = resolve(import.meta.dirname, "../../..");
const survivors = join(import.meta.dirname, "survivors.txt");
const folders = positionals.length > 0 ? positionals.map(toFolder) : foldersOfCore();

install();
const { Stryker } = await import(import.meta.resolve("@stryker-mutator/core"));
const tooLow: FolderScore[] = [];
for (const folder of folders) {
  const results = await mutate(folder);
  const score = countMutants(folder, results);
  process.stdout.write(`${folder}: ${percentText(percentOf(score))} ${JSON.stringify(score)}\n`);
  if (percentOf(score) < Number(values["at-least"])) tooLow.push(score);
  const earlier = values.publish && existsSync(survivors) ? readFileSync(survivors, "utf8") : "";
  const list = survivorList(earlier, folder, results, (file) => readFileSync(join(root, file), "utf8"));
  if (values.publish) publish(score, list);
  else process.stdout.write(list);
}
for (const score of tooLow) {
  process.stdout.write(`${score.folder}: ${percentText(percentOf(score))} is less than ${values["at-least"]} %\n`);
}
process.exitCode = tooLow.length === 0 ? 0 : 1;

function toFolder(given: string): string {
  const folder = relative(root, resolve(given));
  if (globSync(`${folder}/*.ts`, { cwd: root }).length === 0) throw new Error(`${given} is no folder with sources`);
  return folder;
}

function foldersOfCore(): string[] {
  const files = globSync("src/core/**/*.ts", { cwd: root });
  return [...new Set(files.map((file) => file.slice(0, file.lastIndexOf("/"))))].toSorted();
}

/** Stryker has 180 packages, which nothing else of the repository needs. */
function install(): void {
  if (existsSync(join(import.meta.dirname, "node_modules"))) return;
  process.stdout.write("installing Stryker into test/mutations/score/node_modules\n");
  execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: import.meta.dirname, stdio: "inherit" });
}

async function mutate(folder: string): Promise<readonly MutantResult[]> {
  const copy = mkdtempSync(join(tmpdir(), "holdfast-mutants-"));
  try {
    const stryker = new Stryker({
      mutate: [`${folder}/*.ts`],
      testRunner: "vitest",
      plugins: [import.meta.resolve("@stryker-mutator/vitest-runner")],
      vitest: { configFile: relative(root, join(import.meta.dirname, "vitest.config.ts")), related: false },
      coverageAnalysis: "perTest",
      // Those that run as a module is loaded are seen by no single test: each would need a run of all.
      ignoreStatic: true,
      // Stryker would rewrite the file, with a part of TypeScript that version 7 has not.
      tsconfigFile: "absent.json",
      ignorePatterns: ["dist", "docs", "bench", ".git"],
      tempDirName: copy,
      reporters: ["progress-append-only"],
      logLevel: "warn",
      ...(values.concurrency !== undefined && { concurrency: Number(values.concurrency) }),
    });
    const results: readonly MutantResult[] = await stryker.runMutationTest();
    return results.map((result) => ({ ...result, fileName: relative(root, result.fileName) }));
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function publish(score: FolderScore, list: string): void {
  const today = new Date().toISOString().slice(0, 10);
  writePart("mutation-score.md", "scores", scoreTable(readPart("mutation-score.md", "scores"), [score], today));
  writeFileSync(survivors, list);
}
