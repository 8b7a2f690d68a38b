import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { join } from "node:path/posix";
import type { PolicyTestReport } from "../contract/generated/output.ts";
import { hasErrors, sortDiagnostics } from "../core/diagnostic.ts";
import { exitCodes, HoldfastError } from "../core/errors.ts";
import { FORMAT_VERSION } from "../core/format-version.ts";
import { load } from "../engine/load.ts";
import { readOperatorFolder } from "../engine/policies/read-operator-folder.ts";
import type { ReadPolicies } from "../engine/policies/read-policies.ts";
import { testPolicies } from "../engine/policies/test-policies.ts";
import { diagnosticRemarks } from "../render/ci/annotations.ts";
import { sarifReport } from "../render/ci/sarif.ts";
import { diagnosticsText } from "../render/diagnostics.ts";
import { jsonText } from "../render/escape.ts";
import { failedTest, policyTestText, scannedTest } from "../render/policy-tests.ts";
import { shellWord } from "../render/shell-word.ts";
import { closestName } from "../schema/closest-name.ts";
import { contentTop } from "../source/source-root.ts";
import { ExactProcess } from "../yaml/read-yaml.ts";
import type { InvocationOf } from "./command.ts";
import type { policy } from "./declarations/policy.ts";
import { diagnosticViewOn, terminalViewOf } from "./output/terminal-view.ts";
import { folderInCheckout, openOutputs } from "./output/write-outputs.ts";
import { findTarget } from "./targets/find-targets.ts";

type PolicyInvocation = InvocationOf<typeof policy>;

/** Runs the tests beside policies. */
export async function run(invocation: PolicyInvocation): Promise<number> {
  const { args, terminal } = invocation;
  const [action, folder, ...more] = args;
  if (action !== "test" || more.length > 0) {
    throw new HoldfastError("invalid", "policy needs test, or test FOLDER", {
      hint: "holdfast policy --help has examples",
    });
  }
  const write = openOutputs(invocation, contentTop(terminal.cwd));
  const read = folder === undefined ? await configured(invocation) : await inFolder(folder, terminal);
  const faults = read.diagnostics;
  const tests = hasErrors(faults) ? [] : testPolicies(read.policies, terminal.clock);
  const failing = tests.filter(({ actual, expected }) => actual !== expected);
  const failed = failing.length;
  const diagnostics = sortDiagnostics([...faults, ...failing.map(failedTest)]);
  const report: PolicyTestReport = {
    format_version: FORMAT_VERSION,
    summary: {
      policies: read.policies.length,
      untested: read.policies.filter((one) => one.tests.length === 0).length,
      passed: tests.length - failed,
      failed,
    },
    tests,
    diagnostics,
  };
  const { width } = terminalViewOf(invocation);
  const text =
    diagnosticsText(diagnostics, diagnosticViewOn(terminal.stdout, invocation)) + policyTestText(report, width);
  const at = folderInCheckout(terminal);
  await write({
    render: (format) => {
      if (format === "json") return jsonText(report);
      if (format !== "sarif") return text;
      return sarifReport([...faults, ...failing.map(scannedTest)], (file) => join(at, file));
    },
    job: () => ({ remarks: diagnosticRemarks(diagnostics), summary: "", outputs: [["failed", String(failed)]] }),
  });
  if (hasErrors(faults)) return exitCodes.invalid;
  return failed > 0 ? exitCodes.error : 0;
}

async function configured(invocation: PolicyInvocation): Promise<ReadPolicies> {
  await using target = await findTarget({ ...invocation, args: [] }, { reading: true, isCommitOptional: true });
  const { policies } = await load(target, invocation.terminal);
  if (policies.policies.length + policies.diagnostics.length > 0) return policies;
  throw new HoldfastError("invalid", "there are no policies: neither configuration names a folder with `policies`", {
    hint: "name a folder: holdfast policy test FOLDER; docs/policies.md shows how to write one",
  });
}

async function inFolder(folder: string, { cwd }: PolicyInvocation["terminal"]): Promise<ReadPolicies> {
  const path = resolve(cwd, folder);
  if (!existsSync(path)) {
    const near = nearestFolder(folder, cwd);
    const hint = near === undefined ? "name the folder of the policies" : `did you mean ${near}?`;
    throw new HoldfastError("invalid", `the folder ${folder} does not exist`, { hint });
  }
  if (!statSync(path).isDirectory()) {
    throw new HoldfastError("invalid", `${folder} is no folder`, {
      hint: `name the folder of the policies: holdfast policy test ${shellWord(dirname(folder))}`,
    });
  }
  await using exact = new ExactProcess();
  return await readOperatorFolder(path, { cwd, exact, correction: "correct it, or name another folder" });
}

function nearestFolder(folder: string, cwd: string): string | undefined {
  const above = resolve(cwd, dirname(folder));
  if (!statSync(above, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  const folders = readdirSync(above, { withFileTypes: true }).filter((entry) => !entry.isFile());
  const near = closestName(
    basename(folder),
    folders.map(({ name }) => name),
  );
  return near === undefined ? undefined : join(dirname(folder), near);
}
