import { isObject, type Json, text } from "../contract/json.ts";

/** The subject of a reply: its id, and its type with its short name, such as `virtualaccount:ci-deployer`. */
export function authorIn(subject: unknown): { readonly createdBy?: string; readonly author?: string } {
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
