import type { NotWritable } from "../../contract/generated/output.ts";
import { subjectName } from "../../model/roles.ts";
import type { Access } from "../access.ts";
import type { Kinds } from "../kind.ts";
import type { Live } from "../live.ts";
import type { Identity } from "../manifest.ts";
import { mayWrite, roleThatWrites, sightOf } from "../sight.ts";
import { type Plan, writes } from "./plan.ts";

/** Who would write, and what is live. */
type Writing = {
  readonly access: Access | null;
  readonly live: ReadonlyMap<Identity, Live>;
  readonly kinds: Kinds;
};

/** The steps of a plan that its token may not write, by the role that it lacks; empty where its roles are not known. */
export function notWritable({ steps }: Pick<Plan, "steps">, { access, live, kinds }: Writing): readonly NotWritable[] {
  if (access === null) return [];
  const sight = sightOf(access);
  const missing = steps.filter(
    (step) => writes(step) && !mayWrite(sight, step.identity, kinds) && !isManager(access, live.get(step.identity)),
  );
  const byRole = Map.groupBy(missing, ({ identity }) => roleThatWrites(access.tenant, identity, kinds));
  return [...byRole].map(([role, lacking]) => ({ role, identities: lacking.map(({ identity }) => identity) }));
}

// The managers of a team may change it without a role.
function isManager({ subject }: Access, live: Live | undefined): boolean {
  const managers = live?.state === "present" ? live.row.manifest.managers : undefined;
  const caller = subjectName(subject);
  return Array.isArray(managers) && managers.some((manager) => caller === subjectName(`user:${manager}`));
}
