// src/commands/drift: what was changed in live, as a pull request. See docs/drift.md.

import type { DriftProposalReport } from "../../contract/generated/output.ts";
import { unifiedDiff } from "../../core/diff/text-diff.ts";
import type { DriftEvent, DriftProposal, PromotedFile } from "../../core/report/events.ts";
import { driftProposalMarkdown, driftProposalTitle } from "../../render/markdown/drift-proposal.ts";
import type { ProposalPlace } from "../promote/open-proposal.ts";
import { openProposal, type ProposalName, withdrawProposal } from "../promote/open-proposal.ts";
import { inRepository } from "../promote/promoted-files.ts";
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
  const text = { ...report, target: target.name, server, heldFor };
  const change = {
    title: driftProposalTitle(text),
    body: driftProposalMarkdown(text),
    revision: proposal.revision,
    noCommit: "the manifests are not those of a commit, so no pull request can change them",
    changed: report.proposed,
    files,
  };
  return openProposal(driftNamed(target, proposal.branch), change, { place, terminal });
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
  return withdrawProposal(driftNamed(target, ofFolder), why, { place, terminal });
}

/** The pull request of the drift of a target, and its branch. */
export function driftNamed(target: CommandTarget, ofFolder: string | null): ProposalName {
  return { name: `drift ${target.name}`, branch: `holdfast/drift-${target.name}`, target, ofFolder };
}
