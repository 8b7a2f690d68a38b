import { commentMarker, readCommentMarker } from "./comment-marker.ts";
import type { Forge, ForgeIssue } from "./forge.ts";

/** An issue that is open while a problem exists. */
export type StickyIssue = {
  readonly name: string;
  readonly title: string;
  readonly body: string;
  /** `unclear` keeps an open issue open, and opens none. */
  readonly state: "wrong" | "good" | "unclear";
};

/** The result of posting an issue; `none` if no issue is open and none is needed. */
export type PostedIssue = { readonly what: "opened" | "updated" | "closed" | "none"; readonly url: string | null };

// A placeholder, since an issue does not describe a commit.
const revision = "0".repeat(40);

/** Opens or updates an issue, and closes it when its state is good. Issues of other accounts are never changed. */
export async function postStickyIssue(forge: Forge, { name, title, body, state }: StickyIssue): Promise<PostedIssue> {
  const account = await forge.account();
  const own = async (): Promise<readonly ForgeIssue[]> => {
    const open = await forge.openIssues();
    const named = open.filter(({ author, body }) => author === account && readCommentMarker(body)?.name === name);
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
  // If two runs opened an issue at the same time, the first one stays open.
  const [kept = opened, ...others] = await own();
  for (const { number } of others) await forge.updateIssue(number, { body: text, isOpen: false });
  return { what: "opened", url: kept.url };
}
