import type { HoldfastPolicy } from "../../contract/generated/config.ts";
import { isObject } from "../../contract/json.ts";
import { type Diagnostic, hasErrors } from "../../core/diagnostic.ts";
import { jsonDigest } from "../../core/plan/sign-plan.ts";
import { redactCredentials } from "../../model/credential.ts";
import { validatePolicy } from "../../schema/validate.ts";
import { diagnosticInFile, fileDiagnostic, keyOrValue, wordingOf } from "../../source/file-diagnostic.ts";
import { defaultLimits } from "../../source/limits.ts";
import { formatOf } from "../../yaml/document.ts";
import { fault } from "../../yaml/fault.ts";
import { lineFinder, locator } from "../../yaml/locator.ts";
import { type ExactProcess, readYaml } from "../../yaml/read-yaml.ts";
import { kindCorrection } from "../load/unused-rules.ts";
import { placesOfText } from "./expression-place.ts";
import type { LoadedPolicy } from "./policy-set.ts";

/** The number of policies of one folder, and the size of each file. */
export const POLICY_LIMITS = { files: 100, bytes: 64 * 1024 } as const;

/** A file of a folder of policies. */
export type PolicyFile = {
  /** As reports name it. */
  readonly display: string;
  /** The content, or only its beginning where `size` is beyond the limit. */
  readonly bytes: Uint8Array;
  readonly size: number;
};

/** The policies of some files, and what is wrong with them; nothing is judged by some of them alone. */
export type ReadPolicies = { readonly policies: readonly LoadedPolicy[]; readonly diagnostics: readonly Diagnostic[] };

/** Reads the policies of one folder. */
export async function readPolicies(files: readonly PolicyFile[], exact: ExactProcess): Promise<ReadPolicies> {
  const [beyond] = files.slice(POLICY_LIMITS.files);
  if (beyond !== undefined) {
    const summary = `a folder of policies with more than ${POLICY_LIMITS.files} files`;
    return { policies: [], diagnostics: [faulty(beyond, "too-many-policies", summary, "Join or remove some.")] };
  }
  const read: ReadPolicies[] = [];
  for (const file of files) read.push(await readPolicy(file, exact));
  const policies = read.flatMap((one) => one.policies);
  return { policies, diagnostics: [...read.flatMap((one) => one.diagnostics), ...duplicates(policies)] };
}

async function readPolicy(file: PolicyFile, exact: ExactProcess): Promise<ReadPolicies> {
  const { display, bytes, size } = file;
  if (size > POLICY_LIMITS.bytes)
    return none(
      faulty(file, "too-large", `a policy larger than ${POLICY_LIMITS.bytes / 1024} KiB`, "Make it shorter."),
    );
  const options = { format: formatOf(display) ?? "yaml", limits: defaultLimits, worthy: null } as const;
  const { text, faults, documents } = await readYaml(bytes, options, exact);
  const positionAt = lineFinder(text);
  const [document, second] = documents;
  const all = [
    ...faults,
    ...documents.flatMap((each) => each.faults),
    ...(second ? [fault(second.offset, "too-many-documents", "a second document in a policy", "Keep one.")] : []),
  ];
  const found = all.map((one) => diagnosticInFile(display, one, positionAt(one.offset)));
  if (hasErrors(found)) return none(...found);
  const value = document?.value ?? null;
  if (document === undefined || !isObject(value))
    return none(faulty(file, "not-a-policy", "a file that is no policy", FORM));
  const locate = locator(document, positionAt);
  const faultsOfSchema = validatePolicy(value).map((one) =>
    diagnosticInFile(display, wordingOf(one), locate(one.pointer, keyOrValue(one))),
  );
  if (hasErrors(faultsOfSchema)) return none(...found, ...faultsOfSchema);
  // The schema has just validated it.
  const { name, severity, message, when, over, match, tests } = value as unknown as HoldfastPolicy;
  const correction = match == null ? null : kindCorrection(match);
  if (correction !== null) {
    // It would judge nothing, and so let everything pass.
    const wording = {
      severity: "error",
      code: "matches-nothing",
      summary: redactCredentials(
        `\`match: ${match}\` of policy ${name} matches no resource of any kind; ${correction}`,
      ),
      detail: "Nothing is planned or written until it is corrected.",
    } as const;
    return none(...found, diagnosticInFile(display, wording, locate("/match")));
  }
  const placeOf = placesOfText(text.split(/\r?\n/), when, locate("/when"));
  // Loaded here, since most sources have no policies.
  const { compileExpression } = await import("./expression.ts");
  const compiled = compileExpression(when, over ?? "step");
  if (compiled.is === "faulty") {
    const wording = {
      severity: "error",
      code: "expression",
      summary: `the expression of policy ${name} is wrong: ${compiled.error.message}`,
      detail: "Nothing is planned or written until it is corrected.",
    } as const;
    return none(...found, diagnosticInFile(display, wording, placeOf(compiled.error.offset)));
  }
  const judged = { name, severity, message, when, over: over ?? "step", match: match ?? null };
  const policy = {
    ...{ name, severity, message: redactCredentials(message), over: over ?? "step", match: match ?? null },
    ...{ digest: jsonDigest(judged), file: display, placeOf, expression: compiled.expression },
    tests: (tests ?? []).map((test, at) => ({ ...test, line: locate(`/tests/${at}`).line })),
  } as const;
  return { policies: [policy], diagnostics: found };
}

const FORM = "A policy has `name`, `severity`, `message` and `when`.";

function none(...diagnostics: readonly Diagnostic[]): ReadPolicies {
  return { policies: [], diagnostics };
}

function faulty({ display }: PolicyFile, code: string, summary: string, detail: string): Diagnostic {
  return fileDiagnostic("error", code, display, summary, detail);
}

function duplicates(policies: readonly LoadedPolicy[]): readonly Diagnostic[] {
  const byName = Map.groupBy(policies, ({ name }) => name);
  return policies.flatMap((policy): readonly Diagnostic[] => {
    const first = byName.get(policy.name)?.[0];
    if (first === undefined || first === policy) return [];
    const summary = `a second policy ${policy.name}: the first is ${first.file}`;
    return [
      { ...fileDiagnostic("error", "duplicate-policy", policy.file, summary, "Rename one."), line: 1, column: 1 },
    ];
  });
}
