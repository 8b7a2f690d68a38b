// src/commands/drift: what was changed in live, as a pull request. See docs/drift.md.

import type { DriftProposalReport } from "../../contract/generated/output.ts";
import { unifiedDiff } from "../../core/diff/text-diff.ts";
import type { DriftEvent, DriftProposal, PromotedFile } from "../../core/report/events.ts";
import type { Forge } from "../../forge/forge.ts";
import { postStickyProposal, withdrawStickyProposal } from "../../forge/sticky-proposal.ts";
import { printable } from "../../render/escape.ts";
import { codeSpan } from "../../render/markdown/code-markup.ts";
import { driftProposalMarkdown, driftProposalTitle } from "../../render/markdown/drift-proposal.ts";
import { UnsettledSourceError } from "../../source/source-error.ts";
import { openForge } from "../configuration/choose-forge.ts";
import { inRepository } from "../promote/promoted-files.ts";
import type { ProposalPlace } from "../promote/propose.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import type { Terminal } from "../terminal.ts";

/** What is proposed of the drift of a target, before a pull request is opened. */
export type ReportedDrift = {
  readonly report: Omit<DriftProposalReport, "pullRequest">;
  readonly proposal: DriftProposal;
  /** The changed files by their paths in the repository. */
  readonly files: readonly PromotedFile[];
};

/** How long a daemon writes nothing of what is proposed; null where no daemon has proposed it. */
type HeldFor = { readonly heldFor: string | null };

/** Reports what is proposed of drift. */
export async function reportedDrift(
  { report: { drift } }: DriftEvent,
  proposal: DriftProposal,
  target: CommandTarget,
  terminal: Terminal,
): Promise<ReportedDrift> {
  const files = await inRepository(proposal.files, target, terminal);
  const writers = new Map(drift.map(({ identity, changedBy }) => [identity, changedBy]));
  const proposed = proposal.proposed.map(({ identity, kind, file, changes }) => {
    const changedBy = writers.get(identity);
    return { identity, kind, file, changes, ...(changedBy === undefined ? {} : { changedBy }) };
  });
  const report = {
    revision: proposal.revision,
    proposed,
    refused: proposal.refused,
    files: files.map(({ path, before, after, hasSecrets }) => ({
      path,
      diff: hasSecrets ? null : unifiedDiff(path, before, after),
    })),
  };
  return { report, proposal, files };
}

/** Opens the pull request of drift, or updates the open one. */
export async function proposeDrift(
  { report, proposal, files }: ReportedDrift,
  {
    target,
    place,
    server,
    heldFor,
  }: HeldFor & { readonly target: CommandTarget; readonly place: ProposalPlace; readonly server: string },
  terminal: Pick<Terminal, "clock" | "stopping">,
): Promise<NonNullable<DriftProposalReport["pullRequest"]>> {
  const parent = requireCommit(proposal);
  const forge = await openForge(place, terminal);
  const text = { ...report, target: target.name, server, heldFor };
  const title = driftProposalTitle(text);
  const { name, branch, base } = await driftNames(target, proposal.branch, forge);
  const { what, number, url } = await postStickyProposal(forge, {
    name,
    title,
    body: driftProposalMarkdown(text),
    base,
    commit: {
      branch,
      parent,
      message: messageOf(title, report),
      files: files.map(({ path, after, isNew }) => ({ path, text: after, isNew })),
    },
  });
  return { result: what, number, url, branch };
}

/** Closes the open pull request of drift of which nothing is left; null if there is none. */
export async function withdrawDrift(
  {
    target,
    place,
    branch: ofFolder,
    why,
  }: {
    readonly target: CommandTarget;
    readonly place: ProposalPlace;
    readonly branch: string | null;
    readonly why: string;
  },
  terminal: Pick<Terminal, "clock" | "stopping">,
): Promise<DriftProposalReport["pullRequest"]> {
  const forge = await openForge(place, terminal);
  const names = await driftNames(target, ofFolder, forge);
  const withdrawn = await withdrawStickyProposal(forge, names, why);
  return withdrawn && { result: "withdrawn", ...withdrawn, branch: names.branch };
}

/** Why a pull request is closed of which nothing is left. */
export function agreeAgain({ name }: CommandTarget): string {
  return `Git and live agree again on target ${codeSpan(name)}, so this was closed.`;
}

/** The name of the proposal of a target, its branch, and the branch that it is for. */
export async function driftNames(
  { name, remote }: CommandTarget,
  branch: string | null,
  forge: Pick<Forge, "defaultBranch">,
): Promise<{ readonly name: string; readonly branch: string; readonly base: string }> {
  const ofFolder = remote === null ? branch : (remote.ref?.replace(/^refs\/heads\//, "") ?? null);
  return {
    name: `drift ${name}`,
    branch: `holdfast/drift-${name}`,
    base: ofFolder ?? (await forge.defaultBranch()),
  };
}

// The branch begins at the commit that was read.
function requireCommit({ revision }: DriftProposal): string {
  if (revision !== null) return revision;
  throw new UnsettledSourceError(
    "invalid",
    "the manifests are not those of a commit, so no pull request can change them",
    {
      hint: "commit them and push the commit, or use --dry-run",
    },
  );
}

// Without names of fields: a forge reads commands such as `closes #1` in a commit message.
function messageOf(title: string, { proposed }: ReportedDrift["report"]): string {
  const lines = proposed.map(({ identity }) => `- ${printable(identity)}`);
  return `${title}\n\n${lines.join("\n")}\n`;
}
