import fc from "fast-check";
import { expect, test } from "vitest";
import { commentMarker, readCommentMarker } from "../../../src/forge/comment-marker.ts";

const revision = "0123456789abcdef0123456789abcdef01234567";

test("a marker is read as it was written, whatever the name, and ends no HTML comment", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (name) => {
      const line = commentMarker({ name, revision });
      expect(line.slice(4, -3)).not.toMatch(/--|>|\n/);
      expect(readCommentMarker(`${line}\nThe plan`)).toEqual({ name: name.toWellFormed(), revision });
    }),
  );
});

test("S75 a marker counts in the first line alone, and only whole", () => {
  const line = commentMarker({ name: "prod", revision });
  for (const body of [
    `Text\n${line}`,
    ` ${line}`,
    `${line} more`,
    `> ${line}`,
    line.replace("revision", "version"),
    "",
  ])
    expect(readCommentMarker(body)).toBeNull();
  expect(readCommentMarker(`${line}\r\nThe plan`)).toEqual({ name: "prod", revision });
});
