import type { Access } from "../core/access.ts";
import { isReadFailure, NOT_VISIBLE } from "../core/diagnostic.ts";
import type { MissingExtension } from "../core/missing-extensions.ts";
import type { Plan } from "../core/plan/plan.ts";
import type { DriftReport } from "../core/report/report.ts";
import { printable } from "./escape.ts";
import type { Paint } from "./paint.ts";
import { wrapWords } from "./wrap.ts";

/** The part of a report that says whether it is complete. */
type Completeness = {
  readonly complete: boolean;
  readonly summary: Plan["summary"] | DriftReport["summary"];
  readonly diagnostics: Plan["diagnostics"];
};

const INVALID = "invalid manifests are left out";
const UNREAD = "live could not be read in full";

// More roles are counted.
const MAX_ROLES = 3;

/** Why a report is incomplete, in brackets; empty when it is complete. */
export function incompleteText({ complete, summary, diagnostics }: Completeness): string {
  if (complete) return "";
  const hidden = diagnostics.filter(({ code }) => code === NOT_VISIBLE).map((one) => printable(one.summary));
  const reasons = [...hidden, ...(summary.invalid > 0 ? [INVALID] : [])];
  const isMore = reasons.length === 0 || diagnostics.some(isReadFailure);
  return ` (incomplete: ${[...reasons, ...(isMore ? [UNREAD] : [])].join("; ")})`;
}

/** Why a report is incomplete, for a title, such as ` (incomplete: 13 of 48 not visible to this token)`. */
export function incompleteTitle(complete: boolean, notVisible: number | undefined, total: number): string {
  if (complete) return "";
  return notVisible === undefined ? " (incomplete)" : ` (incomplete: ${notVisibleText(notVisible, total)})`;
}

/** Why a report is incomplete, for Markdown: by its numbers, since its diagnostics stand elsewhere. */
export function incompleteMarkdown({ notVisible, invalid }: Completeness["summary"], total: number): string {
  const reasons = [
    ...(notVisible === undefined ? [] : [notVisibleText(notVisible, total)]),
    ...(invalid > 0 ? [INVALID] : []),
  ];
  return `**Incomplete**: ${reasons.length === 0 ? UNREAD : reasons.join("; ")}.`;
}

function notVisibleText(notVisible: number, total: number): string {
  return `${notVisible} of ${total} not visible to this token`;
}

/** The extensions that a control plane lacks, and the consequences; empty when it lacks none. */
export function missingExtensionsText(
  missing: readonly MissingExtension[],
  { paint, width }: { readonly paint: Paint; readonly width: number },
): readonly string[] {
  if (missing.length === 0) return [];
  const title = wrapWords("Not used: extensions that this control plane does not have", { indent: "", width });
  const lines = missing.flatMap(({ extension, operation, cost }) => {
    const words = [...`${extension} ${operation}:`.split(" "), ...cost.split(" ").map((word) => paint("dim", word))];
    return wrapWords(words, { indent: "  ", nextIndent: "    ", width });
  });
  return [[...title.map((line) => paint("bold", line)), ...lines, ""].join("\n")];
}

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
    .slice(0, MAX_ROLES)
    .map(({ role_id, resource_type, resource_fqn }) => printable(`${role_id} on ${resource_type} ${resource_fqn}`));
  const more = roles.length - shown.length + more_roles;
  const may = [...shown, ...(more === 0 ? [] : [`${more} more`])].join(", ");
  return `Token of ${printable(subject)} in tenant ${printable(tenant)}: ${may === "" ? "no roles" : may}`;
}
