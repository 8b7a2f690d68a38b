/** A safeguard that is taken out of a copy of the checkout, and the test that has to fail then. */
export type Mutation = {
  readonly name: string;
  /** A line of the code that occurs once, so that it is found wherever its file is moved to. */
  readonly find: string;
  readonly replace: string;
  readonly killedBy: {
    readonly project: "parts" | "e2e";
    readonly file: string;
    /** Where the title of the test begins. */
    readonly title: string;
  };
};

/** The safeguards that no test run may lack unnoticed. */
export const mutations: readonly Mutation[] = [
  {
    name: "flushing the journal to the disk",
    find: "PRAGMA synchronous = FULL;",
    replace: "PRAGMA synchronous = OFF;",
    killedBy: {
      project: "parts",
      file: "test/unit/store/sqlite/open-connection.test.ts",
      title: "F32 a connection flushes what it commits to the disk",
    },
  },
  {
    name: "reading the live resource after an ambiguous write",
    find: "for (const isLast of [false, true]) {",
    replace: "for (const isLast of Array<boolean>()) {",
    killedBy: {
      project: "e2e",
      file: "test/e2e/lost-replies.test.ts",
      title: "F3 a write whose reply is lost is found by reading back",
    },
  },
  {
    name: "waiting before an ambiguous write is sent again",
    find: "if (isLast) await waitUntilDeadline(request, ambiguous);",
    replace: "",
    killedBy: {
      project: "e2e",
      file: "test/e2e/lost-replies.test.ts",
      title: "F3 a write that arrives after its connection broke is found before it is sent again",
    },
  },
  {
    name: "the server's check of fencing tokens",
    find: 'return leases.some((lease) => Number(lease.number) > number) ? "stale" : null;',
    replace: "return null;",
    killedBy: {
      project: "parts",
      file: "test/conformance/leases.test.ts",
      title: "F74 a write is rejected by a newer lease of any scope that covers what it is about",
    },
  },
  {
    name: "redacting sensitive fields",
    find: "if (sensitive) return mask(value, compared);",
    replace: "",
    killedBy: {
      project: "e2e",
      file: "test/e2e/canaries.test.ts",
      title: "S10, S12: a secret of a manifest is in no output",
    },
  },
  {
    name: "the exit code of the runner",
    find: "  let server: ChildProcess = await run();",
    replace: '  let server: ChildProcess = await run();\n  process.once("beforeExit", () => process.exit(0));',
    killedBy: {
      project: "parts",
      file: "test/runner/exit-codes.test.ts",
      title: "the exit code of the runner says that",
    },
  },
  {
    name: "ending CI at the first failure",
    find: "set -euo pipefail",
    replace: "set -uo pipefail",
    killedBy: { project: "parts", file: "test/runner/ci-run.test.ts", title: "CI fails and ends when npm " },
  },
  {
    name: "the test that fails on purpose, in CI",
    find: "npm run -s test:red\n",
    replace: "",
    killedBy: { project: "parts", file: "test/runner/ci-run.test.ts", title: "CI runs the README's command" },
  },
  {
    name: "demanding a failure of the test that fails on purpose",
    find: 'return status === 0 ? "a test has failed, and the exit code was 0" : null;',
    replace: "return null;",
    killedBy: { project: "parts", file: "test/runner/judge-suite.test.ts", title: "has to fail in each project" },
  },
  {
    name: "counting failed tests",
    find: "all.flatMap(([, { failed }]) => failed.map(",
    replace: "all.flatMap(([, { failed }]) => failed.slice(0, 0).map(",
    killedBy: { project: "parts", file: "test/runner/judge-suite.test.ts", title: "does not pass with " },
  },
  {
    name: "counting lost tests",
    find: "if (ran < least)",
    replace: "if (ran < 0)",
    killedBy: { project: "parts", file: "test/runner/judge-suite.test.ts", title: "does not pass with " },
  },
  {
    name: "demanding a reason for each skipped test",
    find: "skipped.filter(({ reason: why }) => why === null)",
    replace: "skipped.slice(0, 0)",
    killedBy: {
      project: "parts",
      file: "test/runner/judge-suite.test.ts",
      title: "does not pass with ",
    },
  },
  {
    name: "the exit code of the judge of the suite",
    find: "process.exitCode = faults.length === 0 ? 0 : 1;",
    replace: "",
    killedBy: { project: "parts", file: "test/runner/scripts.test.ts", title: "test:judge fails for " },
  },
  {
    name: "the exit code of the soak",
    find: "if (status !== 0) process.exitCode = 1;",
    replace: "if (status !== 0) process.exitCode = 0;",
    killedBy: { project: "parts", file: "test/runner/scripts.test.ts", title: "soak fails when a sweep does" },
  },
  {
    name: "the exit code of the mutations",
    find: "process.exitCode = chosen.length > 0 && survivors.length === 0 ? 0 : 1;",
    replace: "",
    killedBy: { project: "parts", file: "test/runner/scripts.test.ts", title: "mutations fails for a safeguard" },
  },
  {
    name: "the exit code of a bench",
    find: 'return rows.some(({ verdict }) => verdict === "missed") ? 1 : 0;',
    replace: "return 0;",
    killedBy: { project: "parts", file: "test/runner/scripts.test.ts", title: "bench fails for a missed goal" },
  },
  {
    name: "the exit code of the check of generated files",
    find: "process.exitCode = stale.length === 0 ? 0 : 1;",
    replace: "process.exitCode = 0;",
    killedBy: {
      project: "parts",
      file: "test/runner/scripts.test.ts",
      title: "generate --check fails for a stale file",
    },
  },
  {
    name: "calling a pass that left something incomplete",
    find: 'return { result: left.length === 0 ? "applied" : "incomplete", reasons: left };',
    replace: 'return { result: "applied", reasons: left };',
    killedBy: {
      project: "parts",
      file: "test/unit/core/report/pass-result.test.ts",
      title: "an apply that left something is incomplete",
    },
  },
  {
    name: "calling a plan incomplete that leaves out a manifest",
    find: "return plan.summary.invalid === 0 ? plan : withParts(plan, { complete: false });",
    replace: "return plan;",
    killedBy: {
      project: "e2e",
      file: "test/e2e/invalid-manifests.test.ts",
      title: "commands with --partial say what they leave out",
    },
  },
  {
    name: "reading a formatted document again",
    find: "return canonical(one.value) === canonical(value);",
    replace: "return true;",
    killedBy: {
      project: "parts",
      file: "test/unit/manifests/format-file.test.ts",
      title: "leaves a document as it is whose meaning another order would change, and says so",
    },
  },
  {
    name: "taking an action before it is carried out",
    find: "if (taken !== undefined) {",
    replace: "if (content !== null) {",
    killedBy: {
      project: "parts",
      file: "test/unit/daemon/api/actions.test.ts",
      title: "of two processes that get an action in the same instant",
    },
  },
  {
    name: "recording an action whose process has ended",
    find: "await recordInterrupted(database, now);",
    replace: "",
    killedBy: {
      project: "parts",
      file: "test/unit/daemon/api/actions.test.ts",
      title: "an action whose process has ended before it was done",
    },
  },
];
