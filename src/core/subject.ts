import { isObject, type Json, text } from "../contract/json.ts";

/** Who wrote a resource: the id, and the name as reports show it. */
export type Author = { readonly createdBy?: string; readonly author?: string };

/** The subject of a reply: its id, and its type with its short name, such as `virtualaccount:ci-deployer`. */
export function authorIn(subject: unknown): Author {
  if (!isObject(subject)) return {};
  const { subjectId, subjectType, subjectSlug, subjectDisplayName } = subject;
  const [id, type] = [text(subjectId), text(subjectType)];
  const name = [subjectSlug, subjectDisplayName, id].find(isNamed);
  const author = name === undefined ? {} : { author: type ? `${type}:${name}` : name };
  return { ...(id === undefined ? {} : { createdBy: id }), ...author };
}

function isNamed(name: Json | undefined): name is string {
  return typeof name === "string" && name !== "";
}
