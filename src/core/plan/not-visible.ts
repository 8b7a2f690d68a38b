import { isDocumented, operation } from "../../contract/operations.ts";
import type { Decision } from "../decide/decision.ts";
import { type Diagnostic, NOT_VISIBLE } from "../diagnostic.ts";
import { kindIn } from "../kind.ts";
import { type Identity, splitIdentity } from "../manifest.ts";
import { roleThatShows, type Seen, tenantRole } from "../sight.ts";
import type { PlanInput } from "./plan-input.ts";

const MAX_ROLES = 3;

/** What the token may not see of a plan's resources, which is why the plan is incomplete; null where it sees all. */
export function notVisible(
  input: Seen & PlanInput,
  decisions: ReadonlyMap<Identity, Decision>,
): { readonly count: number; readonly diagnostic: Diagnostic } | null {
  // What a selection does not name itself is not what it wants to see.
  const { desired, outOfScope = 0, onlyReferredTo } = input;
  const hidden = [...decisions].flatMap(([identity, { reason }]) =>
    reason === "forbidden" && !onlyReferredTo?.has(identity) && isExpected(identity, input) ? [identity] : [],
  );
  if (hidden.length === 0) return null;
  const kinds = [...Map.groupBy(hidden, (identity) => splitIdentity(identity).kind)].map(([kind, all]) => {
    return `${all.length} × ${kind}`;
  });
  const total = desired.length + outOfScope;
  const summary = `${hidden.length} of ${total} not visible to this token: ${kinds.join(", ")}; ${rolesFor(hidden, input)} would show those that exist`;
  const detail =
    "the plan is not complete: give the token that role, or select what it sees by path, --kind or --only; " +
    "what does not exist is created by a token with that role, or on the control plane itself";
  return {
    count: hidden.length,
    diagnostic: { severity: "error", code: NOT_VISIBLE, summary, detail, file: null, line: null, column: null },
  };
}

// Where the token's roles are not known, a kind that no documented operation reads is never expected to be visible.
function isExpected(identity: Identity, { sight, kinds }: Seen): boolean {
  if (sight !== null) return true;
  const kind = kindIn(kinds, identity);
  return [kind?.list, kind?.single].some((read) => read !== undefined && isDocumented(operation(read.operation)));
}

function rolesFor(hidden: readonly Identity[], seen: Seen): string {
  const roles = new Set(hidden.map((identity) => roleThatShows(seen, identity)));
  return roles.size > MAX_ROLES ? tenantRole(seen.sight) : [...roles].join(", ");
}
