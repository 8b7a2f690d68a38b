// Takes one safeguard after the other out of a copy of the checkout, and fails unless a test notices each.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { applyMutation } from "./apply-mutation.ts";
import { type Mutation, mutations } from "./mutations.ts";

const root = resolve(import.meta.dirname, "../..");

/** A test of the report that vitest writes. */
type Result = { readonly title: string; readonly status: string };

/** Whether the named tests pass as the sources are, and fail without the safeguard. */
function isNoticed(mutation: Mutation): boolean {
  const folder = copyOfCheckout();
  try {
    const asIs = runTests(mutation, folder);
    applyMutation(mutation, folder);
    const without = runTests(mutation, folder);
    const noticed = asIs.length > 0 && asIs.every(isPassed) && without.some(({ status }) => status === "failed");
    const word = noticed ? "noticed" : `NOT NOTICED (${told(asIs)}, then ${told(without)})`;
    process.stdout.write(`without ${mutation.name}: ${word} by ${mutation.killedBy.file}\n`);
    return noticed;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const isPassed = ({ status }: Result): boolean => status === "passed";

const told = (results: readonly Result[]): string => results.map(({ status }) => status).join(" ") || "no such test";

// What git knows or would add: the sources as they are now, without what is built of them.
function copyOfCheckout(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-mutation-"));
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  const exists = new Set(listed.toString().split("\0").filter(Boolean));
  for (const file of exists) cpSync(join(root, file), join(folder, file), { errorOnExist: false, recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}

function runTests({ killedBy: { project, file, title } }: Mutation, folder: string): readonly Result[] {
  const report = join(folder, "report.json");
  rmSync(report, { force: true });
  const pattern = title.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const flags = ["--project", project, "--reporter", "json", "--outputFile", report, "--testNamePattern", pattern];
  const { stderr } = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...flags, file], {
    cwd: folder,
    encoding: "utf8",
  });
  try {
    const { testResults } = JSON.parse(readFileSync(report, "utf8"));
    const results: readonly Result[] = testResults.flatMap(
      ({ assertionResults }: { readonly assertionResults: readonly Result[] }) => assertionResults,
    );
    return results.filter((result) => result.title.startsWith(title));
  } catch (cause) {
    throw new Error(`${file} has left no report: ${stderr}`, { cause });
  }
}

const survivors = mutations.filter((mutation) => !isNoticed(mutation));
if (survivors.length > 0) process.exit(1);
