import type { WhoamiReport } from "../core/report/report.ts";
import { count } from "./count-text.ts";
import { printable } from "./escape.ts";
import { wrapWords } from "./wrap.ts";

/** Whose token it is, until when, and each of its roles in a line. */
export function whoamiText(
  { server, subject, tenantName, roles, tokenExpiresAt }: WhoamiReport,
  { width }: { readonly width: number },
): string {
  const end = tokenExpiresAt === null ? "" : `; the token is valid until ${tokenExpiresAt}`;
  const head = `${subject} in tenant ${tenantName} on ${server}, with ${count(roles.length, "role")}${end}`;
  const lines = roles.map(({ role, resourceType, resourceFqn, through }) => {
    return `${role} on ${resourceType} ${resourceFqn}${through === null ? "" : ` through ${through}`}`;
  });
  return [
    ...wrapWords(printable(head), { indent: "", nextIndent: "  ", width }),
    ...lines.flatMap((line) => wrapWords(printable(line), { indent: "  ", nextIndent: "    ", width })),
    "",
  ].join("\n");
}
