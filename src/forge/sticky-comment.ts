import { type CommentMarker, commentMarker, readCommentMarker } from "./comment-marker.ts";
import type { Forge, ForgeComment } from "./forge.ts";

/** A comment that stands once on a pull request, and is updated with each revision. */
export type StickyComment = CommentMarker & { readonly body: string };

/** What became of it. */
export type PostedComment =
  | { readonly what: "created" | "updated"; readonly url: string | null }
  /** Nothing was written, and why. */
  | { readonly what: "skipped"; readonly why: string };

/**
 * Writes a comment, or updates the one that its marker names; comments of others are never touched. A revision that is
 * no longer the head writes nothing, and two runs at once end with one comment.
 */
export async function postStickyComment(forge: Forge, number: number, comment: StickyComment): Promise<PostedComment> {
  const account = await forge.account();
  const own = async (): Promise<readonly ForgeComment[]> => {
    const all = await forge.comments(number);
    return all.filter(
      (one) => isSameAccount(one.author, account) && readCommentMarker(one.body)?.name === comment.name,
    );
  };
  const [first] = await own();
  const stale = await staleness(forge, number, comment);
  if (stale !== null) return { what: "skipped", why: stale };
  const text = `${commentMarker(comment)}\n${comment.body}`;
  const updated = first === undefined ? null : await forge.updateComment(number, first.id, text);
  if (updated !== null) return keepOne(updated, "updated");
  return keepOne(await forge.createComment(number, text), "created");

  // The oldest stays: whoever looks later decides the same.
  async function keepOne(written: ForgeComment, what: "created" | "updated"): Promise<PostedComment> {
    const [kept = written, ...others] = (await own()).toSorted((a, b) => a.id - b.id);
    if (kept.id !== written.id && (await staleness(forge, number, comment)) === null) {
      await forge.updateComment(number, kept.id, text);
    }
    for (const { id } of others) await forge.deleteComment(number, id);
    return { what: kept.id === written.id ? what : "updated", url: kept.url ?? written.url };
  }
}

async function staleness(forge: Forge, number: number, { revision }: CommentMarker): Promise<string | null> {
  const { head, isOpen } = await forge.pullRequest(number);
  if (!isOpen) return "it is closed";
  return head === revision
    ? null
    : `its head is ${head.slice(0, 12)} by now, and this is about ${revision.slice(0, 12)}`;
}

/** Whether an account wrote something: GitHub names the account of an app without the suffix that its comments have. */
export function isSameAccount(author: string, account: string): boolean {
  return author !== "" && author.replace(/\[bot\]$/, "") === account.replace(/\[bot\]$/, "");
}
