import { createHash } from "node:crypto";
import { canonical } from "../contract/json.ts";
import { HoldfastError } from "../core/errors.ts";
import { commentMarker, readCommentMarker } from "./comment-marker.ts";
import type { BranchCommit, Forge, ForgeProposal } from "./forge.ts";

/** A change that has at most one open pull request, which is updated when the change differs. */
export type StickyProposal = {
  readonly name: string;
  readonly title: string;
  readonly body: string;
  readonly base: string;
  readonly commit: BranchCommit;
};

/** What became of a pull request. `closed`: one with this content was closed before, and is not opened again. */
export type PostedProposal = Pick<ForgeProposal, "number" | "url"> & {
  readonly what: "created" | "updated" | "unchanged" | "closed";
};

/**
 * Opens a pull request for a change, or updates the open one when its content differs. One that was closed with the same
 * content is not opened again. Pull requests of other accounts are never changed.
 */
export async function postStickyProposal(forge: Forge, proposal: StickyProposal): Promise<PostedProposal> {
  const { name, title, base, commit } = proposal;
  const { branch } = commit;
  const revision = contentDigest(proposal);
  const account = await forge.account();
  const newest = await newestProposal(forge, { branch, base });
  const marker = newest?.author === account ? readCommentMarker(newest.body) : null;
  const isSame = marker?.name === name && marker.revision === revision;
  const body = `${commentMarker({ name, revision })}\n${proposal.body}`;
  if (newest?.state === "open") {
    if (marker?.name !== name) throw notOurs(newest, branch);
    if (isSame) return { what: "unchanged", number: newest.number, url: newest.url };
    await forge.writeBranch(commit);
    const { number, url } = await forge.updateProposal(newest.number, { title, body });
    return { what: "updated", number, url };
  }
  if (newest?.state === "closed" && isSame) return { what: "closed", number: newest.number, url: newest.url };
  await forge.writeBranch(commit);
  const { number, url } = await forge.createProposal({ branch, base }, { title, body });
  return { what: "created", number, url };
}

/**
 * Closes the open pull request of a change that is no longer proposed; null if there is none. The same change may be
 * proposed anew later.
 */
export async function withdrawStickyProposal(
  forge: Forge,
  { name, branch, base }: Pick<StickyProposal, "name" | "base"> & Pick<BranchCommit, "branch">,
  why: string,
): Promise<Pick<ForgeProposal, "number" | "url"> | null> {
  const newest = await newestProposal(forge, { branch, base });
  if (newest?.state !== "open" || newest.author !== (await forge.account())) return null;
  if (readCommentMarker(newest.body)?.name !== name) return null;
  await forge.closeProposal(newest.number, `${commentMarker({ name, revision: WITHDRAWN })}\n${why}\n`);
  return { number: newest.number, url: newest.url };
}

// One that was opened again may be older than others.
async function newestProposal(
  forge: Forge,
  branches: Parameters<Forge["proposals"]>[0],
): Promise<ForgeProposal | undefined> {
  const proposals = await forge.proposals(branches);
  return proposals.find(({ state }) => state === "open") ?? proposals[0];
}

/** The digest of no content. */
const WITHDRAWN = "0".repeat(64);

// Other commits of the base do not change it.
function contentDigest({ base, commit: { files } }: StickyProposal): string {
  const content = files.map(({ path, text }) => [path, text]).toSorted();
  return createHash("sha256")
    .update(canonical([base, content]))
    .digest("hex");
}

function notOurs({ number }: ForgeProposal, branch: string): HoldfastError {
  return new HoldfastError("refused", `pull request ${number} is from ${branch}, and is another account's`, {
    hint: "close it, or use the account that opened it; nothing was written",
  });
}
