import { expect, test } from "vitest";
import { authorIn } from "../../../src/core/subject.ts";

test.each([
  ["type and short name", { subjectSlug: "ci-deployer", subjectDisplayName: "CI" }, "virtualaccount:ci-deployer"],
  ["type and display name, without a short one", { subjectSlug: "", subjectDisplayName: "CI" }, "virtualaccount:CI"],
  ["type and id, without a name", {}, "virtualaccount:id-7"],
  ["the name alone, without a type", { subjectType: "", subjectSlug: "ci-deployer" }, "ci-deployer"],
  ["what of it is a text", { subjectSlug: 7, subjectDisplayName: null }, "virtualaccount:id-7"],
])("a subject is shown by %s", (_, fields, author) => {
  const subject = { subjectId: "id-7", subjectType: "virtualaccount", ...fields };
  expect(authorIn(subject)).toEqual({ createdBy: "id-7", author });
});

test.each([[undefined], [null], ["ada"], [{}], [{ subjectId: 7 }]])("%j names no subject", (subject) => {
  expect(authorIn(subject)).toEqual({});
});
