import type { Diagnostic } from "../core/diagnostic.ts";
import type { Identity } from "../core/manifest.ts";
import { quoted } from "../yaml/fault.ts";
import type { Declaration } from "./declaration.ts";
import type { Refuse } from "./diagnostic-list.ts";
import type { Rereading } from "./source-manifest.ts";

/** What refusing a manifest at the position of a field needs. */
export type Refusing = { readonly refuse: Refuse; readonly reading: Rereading };

/** Refuses identities that are declared more than once, and names declared both with and without a version number. */
export async function refuseDuplicates(
  declarations: readonly Declaration[],
  declared: ReadonlySet<Identity>,
  refusing: Refusing,
): Promise<void> {
  const named = declarations.reduce((count, { identity }) => (identity === null ? count : count + 1), 0);
  // Usually there are no duplicates: then counting is enough, and grouping is skipped.
  const groups = named === declared.size ? [] : grouped(declarations, ({ identity }) => identity);
  for (const [identity, duplicates] of groups) {
    if (duplicates.length > 1) await refuseAll(duplicates, refusing, (others) => duplicateFault(identity, others));
  }
  await refuseSharedNames(declarations, refusing);
  const versioned = declarations.filter(({ kind }) => kind.hasVersions);
  for (const [name, versions] of grouped(versioned, ({ kind, key }) => (key === null ? null : `${kind.type}/${key}`))) {
    const bare = versions.filter(({ identity }) => identity === name);
    if (bare.length === 0 || bare.length === versions.length) continue;
    await refuseAll(versions, refusing, (others) => mixedFault(name, others));
  }
}

// Kinds that share their names. Duplicates within one kind were reported above.
async function refuseSharedNames(declarations: readonly Declaration[], refusing: Refusing): Promise<void> {
  const sharing = declarations.filter(({ kind, key }) => kind.sharesNames !== undefined && key !== null);
  if (new Set(sharing.map(({ kind }) => kind)).size < 2) return;
  for (const [, owners] of grouped(sharing, ({ kind, key }) => `${kind.sharesNames}/${key}`)) {
    if (new Set(owners.map(({ kind }) => kind)).size > 1) await refuseAll(owners, refusing, sharedNameFault);
  }
}

type Wording = Pick<Diagnostic, "code" | "summary" | "detail">;

function duplicateFault(identity: Identity, others: string): Wording {
  return {
    code: "duplicate-identity",
    summary: `${quoted(identity)} is declared more than once`,
    detail: `Also in ${others}. None of them is used: keep one.`,
  };
}

function sharedNameFault(others: string): Wording {
  return {
    code: "duplicate-identity",
    summary: "applications of two types have the same name in one workspace",
    detail: `Also in ${others}. All types of application share one set of names, and none of these is used: rename all but one.`,
  };
}

function mixedFault(name: string, others: string): Wording {
  return {
    code: "mixed-versions",
    summary: `${quoted(name)} is declared both with and without a version number`,
    detail: `Also in ${others}. Number all of its versions, or keep one manifest without a number.`,
  };
}

const SHOWN = 3;

async function refuseAll(
  duplicates: readonly Declaration[],
  { refuse, reading }: Refusing,
  wording: (others: string) => Wording,
): Promise<void> {
  for (const duplicate of duplicates) {
    const { identity, file, line } = duplicate;
    const others = duplicates
      .filter((other) => other.file !== file || other.line !== line)
      .map((other) => `${other.file.display}:${other.line}`);
    const named =
      others.length > SHOWN
        ? `${others.slice(0, SHOWN).join(", ")} and ${others.length - SHOWN} more`
        : others.join(", ");
    if (identity === null) continue;
    refuse(identity, { severity: "error", ...wording(named), ...(await duplicate.locate("/name", reading)) });
  }
}

function grouped(
  declarations: readonly Declaration[],
  of: (declaration: Declaration) => string | null,
): ReadonlyMap<string, readonly Declaration[]> {
  const groups = new Map<string, Declaration[]>();
  for (const declaration of declarations) {
    const name = of(declaration);
    if (name === null) continue;
    const group = groups.get(name);
    if (group) group.push(declaration);
    else groups.set(name, [declaration]);
  }
  return groups;
}
