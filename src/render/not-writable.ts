import type { NotWritable } from "../contract/generated/output.ts";
import { count } from "./count-text.ts";

/** What the token of a plan may not write, by the role that may, each role written by `nameOf`; null if it may write all. */
export function notWritableText(notWritable: readonly NotWritable[], nameOf: (role: string) => string): string | null {
  if (notWritable.length === 0) return null;
  const steps = notWritable.reduce((sum, { identities }) => sum + identities.length, 0);
  const roles = notWritable.map(({ role, identities }) => `${nameOf(role)} (${identities.length})`);
  return `This token may not write ${count(steps, "step")}, for which apply needs: ${roles.join(", ")}`;
}
