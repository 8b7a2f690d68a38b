import { expect, test } from "vitest";
import { writerText } from "../../../src/render/last-write.ts";

const at = "2026-11-27T03:53:48.258Z";

test.each([
  ["by user:ada, 2 s ago", { subject: "user:ada", subjectId: "ada", at }],
  ["by user:ada", { subject: "user:ada", subjectId: "ada", at: null }],
  ["changed 2 s ago", { subject: null, subjectId: null, at }],
  ["", { subject: null, subjectId: null, at: null }],
])("a last write is told as %j", (text, changedBy) => {
  expect(writerText({ changedBy }, Date.parse(at) + 2000)?.(80)).toBe(text);
});
