import type { PolicyFinding, StepGuard } from "../../contract/generated/output.ts";
import type { Diagnostic } from "../diagnostic.ts";
import type { Identity } from "../manifest.ts";
import { type Plan, type Step, writes } from "../plan/plan.ts";
import { findingText, type PolicyFindings, policyFlag, refusingFindings, remedyText } from "../policies/policy.ts";

/** Whether a flag, or a plan that was made with it, allows a policy. */
export type AllowsPolicy = (policy: string) => boolean;

/** The code of the diagnostics about findings of policies. */
export const POLICY = "policy";

/** Why policies refuse steps; one that refuses the whole plan refuses each step that writes. */
export function refusedSteps(
  { steps }: Pick<Plan, "steps">,
  findings: PolicyFindings,
  isAllowed: AllowsPolicy,
): ReadonlyMap<Identity, string> {
  const whole = refusingFindings(findings.plan, isAllowed);
  return new Map(
    steps.filter(writes).flatMap(({ identity }) => {
      const refusing = [...whole, ...refusingFindings(findings.steps.get(identity) ?? [], isAllowed)];
      return refusing.length === 0 ? [] : [[identity, refusalDetail(refusing)] as const];
    }),
  );
}

function refusalDetail(findings: readonly PolicyFinding[]): string {
  return `${findings.map(findingText).join(", ")}; ${remedyText(findings)}`;
}

/** The guard of a step with what policies refuse; null where nothing does. */
export function withPolicyGuard(guard: StepGuard | null, findings: readonly PolicyFinding[]): StepGuard | null {
  if (findings.length === 0) return guard;
  const { flags = [], dangers = [] } = guard ?? {};
  const isDenied = findings.some(({ severity }) => severity === "deny");
  const own = findings.flatMap(({ name, severity }) => (severity === "confirm" ? [policyFlag(name)] : []));
  const policies = findings.map(({ name }) => name);
  return { flags: isDenied ? [] : [...flags, ...own], dangers, policies, ...(isDenied ? { isDenied } : {}) };
}

/** The level of a finding of a plan. */
export type FindingLevel = (finding: PolicyFinding) => Diagnostic["severity"];

/** The level of each finding as the exit code of plan has it: what asks a person ends only a plan that is to be signed. */
export function findingLevels({ steps }: Pick<Plan, "steps">, isToBeSigned: boolean): FindingLevel {
  const refusing = new Set(isToBeSigned ? steps.flatMap(({ guard }) => guard?.policies ?? []) : []);
  return ({ name, severity }) =>
    severity === "deny" || (severity === "confirm" && refusing.has(name)) ? "error" : "warning";
}

/** What a plan says of its input, and what policies find in it, each under a code of its own for code scanning. */
export function planDiagnostics(
  { diagnostics, policies = [], steps }: Plan,
  levelOf: FindingLevel,
): readonly Diagnostic[] {
  const scanned = (finding: PolicyFinding, step: Step | null): Diagnostic => {
    const code = `${POLICY}/${finding.name}`;
    return { ...findingDiagnostic(finding, step), severity: levelOf(finding), code };
  };
  return [
    ...diagnostics.filter(({ code }) => code !== POLICY),
    ...policies.map((finding) => scanned(finding, null)),
    ...steps.flatMap((step) => (step.policies ?? []).map((finding) => scanned(finding, step))),
  ];
}

/** The error about a finding in a step, at its manifest, or in the whole plan, at the policy. */
export function findingDiagnostic(finding: PolicyFinding, step: Step | null): Diagnostic {
  const { severity, message } = finding;
  const what = step === null ? "the plan" : step.identity;
  return {
    severity: severity === "warn" ? "warning" : "error",
    code: POLICY,
    summary: `${what}: ${message}`,
    detail: `${ofPolicy(finding)}${severity === "warn" ? "" : `: ${remedyText([finding])}`}`,
    ...placeOf(finding, step),
  };
}

function placeOf(
  { file, line, column }: PolicyFinding,
  step: Step | null,
): Pick<Diagnostic, "file" | "line" | "column"> {
  return step === null
    ? { file, line, column }
    : { file: step.file, line: step.line, column: step.line === null ? null : 1 };
}

function ofPolicy({ name, file, line, column }: PolicyFinding): string {
  return `Policy ${name} (${file}:${line}:${column})`;
}
