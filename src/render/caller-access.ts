import type { Access } from "../core/access.ts";
import { printable } from "./escape.ts";
import type { Paint } from "./paint.ts";
import { wrapWords } from "./wrap.ts";

const SHOWN = 3;

/** The token's subject and permissions, in one sentence; empty when they are unknown. */
export function callerAccessLines(
  access: Access | null,
  { paint, width }: { readonly paint: Paint; readonly width: number },
): readonly string[] {
  if (access === null) return [];
  return wrapWords(accessText(access), { indent: "", width }).map((line) => paint("dim", line));
}

function accessText({ tenant, subject, roles, more_roles }: Access): string {
  const shown = roles
    .slice(0, SHOWN)
    .map(({ role_id, resource_type, resource_fqn }) => printable(`${role_id} on ${resource_type} ${resource_fqn}`));
  const more = roles.length - shown.length + more_roles;
  const may = [...shown, ...(more === 0 ? [] : [`${more} more`])].join(", ");
  return `Token of ${printable(subject)} in tenant ${printable(tenant)}: ${may === "" ? "no roles" : may}`;
}
