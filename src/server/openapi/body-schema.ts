import type { Member, Operation } from "../../contract/operations.ts";
import type { OperationDescription } from "./description.ts";
import type { Schema } from "./json-schema.ts";

const dryRun: Schema = {
  description:
    "Check everything as the write would and answer what it would answer, but write nothing. A new resource has no id then",
  default: false,
};

/** The schema of an operation's body; null when it takes none. */
export function bodySchema({ body }: Operation, about: OperationDescription): Schema | null {
  if (body === undefined) return null;
  const members = Object.entries(body);
  return {
    type: "object",
    required: members.filter(([, { required }]) => required === true).map(([member]) => member),
    properties: Object.fromEntries(members.map(([member, form]) => [member, memberSchema(about, member, form)])),
    additionalProperties: false,
  };
}

function memberSchema({ manifest, members }: OperationDescription, member: string, { is }: Member): Schema {
  if (member === "manifest") return manifest ?? {};
  const schema = member === "dryRun" ? dryRun : members?.[member];
  return { ...schema, type: is === "list" ? "array" : is };
}
