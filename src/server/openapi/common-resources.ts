import type { ErrorBody, Pagination, Subject, Timestamp } from "../../contract/resources.ts";
import { type Fields, integer, list, moment, named, object, oneOfMany, text } from "./form.ts";

/** Who did something. */
export const subject = object<Subject>("Who did something", {
  subjectId: text("Id of the subject", "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1"),
  subjectType: oneOfMany("What the subject is", ["user", "team", "serviceaccount", "virtualaccount"]),
  subjectSlug: text("Short name of the subject; the e-mail of a person", "ada@example.com"),
  subjectDisplayName: text("Name of the subject for people", "Ada Lovelace"),
});

/** Where a page stands in the whole list. */
export const pagination = object<Pagination>("Where the page stands in the whole list", {
  total: integer("Rows of the whole list that the caller may see", 1, { minimum: 0 }),
  offset: integer("Rows before this page", 0, { minimum: 0 }),
  limit: integer("Most rows of this page", 100, { minimum: 1 }),
});

/** Body of every refusal. */
export const errorForm = object<ErrorBody>("Body of every refusal", {
  statusCode: integer("The HTTP status again", 422),
  message: text("What is wrong, for people", "/name: is required"),
  code: text("What is wrong, for programs", "unprocessable"),
  details: list(
    "Everything that is wrong with the manifest or the body",
    object("One fault", {
      pointer: text(
        "JSON Pointer to the fault: within the manifest, or within the body when its own form is wrong",
        "/name",
      ),
      message: text("What is wrong there", "is required"),
      code: text("What is wrong there, for programs", "required"),
    }),
  ),
});

/** When a resource was made and last changed. */
export const stamps: Fields<{ readonly createdAt: Timestamp; readonly updatedAt: Timestamp }> = {
  createdAt: moment("When it was made"),
  updatedAt: moment("When it last changed"),
};

/** Who made a resource. */
export const camelOwner: Fields<{ readonly createdBy: string; readonly createdBySubject: Subject }> = {
  createdBy: text("Short name of who made it", "ada@example.com"),
  createdBySubject: named<Subject>("Subject", "Who made it"),
};

/** The tenant of a resource. */
export const tenantName = text("Tenant that it belongs to", "holdfast");

/** The account of a resource. */
export const accountId = text("Account that it belongs to", "holdfast");
