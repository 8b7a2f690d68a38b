// src/core/policies: what policies judge, and what their findings refuse. See docs/policies.md.

import type { PolicyFinding } from "../../contract/generated/output.ts";
import type { Identity } from "../manifest.ts";

/** What is done where a policy finds something. */
export type PolicySeverity = PolicyFinding["severity"];

/** One policy: what it judges, and what it says. */
export type Policy = {
  readonly name: string;
  readonly severity: PolicySeverity;
  readonly message: string;
  readonly over: "step" | "plan";
  /** Glob over the identities that are judged; null for all. */
  readonly match: string | null;
  /** Digest of what it judges and says, so that consent is to what a person has seen. */
  readonly digest: string;
  /** Its file, as reports name it. */
  readonly file: string;
  /** Where a character of its expression stands in the file. */
  readonly placeOf: (offset: number) => { readonly line: number; readonly column: number };
};

/** What policies find in a plan. */
export type PolicyFindings = {
  /** By the identity of the step; steps without a finding are left out. */
  readonly steps: ReadonlyMap<Identity, readonly PolicyFinding[]>;
  /** What those over the whole plan find. */
  readonly plan: readonly PolicyFinding[];
};

/** All findings, without the steps that they are in. */
export function allFindings({ plan, steps }: PolicyFindings): readonly PolicyFinding[] {
  return [...plan, ...[...steps.values()].flat()];
}

/** The findings of no policies. */
export const NO_FINDINGS: PolicyFindings = { steps: new Map(), plan: [] };

const RANKS: { readonly [severity in PolicySeverity]: number } = { warn: 0, confirm: 1, deny: 2 };

/** The finding of a policy: its message, or why its expression has no answer, which refuses what it would have judged. */
export function findingOf(
  { name, severity, message, file, placeOf }: Policy,
  error: { readonly message: string; readonly offset: number } | null,
): PolicyFinding {
  if (error === null) return { name, severity, message, file, ...placeOf(0) };
  const why = `the policy's expression cannot be evaluated: ${error.message}`;
  return { name, severity: "deny", message: why, file, ...placeOf(error.offset) };
}

/** One finding for each name: the strictest, where policies of several folders have the same name. */
export function strictestFindings(findings: readonly PolicyFinding[]): readonly PolicyFinding[] {
  const byName = new Map<string, PolicyFinding>();
  for (const finding of findings) {
    const known = byName.get(finding.name);
    // Of two that are as strict the later is told, the operator's: a source does not put its words in their place.
    if (known === undefined || RANKS[finding.severity] >= RANKS[known.severity]) byName.set(finding.name, finding);
  }
  return [...byName.values()];
}

/** Policies by which consent is given: those of the base and of the operator may have one name. */
export type ConsentedPolicies = readonly Pick<Policy, "name" | "digest">[];

/** What allows the findings of the policies of a name in the consent of a plan: `policy:NAME@DIGEST`, as they are now. */
export function policyConsent(name: string, policies: ConsentedPolicies): string {
  const digests = policies.filter((one) => one.name === name).map(({ digest }) => digest);
  return `${consentPrefix(name)}${[...new Set(digests)].toSorted().join("+")}`;
}

/** Whether consent was given to policies of this name that were others than they are now. */
export function isConsentOutdated(consents: readonly string[], name: string, policies: ConsentedPolicies): boolean {
  return consents.some((one) => one.startsWith(consentPrefix(name)) && one !== policyConsent(name, policies));
}

function consentPrefix(name: string): string {
  return `policy:${name}@`;
}

/** The flag that allows a finding. */
export function policyFlag(name: string): string {
  return `--allow-policy ${name}`;
}

/** The findings that refuse what they are about: nothing allows those that deny. */
export function refusingFindings(
  findings: readonly PolicyFinding[],
  isAllowed: (policy: string) => boolean,
): readonly PolicyFinding[] {
  return findings.filter(({ name, severity }) => severity === "deny" || (severity === "confirm" && !isAllowed(name)));
}

const verbs: { readonly [severity in PolicySeverity]: string } = {
  deny: "denies it",
  confirm: "asks a person",
  warn: "warns",
};

/** A finding in words: `policy no-latest-tag denies it: name the image by a version (policies/tags.yaml:4)`. */
export function findingText({ name, severity, message, file, line }: PolicyFinding): string {
  return `policy ${name} ${verbs[severity]}: ${message} (${file}:${line})`;
}

/** What allows findings that refuse, in words. */
export function remedyText(findings: readonly PolicyFinding[]): string {
  const flags = findings.flatMap(({ name, severity }) => (severity === "confirm" ? [policyFlag(name)] : []));
  const denied = findings.some(({ severity }) => severity === "deny");
  return denied ? "nothing allows it: change what is declared, or the policy" : `${flags.join(" ")} allows it`;
}
