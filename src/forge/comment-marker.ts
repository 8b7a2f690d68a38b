/** The hidden metadata of a comment that holdfast wrote. */
export type CommentMarker = {
  /** The target of the comment, or the name that the user gave. */
  readonly name: string;
  /** The head commit of the pull request that the comment describes. */
  readonly revision: string;
};

const MARKER = /^<!-- holdfast name=([\w.%~!*'()]+) revision=([0-9a-f]{7,64}) -->$/;

/** The first line of a comment, as an HTML comment. */
export function commentMarker({ name, revision }: CommentMarker): string {
  return `<!-- holdfast name=${encoded(name)} revision=${revision} -->`;
}

/** Reads the marker in the first line of a comment; null if there is none. Other lines are untrusted and not read. */
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
