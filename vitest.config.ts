import { execFileSync } from "node:child_process";
import { existsSync, globSync, statSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { RESULT_FILE } from "./test/runner/result-file.ts";
import { SuiteReport } from "./test/runner/suite-report.ts";
import { bundledYamlReader } from "./test/support/bundled-yaml-reader.ts";
import { memoryFolder } from "./test/support/memory-folder.ts";

const sources = [
  "schemas/**/*.json",
  "docs/control-plane.md",
  "scripts/build/dashboard-page.ts",
  "scripts/generate/**/*.ts",
  "src/contract/operations.ts",
  "src/daemon/api/api-*.ts",
  "src/dashboard/**/*",
  "src/server/resources/**/*.ts",
];

// What is compiled of the schemas, and the reference, is no part of the repository: tests never run with that of an earlier commit.
if (isStale("src/schema/generated/types.ts", sources)) {
  execFileSync(process.execPath, ["scripts/generate.ts"], { cwd: import.meta.dirname, stdio: "inherit" });
}

function isStale(made: string, sources: readonly string[]): boolean {
  const cwd = import.meta.dirname;
  const changedAt = (path: string) => statSync(join(cwd, path)).mtimeMs;
  if (!existsSync(join(cwd, made))) return true;
  const madeAt = changedAt(made);
  return globSync(sources, { cwd }).some((source) => changedAt(source) > madeAt);
}

/** A test that fails on purpose, which each project then runs instead of its own: `npm run test:red`. */
const red = process.env.RED_TEST;
const filesOf = (include: readonly string[]): string[] =>
  red === undefined ? [...include] : [`test/runner/red/${red}.ts`];

// What fails on purpose may be killed, and leave what it wrote; what takes long may write much.
const isOnDisk = process.env.TMPDIR !== undefined || red !== undefined || process.env.SOAK !== undefined;
const memory = isOnDisk ? null : memoryFolder();
if (memory !== null) {
  process.env.TMPDIR = memory;
  // For the programs that tests start: half of what one costs that runs from the sources is compiling.
  process.env.NODE_COMPILE_CACHE ??= join(memory, "compiled");
}

/** These count the processor time or the memory of their process, so each has one of its own. */
const measured = [
  "test/unit/manifests/hostile.test.ts",
  "test/unit/http/json-body.test.ts",
  "test/unit/schema/size-limits.test.ts",
  "test/unit/state/database/ledger.test.ts",
  "test/unit/yaml/plain.test.ts",
];

/** Runs for twenty minutes and more, so only where it is asked for: `npm run soak`. */
const soak = {
  test: {
    name: "soak",
    include: filesOf(["test/soak/**/*.test.ts"]),
    // What fails on purpose needs no package.
    globalSetup: red === undefined ? ["test/support/package.ts"] : [],
    testTimeout: 12 * 3_600_000,
  },
};

export default defineConfig({
  test: {
    // Many times what a test needs on two busy processors: only what hangs runs into it.
    testTimeout: 420_000,
    hookTimeout: 420_000,
    // What is looked at is often a whole command or a page of a server: to look twenty times a second, as by default, takes
    // the processor from what is waited for.
    expect: { poll: { timeout: 150_000, interval: 200 } },
    pool: "forks",
    // On two processors: many tests wait for other processes, and for time to pass.
    maxWorkers: 6,
    // `npm test` runs the suite: its result is kept for `npm run test:judge`.
    reporters: [...(process.env.npm_lifecycle_event === "test" ? [new SuiteReport(RESULT_FILE)] : []), "default"],
    coverage: { provider: "v8", include: ["src/**"], exclude: ["src/**/generated/**"] },
    projects: [
      {
        plugins: [bundledYamlReader()],
        test: {
          name: "parts",
          include: filesOf(["test/{unit,conformance,runner}/**/*.test.ts"]),
          exclude: measured,
          // A process loads the modules once for all of its files: the setup file sees that each leaves it as it was.
          isolate: false,
          setupFiles: ["test/support/unchanged-process.ts"],
        },
      },
      { plugins: [bundledYamlReader()], test: { name: "measured", include: filesOf(measured) } },
      // The same control plane, with its data in PostgreSQL.
      {
        plugins: [bundledYamlReader()],
        test: {
          name: "postgres",
          include: filesOf(["test/{conformance,postgres}/**/*.test.ts"]),
          // These never reach a database, or would find the same with any.
          exclude: [
            "test/conformance/{architecture,cases,documentation,examples,kinds,schemas,image}.test.ts",
            "test/conformance/{openapi-client,openapi-requests,typed-clients,reference,reference-page,reference-examples,one-file-kinds}.test.ts",
            "test/conformance/{malformed-credentials,refusal-details,addons,security-page,sensitive-fields}.test.ts",
            "test/conformance/{guard-predictions,references,yaml-test-suite,bounded-answers,exported-names}.test.ts",
            "test/conformance/{access-table,alerts,links,pass-surfaces,pipelines,resources}.test.ts",
            "test/conformance/{contributing,helm-chart,kubernetes,releases,service-files}.test.ts",
            "test/conformance/{artifact-root,bytes-in-flight,invisible,operations-declared,replies}.test.ts",
          ],
          // Each file starts control planes of its own, and no module keeps anything between them.
          isolate: false,
          // What fails on purpose starts no process of its own.
          globalSetup: [
            "test/support/one-postgres.ts",
            ...(red === undefined ? ["test/support/process-bundles.ts"] : []),
          ],
          setupFiles: ["test/support/needs-postgres.ts"],
        },
      },
      // These drive the command as users have it: built and packed, started as a process wherever something ends or looks at one.
      {
        test: {
          name: "e2e",
          include: filesOf(["test/e2e/**/*.test.ts"]),
          isolate: false,
          globalSetup: ["test/support/package.ts"],
        },
      },
      ...(process.env.SOAK === undefined ? [] : [soak]),
    ],
  },
});
