/** What a comment of ours says of itself, where no reader sees it. */
export type CommentMarker = {
  /** The target that it is about, or the name that it was given. */
  readonly name: string;
  /** The head of the pull request that it is about. */
  readonly revision: string;
};

const MARKER = /^<!-- holdfast name=([\w.%~!*'()]+) revision=([0-9a-f]{7,64}) -->$/;

/** The first line of a comment, hidden in HTML. */
export function commentMarker({ name, revision }: CommentMarker): string {
  return `<!-- holdfast name=${encoded(name)} revision=${revision} -->`;
}

/** Reads the first line of a comment; null where it is none of ours. Other lines may be anybody's text. */
export function readCommentMarker(body: string): CommentMarker | null {
  const [, name, revision] = MARKER.exec(body.split(/\r?\n/, 1)[0] ?? "") ?? [];
  if (name === undefined || revision === undefined) return null;
  try {
    return { name: decodeURIComponent(name), revision };
  } catch {
    return null;
  }
}

// Two hyphens would end the HTML comment.
function encoded(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll("-", "%2D");
}
