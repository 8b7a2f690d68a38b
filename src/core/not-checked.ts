import type { NotChecked } from "../contract/generated/output.ts";

const texts: { readonly [reason in Exclude<NotChecked["reason"], "depends-on">]: string } = {
  unproven: "not checked: dry runs are not yet known to be safe on this server",
  "needs-write": "not checked: the token may not write it",
  unsupported: "not checked: this kind has no dry run",
  unanswered: "not checked: the dry run failed",
  skipped: "not checked: --no-dry-run",
};

/** One phrase on why a step was not checked. */
export function notCheckedText(notChecked: NotChecked): string {
  const { reason, on = [] } = notChecked;
  return reason === "depends-on" ? `not checked: depends on ${on.join(", ")}` : texts[reason];
}
