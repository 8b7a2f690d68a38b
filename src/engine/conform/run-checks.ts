import type { ConformCheck, ConformLevel, ConformOperation, ConformReport } from "../../contract/generated/output.ts";
import { isDocumented, type OperationName, operation, operations } from "../../contract/operations.ts";
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
export type Conformity = Pick<ConformReport, "conforms" | "summary" | "operations" | "checks">;

/** Makes the checks of some levels, one after the other; `isStrict`: what is not required counts too. */
export async function runChecks(
  levels: readonly ConformLevel[],
  context: ConformContext,
  { isStrict }: { readonly isStrict: boolean },
): Promise<Conformity> {
  const checks: ConformCheck[] = [];
  for (const check of conformChecks) {
    const isMade = levels.includes(check.level);
    checks.push(rowOf(check, isMade ? await verdictOf(check, context) : notMade(check.level)));
  }
  const count = (result: Verdict["result"]): number => checks.filter((one) => one.result === result).length;
  const counts = ({ required, part }: ConformCheck): boolean => required || (isStrict && part !== "extension");
  return {
    conforms: !checks.some((one) => one.result === "fails" && counts(one)),
    summary: { holds: count("holds"), fails: count("fails"), notChecked: count("not-checked") },
    operations: documented.map((name) => operationRow(name, checks)),
    checks,
  };
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
  return { result: "not-checked", reason: `only with ${FLAGS[level]}` };
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

/** What the writes of the checks leave behind. */
export function leftBehind(levels: readonly ConformLevel[], { workspace, mlRepo }: ConformNames): readonly string[] {
  const inWorkspace = [`service/${workspace}/${APPLICATION}, with three more versions in each run, and no replicas`];
  const inRepo = [
    `chat_prompt/${mlRepo}/${VERSIONED.prompt}, with one more version in each run`,
    `model-version/${mlRepo}/${VERSIONED.model}, with one more version in each run`,
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
