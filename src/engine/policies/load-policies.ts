import { resolve } from "node:path";
import { compareText } from "../../contract/json.ts";
import { type Diagnostic, hasErrors } from "../../core/diagnostic.ts";
import { HoldfastError } from "../../core/errors.ts";
import { closestName } from "../../schema/closest-name.ts";
import { diagnosticInFile } from "../../source/file-diagnostic.ts";
import { isBelow } from "../../source/git/tree-entry.ts";
import type { PolicyFolders } from "../../source/read-source-config.ts";
import type { RevisionFiles, SourceFile } from "../../source/revision.ts";
import { ExactProcess } from "../../yaml/read-yaml.ts";
import { readOperatorFolder } from "./read-operator-folder.ts";
import { type PolicyFile, type ReadPolicies, readPolicies } from "./read-policies.ts";

/** Where the policies of a target are: in the files of its source, in those of the base, and in the operator's folder. */
export type PolicyPlaces = {
  readonly folders: PolicyFolders;
  readonly revision: Pick<RevisionFiles, "policyFiles">;
  readonly base: Pick<RevisionFiles, "policyFiles"> | null;
  readonly cwd: string;
  readonly signal: AbortSignal;
};

/**
 * Reads every policy that judges a target: those of the source, those of the base beside them, and the operator's. None
 * replaces another one, so that each can only make the verdict stricter.
 */
export async function loadPolicies({ folders, revision, base, cwd, signal }: PolicyPlaces): Promise<ReadPolicies> {
  const { own, base: atBase, operator } = folders;
  if (own === null && atBase === null && operator === null) return { policies: [], diagnostics: [] };
  await using exact = new ExactProcess();
  const reading = { exact, signal };
  const ofSource = own === null ? NONE : await readFolder(own, revision, reading);
  const ofBase = atBase === null || base === null ? NONE : await readFolder(atBase, base, reading);
  const correction = "correct `policies` of the configuration, or the folder";
  const ofOperator =
    operator === null ? NONE : await readOperatorFolder(resolve(cwd, operator), { cwd, exact, correction });
  const all = [ofSource, ofBase, ofOperator];
  return {
    policies: all.flatMap(({ policies }) => policies),
    diagnostics: distinctDiagnostics([...missing(folders, revision), ...all.flatMap(({ diagnostics }) => diagnostics)]),
  };
}

type Reading = { readonly exact: ExactProcess; readonly signal: AbortSignal };

const NONE: ReadPolicies = { policies: [], diagnostics: [] };

function readFolder(folder: string, revision: PolicyPlaces["revision"], reading: Reading): Promise<ReadPolicies> {
  return readAt(filesIn(folder, revision), reading);
}

function filesIn(folder: string, { policyFiles = [] }: PolicyPlaces["revision"]): readonly SourceFile[] {
  return policyFiles.filter(({ path }) => isBelow(path, folder));
}

async function readAt(files: readonly SourceFile[], { exact, signal }: Reading): Promise<ReadPolicies> {
  const contents: PolicyFile[] = [];
  for (const file of files)
    contents.push({ display: file.display, bytes: await file.bytes({ signal }), size: file.size });
  return readPolicies(contents, exact);
}

// A folder that is named and holds nothing may have been moved, and everything would pass.
function missing({ own, place }: PolicyFolders, revision: PolicyPlaces["revision"]): readonly Diagnostic[] {
  if (own === null || filesIn(own, revision).length > 0) return [];
  const wording = {
    severity: "error",
    code: "no-policies",
    summary: `the folder ${JSON.stringify(own)} of \`policies\` holds no policy`,
    detail: "Correct `policies`, or remove it. Nothing is planned or written without the policies.",
  } as const;
  return [{ ...diagnosticInFile("", wording, place), file: place?.file ?? null }];
}

// A fault of the base is one of the branch too, unless it was corrected there.
function distinctDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return [...new Map(diagnostics.map((one) => [JSON.stringify(one), one])).values()];
}

/** Fails if a policy is wrong, so that nothing can be judged. */
export function requirePolicies({ diagnostics }: ReadPolicies): void {
  if (!hasErrors(diagnostics)) return;
  throw new HoldfastError("invalid", "the policies have errors, and nothing goes on without them", {
    hint: "correct them; --partial leaves out manifests alone",
    diagnostics,
  });
}

/** Fails if a flag allows a policy that none of these has the name of. */
export function requireNamedPolicies(allowed: readonly string[], { policies }: Pick<ReadPolicies, "policies">): void {
  const names = [...new Set(policies.map(({ name }) => name))].toSorted(compareText);
  const unknown = allowed.find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const near = closestName(unknown, names);
  const known = names.length === 0 ? "there are no policies" : `the policies are ${names.join(", ")}`;
  throw new HoldfastError("invalid", `--allow-policy ${unknown}: no policy has that name`, {
    hint: near === undefined ? known : `did you mean ${near}?`,
  });
}
