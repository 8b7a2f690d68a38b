import type { ConformCheck, ConformLevel, ConformOperation, ConformReport } from "../../contract/generated/output.ts";
import { isDocumented, type OperationName, operation, operations } from "../../contract/operations.ts";
import { HoldfastError } from "../../core/errors.ts";
import { applicationChecks } from "./application-checks.ts";
import { APPLICATION } from "./application-writes.ts";
import { type Check, type Verdict, verdictOf } from "./check.ts";
import type { ConformContext, ConformNames } from "./context.ts";
import { dryRunChecks } from "./dry-run-checks.ts";
import { extensionChecks } from "./extension-checks.ts";
import { listChecks } from "./list-checks.ts";
import { readChecks } from "./read-checks.ts";
import { resourceChecks } from "./resource-checks.ts";
import { TENANT, tenantChecks } from "./tenant-checks.ts";
import { VERSIONED, versionChecks } from "./version-checks.ts";

/** All checks, in the order in which they are made: whatever writes comes last. */
export const conformChecks: readonly Check[] = [
  ...readChecks,
  ...listChecks,
  ...resourceChecks,
  ...extensionChecks.filter(({ level }) => level === "read"),
  ...dryRunChecks,
  ...extensionChecks.filter(({ level }) => level === "dry-run"),
  ...applicationChecks,
  ...versionChecks,
  ...tenantChecks,
];

/** What was found of a control plane. */
export type Conformity = Pick<ConformReport, "conforms" | "levels" | "summary" | "operations" | "checks" | "left"> & {
  /** Why it ended before all checks were made; null where all were. */
  readonly ending: HoldfastError | null;
};

/** How checks are made: `isStrict`: what is not required counts too; `unwritable`: why none may write. */
export type CheckRules = { readonly isStrict: boolean; readonly unwritable: string | null };

/** Makes the checks of some levels, one after the other, until one shows that no request is answered any more. */
export async function runChecks(
  levels: readonly ConformLevel[],
  context: ConformContext,
  { isStrict, unwritable }: CheckRules,
): Promise<Conformity> {
  const { signal } = context;
  const checks: ConformCheck[] = [];
  const begun = new Set<ConformLevel>(["read"]);
  let ending: HoldfastError | null = null;
  const made = async (check: Check): Promise<Verdict> => {
    const { level } = check;
    if (!levels.includes(level)) return notMade(level);
    if (unwritable !== null && WRITING.includes(level)) return notChecked(unwritable);
    ending ??= endingOf(signal);
    if (ending !== null) return notChecked(ending.message);
    begun.add(level);
    try {
      const verdict = await verdictOf(check, context);
      ending = endingOf(signal);
      // What a request that was cut off seems to show is no verdict.
      return ending === null ? verdict : notChecked(ending.message);
    } catch (error) {
      const why = endingOf(signal) ?? error;
      if (!(why instanceof HoldfastError)) throw why;
      ending = why;
      return notChecked(why.message);
    }
  };
  for (const check of conformChecks) checks.push(rowOf(check, await made(check)));
  const count = (result: Verdict["result"]): number => checks.filter((one) => one.result === result).length;
  const counts = ({ required, part }: ConformCheck): boolean => required || (isStrict && part !== "extension");
  const operationRows = documented.map((name) => operationRow(name, checks));
  const isSound = !checks.some((one) => one.result === "fails" && counts(one));
  const levelsBegun = levels.filter((level) => begun.has(level));
  return {
    conforms: isSound && ending === null && operationRows.some(({ result }) => result === "holds"),
    levels: levelsBegun,
    summary: { holds: count("holds"), fails: count("fails"), notChecked: count("not-checked") },
    operations: operationRows,
    checks,
    left: leftBehind(levelsBegun, context.names),
    ending,
  };
}

const WRITING: readonly ConformLevel[] = ["write", "write-tenant"];

function endingOf({ aborted, reason }: AbortSignal): HoldfastError | null {
  if (!aborted) return null;
  return reason instanceof HoldfastError
    ? reason
    : new HoldfastError("interrupted", "it was stopped", { cause: reason });
}

function notChecked(reason: string): Verdict {
  return { result: "not-checked", reason };
}

function rowOf(check: Check, { result, reason }: Verdict): ConformCheck {
  const { part, level, asserts, without, required = part === "interface" } = check;
  const numbers = check.operations.map((name) => operation(name).number);
  const found = reason === null ? null : cut(reason);
  return { check: check.check, part, required, level, operations: numbers, asserts, without, result, reason: found };
}

// It may quote what the control plane has answered.
function cut(reason: string): string {
  return reason.length <= MOST_OF_REASON ? reason : `${reason.slice(0, MOST_OF_REASON)} …`;
}

const MOST_OF_REASON = 300;

const FLAGS: { readonly [level in ConformLevel]: string } = {
  read: "",
  "dry-run": "--dry-run",
  write: "--write",
  "write-tenant": "--write-tenant",
};

function notMade(level: ConformLevel): Verdict {
  return notChecked(`only with ${FLAGS[level]}`);
}

const documented = (Object.keys(operations) as OperationName[])
  .filter((name) => isDocumented(operation(name)) && name !== "getSecret")
  .toSorted((one, other) => Number(operation(one).number) - Number(operation(other).number));

// What is not required says nothing about whether the operation is as the interface has it.
function operationRow(name: OperationName, checks: readonly ConformCheck[]): ConformOperation {
  const { number, method, path } = operation(name);
  const about = checks.filter(({ required, operations: of }) => required && of.includes(number));
  const own = about.find(({ result }) => result === "fails") ?? about.find(({ result }) => result === "holds");
  const { result, reason } = own ?? about[0] ?? { result: "not-checked", reason: "no check is about it" };
  return { number, method, path, result, reason };
}

/** What checks write and take back at once, where the control plane can do that. */
export function takenBack({ workspace }: ConformNames): readonly string[] {
  return [`a lease of ${workspace} for at most 30 seconds (E10), during which no other writer gets it`];
}

/** What the writes of the checks leave behind. */
export function leftBehind(levels: readonly ConformLevel[], { workspace, mlRepo }: ConformNames): readonly string[] {
  const inWorkspace = [
    `service/${workspace}/${APPLICATION}, with three to five more versions in each run, and no replicas`,
  ];
  const inRepo = [
    `chat_prompt/${mlRepo}/${VERSIONED.prompt}, with one to three more versions in each run`,
    `model-version/${mlRepo}/${VERSIONED.model}, with one or two more versions in each run`,
    `model-version/${mlRepo}/${VERSIONED.registered}, once`,
    `a staged version of ${VERSIONED.staged} in ${mlRepo}, marked as failed`,
  ];
  const ofTenant = [
    `a secret group ${TENANT.group} with a secret that is none`,
    `a personal access token ${TENANT.token}, unless it can be revoked (E13)`,
    `cluster/${TENANT.cluster}`,
    `virtual-account/${TENANT.account}, which has expired`,
    `team/${TENANT.team}`,
  ];
  return [
    ...(levels.includes("write") ? inWorkspace : []),
    ...(levels.includes("write") && mlRepo !== null ? inRepo : []),
    ...(levels.includes("write-tenant") ? ofTenant : []),
  ];
}
