import fc from "fast-check";
import { expect, test } from "vitest";
import { markerLine, readMarker } from "../../../src/forge/marker.ts";

const revision = "0123456789abcdef0123456789abcdef01234567";

test("a marker is read as it was written, whatever the name, and ends no HTML comment", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (name) => {
      const line = markerLine({ name, revision });
      expect(line.slice(4, -3)).not.toMatch(/--|>|\n/);
      expect(readMarker(`${line}\nThe plan`)).toEqual({ name: name.toWellFormed(), revision });
    }),
  );
});

test("S70 a marker counts in the first line alone, and only whole", () => {
  const line = markerLine({ name: "prod", revision });
  for (const body of [
    `Text\n${line}`,
    ` ${line}`,
    `${line} more`,
    `> ${line}`,
    line.replace("revision", "version"),
    "",
  ])
    expect(readMarker(body)).toBeNull();
  expect(readMarker(`${line}\r\nThe plan`)).toEqual({ name: "prod", revision });
});
