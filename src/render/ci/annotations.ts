// src/render/ci: the formats of CI services. See docs/output.md#several-formats-at-once.

import { join } from "node:path/posix";
import type { PolicyFinding } from "../../contract/generated/output.ts";
import { type Diagnostic, sortDiagnostics, summaryText } from "../../core/diagnostic.ts";
import { type FindingLevel, POLICY } from "../../core/guards/policy-guard.ts";
import { type Plan, reasonText } from "../../core/plan/plan.ts";
import { findingText } from "../../core/policies/policy.ts";
import type { DriftReport } from "../../core/report/report.ts";
import { relatedText } from "../diagnostics.ts";
import { printable } from "../escape.ts";
import { riskText } from "../plan-notes.ts";

/** GitHub shows at most this many annotations per level and step. */
const MAX_ANNOTATIONS = 10;

/** A remark of a report, before the limit on annotations. */
export type Remark = Omit<Annotation, "message" | "title"> & { readonly title: string; readonly message: string };

/** A remark at a position in a file, which GitHub shows next to the line. */
type Annotation = {
  readonly level: "error" | "warning";
  readonly title: string;
  readonly message: string;
  /** Path from the root of the checkout; null when it has no file. */
  readonly file: string | null;
  readonly line: number | null;
};

/** The remarks of a plan: its diagnostics, blocked steps, risks, and what policies find. */
export function planRemarks({ diagnostics, steps, policies = [] }: Plan, levelOf: FindingLevel): readonly Remark[] {
  const found = steps.flatMap(({ action, reason, risks, identity, file, line, policies: own = [] }): Remark[] => [
    ...own.map((one) => findingRemark(one, { level: levelOf(one), what: identity, file, line })),
    ...(action === "block" && reason !== null
      ? [
          {
            level: "error",
            title: `blocked: ${reason}`,
            message: `${identity}: ${reasonText[reason]}`,
            file,
            line,
          } as const,
        ]
      : []),
    ...risks.map((risk): Remark => {
      return { level: "warning", title: risk, message: `${identity} ${riskText[risk]}`, file, line };
    }),
  ]);
  const whole = policies.map((one) => {
    const { file, line } = one;
    return findingRemark(one, { level: levelOf(one), what: "the plan", file, line });
  });
  return [...diagnosticRemarks(diagnostics.filter(({ code }) => code !== POLICY)), ...whole, ...found];
}

function findingRemark(
  finding: PolicyFinding,
  { what, ...place }: { readonly what: string } & Pick<Remark, "level" | "file" | "line">,
): Remark {
  return { ...place, title: `policy: ${finding.name}`, message: `${what}: ${findingText(finding)}` };
}

/** A warning for each resource that drifted. */
export function driftRemarks({ diagnostics, drift }: DriftReport): readonly Remark[] {
  const moved = drift.filter(({ state }) => state === "drifted" || state === "unrecorded" || state === "absent");
  return [
    ...diagnosticRemarks(diagnostics),
    ...moved.map(({ identity, state, file, line }): Remark => {
      return { level: "warning", title: state, message: `${identity} is not as recorded: ${state}`, file, line };
    }),
  ];
}

/** One remark per diagnostic, at its position. */
export function diagnosticRemarks(diagnostics: readonly Diagnostic[]): readonly Remark[] {
  return sortDiagnostics(diagnostics).map((diagnostic) => {
    const { severity, code, detail, file, line } = diagnostic;
    const said = [summaryText(diagnostic), detail ?? ""].filter((text) => text !== "").join(": ");
    const message = [said, relatedText(diagnostic)].filter((text) => text !== "").join("; ");
    return { level: severity, title: code, message, file, line };
  });
}

/** The remarks as GitHub Actions workflow commands; `folder` is the path of their files in the checkout. */
export function annotationsText(remarks: readonly Remark[], folder: string): string {
  const { error = [], warning = [] } = Object.groupBy(remarks, ({ level }) => level);
  return [...error.slice(0, MAX_ANNOTATIONS), ...warning.slice(0, MAX_ANNOTATIONS)]
    .map(({ title, message, file, ...rest }) => {
      const place = file === null ? null : join(folder, file);
      return annotationLine({ ...rest, title: printable(title), message: printable(message), file: place });
    })
    .join("");
}

/** The workflow command that makes a GitHub Actions runner show the remark. */
function annotationLine({ level, title, message, file, line }: Annotation): string {
  const properties = [
    ...(file === null ? [] : [`file=${property(file)}`, `line=${line ?? 1}`]),
    `title=${property(title)}`,
  ];
  return `::${level} ${properties.join(",")}::${escapeData(message)}\n`;
}

/** Step outputs in the format of `GITHUB_OUTPUT`; the delimiter is random, so that a value cannot contain it. */
export function stepOutputs(values: readonly (readonly [name: string, value: string])[], delimiter: string): string {
  return values.map(([name, value]) => `${name}<<${delimiter}\n${value}\n${delimiter}\n`).join("");
}

function property(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
