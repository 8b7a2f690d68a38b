import { type CommentMarker, commentMarker, readCommentMarker } from "./comment-marker.ts";
import type { Forge, ForgeComment } from "./forge.ts";

/** A comment that exists once per pull request and is updated with each revision. */
export type StickyComment = CommentMarker & { readonly body: string };

/** The result of posting a comment. */
export type PostedComment =
  | { readonly what: "created" | "updated"; readonly url: string | null }
  /** Nothing was written, for the reason in `why`. */
  | { readonly what: "skipped"; readonly why: string };

/**
 * Creates a comment, or updates the one with the same name in its marker. Comments of other accounts are never changed.
 * Nothing is written for a revision that is no longer the head. Two concurrent runs result in one comment.
 */
export async function postStickyComment(forge: Forge, number: number, comment: StickyComment): Promise<PostedComment> {
  const account = await forge.account();
  const own = async (): Promise<readonly ForgeComment[]> => {
    const all = await forge.comments(number);
    return all.filter(({ author, body }) => author === account && readCommentMarker(body)?.name === comment.name);
  };
  const [first] = await own();
  const stale = await staleness(forge, number, comment);
  if (stale !== null) return { what: "skipped", why: stale };
  const text = `${commentMarker(comment)}\n${comment.body}`;
  const updated = first === undefined ? null : await forge.updateComment(number, first.id, text);
  if (updated !== null) return keepOne(updated, "updated");
  return keepOne(await forge.createComment(number, text), "created");

  // The oldest comment stays, so that concurrent runs make the same choice.
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
    : `its head is now ${head.slice(0, 12)}, and this comment is about ${revision.slice(0, 12)}`;
}
