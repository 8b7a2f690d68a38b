// src/core/approvals: the signatures that plans need, and how they are verified. See docs/approvals.md.

import type { Approver } from "../../contract/generated/output.ts";
import type { Diagnostic } from "../diagnostic.ts";
import { HoldfastError } from "../errors.ts";
import { timestampText } from "../timestamp-text.ts";
import { APPROVAL_NAMESPACE, type ApprovalKey, type ApprovalRule } from "./approval-rule.ts";
import { fingerprintOfBlob, isCertificateType, readSshPublicKey, typeOfBlob } from "./ssh-public-key.ts";
import { isOfTouch, isSignedWith, readSshSignatures, type SshSignature } from "./ssh-signature.ts";

/** A file with the signatures of a plan. */
export type ApprovalFile = { readonly path: string; readonly text: string };

/** What was found of the approvals of a plan: who has approved it, and why other signatures do not count. */
export type FoundApprovals = { readonly approvers: readonly Approver[]; readonly faults: readonly string[] };

/** The text that is signed to approve the plan with this digest. */
export function approvalMessage(digest: string): string {
  return `${digest}\n`;
}

/** Finds who has approved the plan with this digest, by the keys of a rule. */
export function findApprovals(
  digest: string,
  { rule, text, now }: { readonly rule: ApprovalRule; readonly text: string; readonly now: number },
): FoundApprovals {
  const approvers: Approver[] = [];
  const faults: string[] = [];
  for (const [index, signature] of readSshSignatures(text).entries()) {
    const fault = signature === null ? "it cannot be read" : faultOf(signature, digest, rule, now);
    const key = rule.keys.find(({ blob }) => blob === signature?.blob);
    if (fault !== null || key === undefined) faults.push(`signature ${index + 1} does not count: ${fault}`);
    else if (approvers.some(({ fingerprint }) => fingerprint === key.fingerprint))
      faults.push(`signature ${index + 1} does not count: ${key.name} has approved the plan already`);
    else approvers.push({ name: key.name, fingerprint: key.fingerprint });
  }
  return { approvers, faults };
}

/** The rule by which only the key that made a signature counts: that of a plan that asks for none. */
export function signerRule(text: string): ApprovalRule {
  const keys = readSshSignatures(text).flatMap((signature): readonly ApprovalKey[] => {
    const key = signature === null ? "" : readSshPublicKey(keyTypeOf(signature), signature.blob);
    return typeof key === "string"
      ? []
      : [{ ...key, name: key.fingerprint, validAfter: null, validBefore: null, line: "" }];
  });
  return { atLeast: 1, keys };
}

function keyTypeOf({ type }: SshSignature): string {
  return type.startsWith("rsa-sha2-") ? "ssh-rsa" : type;
}

function faultOf(signature: SshSignature, digest: string, { keys }: ApprovalRule, now: number): string | null {
  const key = keys.find(({ blob }) => blob === signature.blob);
  if (isCertificateType(typeOfBlob(signature.blob))) return "it was made with a certificate, and only keys are read";
  if (key === undefined) return `the key ${fingerprintOfBlob(signature.blob)} is none of those that may approve it`;
  if (signature.namespace !== APPROVAL_NAMESPACE)
    return `${key.name} made it for ${signature.namespace || "nothing"}, and not for ${APPROVAL_NAMESPACE}`;
  const { validAfter, validBefore } = key;
  if (validBefore !== null && now >= validBefore)
    return `the key of ${key.name} has not counted since ${timestampText(validBefore)}`;
  if (validAfter !== null && now < validAfter)
    return `the key of ${key.name} does not count until ${timestampText(validAfter)}`;
  if (key.application !== null && !isOfTouch(signature)) return `nobody has touched the device of ${key.name} for it`;
  return isSignedWith(signature, key, approvalMessage(digest))
    ? null
    : `what ${key.name} has signed is another plan, or the signature is damaged`;
}

/** Returns who has approved a plan; throws where that are fewer than the rule demands. */
export function requireApprovals(
  digest: string,
  { rule, file, now }: { readonly rule: ApprovalRule; readonly file: ApprovalFile; readonly now: number },
): readonly Approver[] {
  const { approvers, faults } = findApprovals(digest, { rule, text: file.text, now });
  if (approvers.length >= rule.atLeast) return approvers;
  const { atLeast, keys } = rule;
  const given = approvers.length === 0 ? "none" : namesOf(approvers);
  const message = `the plan needs ${atLeast === 1 ? "one approval" : `${atLeast} approvals`}, and has ${given}`;
  throw new HoldfastError("refused", message, {
    hint: hintOf(keys, { atLeast, approvers, path: file.path }),
    diagnostics: approvalDiagnostics(faults, "error", file.path),
  });
}

/** Why signatures of a file do not count, as diagnostics. */
export function approvalDiagnostics(
  faults: readonly string[],
  severity: Diagnostic["severity"],
  file: string,
): readonly Diagnostic[] {
  return faults.map((summary) => {
    return { severity, code: "approval", summary, detail: null, file, line: null, column: null };
  });
}

function hintOf(
  keys: readonly ApprovalKey[],
  {
    atLeast,
    approvers,
    path,
  }: { readonly atLeast: number; readonly approvers: readonly Approver[]; readonly path: string },
): string {
  const others = keys.filter((key) => !approvers.some(({ fingerprint }) => fingerprint === key.fingerprint));
  if (others.length + approvers.length < atLeast)
    return "the plan and the configuration of this apply allow too few keys in common: make the plan again with plan --out FILE";
  return `let ${namesOf(others)} run holdfast approve on exactly this plan; the signatures are read from ${path}`;
}

const NAMED = 5;

function namesOf(all: readonly { readonly name: string }[]): string {
  const names = all.slice(0, NAMED).map(({ name }) => name);
  const more = all.length > NAMED ? [`${all.length - NAMED} more`] : [];
  return [...names, ...more].join(", ");
}

/** The error for a write without a plan where approvals are demanded. */
export function approvalsDemanded({ atLeast }: ApprovalRule, what: string): HoldfastError {
  const needed = atLeast === 1 ? "an approval" : `${atLeast} approvals`;
  return new HoldfastError("refused", `${what} needs a plan with ${needed}: the configuration demands it`, {
    hint: "holdfast plan --out plan.json, then holdfast approve plan.json, then holdfast apply --plan plan.json",
  });
}
