import type { NotChecked } from "../contract/generated/output.ts";

const texts: { readonly [reason in Exclude<NotChecked["reason"], "depends-on">]: string } = {
  unproven: "not checked: dryRun unproven",
  "needs-write": "not checked: needs write",
  unsupported: "not checked: no dry run of this kind",
  unanswered: "not checked: the dry run was not answered",
  skipped: "not checked: --no-dry-run",
};

/** One phrase on why a step was not checked. */
export function notCheckedText(notChecked: NotChecked): string {
  const { reason, on = [] } = notChecked;
  return reason === "depends-on" ? `not dry-run: depends on ${on.join(", ")}` : texts[reason];
}
