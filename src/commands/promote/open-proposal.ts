import type { ProposedChange } from "../../contract/generated/output.ts";
import type { Identity } from "../../core/manifest.ts";
import type { PromotedFile } from "../../core/report/events.ts";
import type { Forge } from "../../forge/forge.ts";
import { postStickyProposal, withdrawStickyProposal } from "../../forge/sticky-proposal.ts";
import { printable } from "../../render/escape.ts";
import { UnsettledSourceError } from "../../source/source-error.ts";
import { type chooseRepository, openForge } from "../configuration/choose-forge.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import type { Terminal } from "../terminal.ts";

/** Where a pull request is opened. */
export type ProposalPlace = ReturnType<typeof chooseRepository>;

/** The pull request of a change to the manifests of a target, of which one at most is open. */
export type ProposalName = {
  readonly name: string;
  /** The branch that it is from. */
  readonly branch: string;
  readonly target: CommandTarget;
  /** The branch of the folder, which it is for where the target follows none. */
  readonly ofFolder: string | null;
};

/** A change to manifests, and the text of its pull request. */
export type ManifestChange = {
  readonly title: string;
  readonly body: string;
  /** The commit at which its branch begins; null where the manifests are those of none. */
  readonly revision: string | null;
  /** What is said where they are those of none. */
  readonly noCommit: string;
  readonly changed: readonly { readonly identity: Identity }[];
  readonly files: readonly PromotedFile[];
};

type Opening = { readonly place: ProposalPlace; readonly terminal: Pick<Terminal, "clock" | "stopping"> };

/** Opens the pull request of a change, or updates the open one. */
export async function openProposal(
  named: ProposalName,
  { title, body, revision, noCommit, changed, files }: ManifestChange,
  { place, terminal }: Opening,
): Promise<ProposedChange> {
  if (revision === null)
    throw new UnsettledSourceError("invalid", noCommit, {
      hint: "commit them and push the commit, or use --dry-run",
    });
  const { name, branch } = named;
  const forge = await openForge(place, terminal);
  const { what, number, url } = await postStickyProposal(forge, {
    name,
    title,
    body,
    base: await baseOf(named, forge),
    commit: {
      branch,
      parent: revision,
      message: messageOf(title, changed),
      files: files.map(({ path, after, isNew }) => ({ path, text: after, isNew })),
    },
  });
  return { result: what, number, url, branch };
}

/** Closes the open pull request of a change of which nothing is left; null if there is none. */
export async function withdrawProposal(
  named: ProposalName,
  why: string,
  { place, terminal }: Opening,
): Promise<ProposedChange | null> {
  const { name, branch } = named;
  const forge = await openForge(place, terminal);
  const withdrawn = await withdrawStickyProposal(forge, { name, branch, base: await baseOf(named, forge) }, why);
  return withdrawn && { result: "withdrawn", ...withdrawn, branch };
}

/** The branch that a pull request is for. */
export async function baseOf(
  { target: { remote }, ofFolder }: Pick<ProposalName, "target" | "ofFolder">,
  forge: Pick<Forge, "defaultBranch">,
): Promise<string> {
  const followed = remote === null ? ofFolder : (remote.ref?.replace(/^refs\/heads\//, "") ?? null);
  return followed ?? forge.defaultBranch();
}

// Without names of fields: a forge reads commands such as `closes #1` in a commit message.
function messageOf(title: string, changed: ManifestChange["changed"]): string {
  const lines = changed.map(({ identity }) => `- ${printable(identity)}`);
  return `${title}\n\n${lines.join("\n")}\n`;
}
