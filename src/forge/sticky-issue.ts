import { commentMarker, readCommentMarker } from "./comment-marker.ts";
import type { Forge, ForgeIssue } from "./forge.ts";
import { isSameAccount } from "./sticky-comment.ts";

/** An issue that is open for as long as something is wrong. */
export type StickyIssue = {
  readonly name: string;
  readonly title: string;
  readonly body: string;
  /** `unclear` leaves an open issue open, and opens none. */
  readonly state: "wrong" | "good" | "unclear";
};

/** What became of it; `none` where there is none and none is needed. */
export type PostedIssue = { readonly what: "opened" | "updated" | "closed" | "none"; readonly url: string | null };

// An issue is about no commit.
const revision = "0".repeat(40);

/** Opens an issue, or updates the one that is open; closes it when all is good. Issues of others are never touched. */
export async function postStickyIssue(forge: Forge, { name, title, body, state }: StickyIssue): Promise<PostedIssue> {
  const account = await forge.account();
  const own = async (): Promise<readonly ForgeIssue[]> => {
    const open = await forge.openIssues();
    const named = open.filter(
      (one) => isSameAccount(one.author, account) && readCommentMarker(one.body)?.name === name,
    );
    return named.toSorted((a, b) => a.number - b.number);
  };
  const text = `${commentMarker({ name, revision })}\n${body}`;
  const [found] = await own();
  if (found !== undefined) {
    await forge.updateIssue(found.number, { body: text, isOpen: state !== "good" });
    return { what: state === "good" ? "closed" : "updated", url: found.url };
  }
  if (state !== "wrong") return { what: "none", url: null };
  const opened = await forge.createIssue(title, text);
  // Of two that were opened at once the first stays.
  const [kept = opened, ...others] = await own();
  for (const { number } of others) await forge.updateIssue(number, { body: text, isOpen: false });
  return { what: "opened", url: kept.url };
}
