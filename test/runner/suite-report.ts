import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname } from "node:path";
import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node";
import { type RanTest, slowestTests } from "./slowest-tests.ts";

/** A test that was skipped, and why; null where it does not say. */
export type SkippedTest = { readonly test: string; readonly reason: string | null };

/** What became of the tests of one project. */
export type ProjectResult = {
  readonly passed: number;
  readonly failed: readonly string[];
  readonly skipped: readonly SkippedTest[];
};

/** What one run of the suite did, by project. */
export type SuiteResult = {
  /** How the run ended: `passed`, `failed`, or `interrupted`. */
  readonly reason: string;
  /** Errors outside of any test, and files that could not be loaded. */
  readonly errors: readonly string[];
  readonly projects: { readonly [name: string]: ProjectResult };
};

/**
 * Lists skipped tests with their reasons and the slowest tests, says how busy the processors were, and writes the result of
 * the run to a file.
 */
export class SuiteReport implements Reporter {
  readonly #file: string;
  #root = "";

  constructor(file: string) {
    this.#file = file;
  }

  onInit({ config }: Vitest): void {
    this.#root = config.root;
    // A run that is killed leaves none.
    rmSync(this.#file, { force: true });
    // By then the workers have ended, and what they started.
    process.once("exit", () => process.stdout.write(processorTimeText()));
  }

  onTestRunEnd: NonNullable<Reporter["onTestRunEnd"]> = (modules, unhandled, reason) => {
    const tests = modules.flatMap((module) => [...module.children.allTests()].map((test) => this.#ran(module, test)));
    const skipped = tests.filter(({ state }) => state === "skipped");
    process.stdout.write(`\nSkipped tests:\n${skipped.map(({ test, note }) => `  ${test}: ${note}\n`).join("")}`);
    process.stdout.write(`\nSlowest tests:\n${slowestTests(tests, 30).join("\n")}\n`);
    const errors = [...unhandled, ...modules.flatMap((module) => module.errors())].map(({ message }) => message);
    const projects = Object.fromEntries(
      [...Map.groupBy(tests, ({ project }) => project)].map(([name, ran]) => [name, resultOf(ran)]),
    );
    const result: SuiteResult = { reason, errors, projects };
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(this.#file, `${JSON.stringify(result, null, 2)}\n`);
  };

  #ran(module: TestModule, test: TestCase): RanTest {
    const result = test.result();
    return {
      project: module.project.name,
      test: `${module.moduleId.replace(`${this.#root}/`, "")} > ${test.fullName}`,
      state: result.state,
      note: result.state === "skipped" ? (result.note ?? null) : null,
      milliseconds: test.diagnostic()?.duration ?? 0,
    };
  }
}

/** How long the processors worked for this process and all that it has started and seen end; empty where nothing tells. */
function processorTimeText(): string {
  const stat = existsSync("/proc/self/stat") ? readFileSync("/proc/self/stat", "utf8") : null;
  if (stat === null) return "";
  // Hundredths of seconds in user mode and in the kernel, its own and those of its children: fields 14 to 17 of proc(5).
  const ticks = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 16).map(Number);
  const worked = ticks.reduce((sum, some) => sum + some) / 100;
  const most = process.uptime() * availableParallelism();
  return `\nProcessor time: ${worked.toFixed(0)} s, ${((100 * worked) / most).toFixed(0)} % of ${availableParallelism()} processors\n`;
}

function resultOf(tests: readonly RanTest[]): ProjectResult {
  return {
    passed: tests.filter(({ state }) => state === "passed").length,
    // A test that never ran has the state `pending`.
    failed: tests.filter(({ state }) => state === "failed" || state === "pending").map(({ test }) => test),
    skipped: tests.filter(({ state }) => state === "skipped").map(({ test, note }) => ({ test, reason: note })),
  };
}
