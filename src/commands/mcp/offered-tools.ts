import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../../clock/random.ts";
import { HoldfastError } from "../../core/errors.ts";
import { plan } from "../declarations/plan.ts";
import { simulate } from "../declarations/simulate.ts";
import { readingTools } from "./reading-tools.ts";
import { base, flagged, type Tool, withoutSeal } from "./tool.ts";

/** What the operator names, without which a tool is not offered. */
export type Offered = {
  /** The folder for proposed plans; null if there is none. */
  readonly plans: string | null;
  /** The snapshot for simulations; null if there is none. */
  readonly snapshot: string | null;
  readonly random: Random;
};

/** The tools that are offered. */
export function offeredTools({ plans, snapshot, random }: Offered): readonly Tool[] {
  return [
    ...readingTools,
    ...(snapshot === null ? [] : [simulateOn(snapshot)]),
    ...(plans === null ? [] : [proposeIn(plans, random)]),
  ];
}

function simulateOn(snapshot: string): Tool {
  return {
    name: "simulate",
    title: "Try a change on a copy",
    description:
      "Applies the base, the change and the base again to a copy of a control plane in this process, made from the operator's snapshot. The control plane itself is not asked.",
    properties: { base },
    required: ["base"],
    command: () => simulate,
    words: (given) => [`--snapshot=${snapshot}`, ...flagged("--base", given.base)],
    narrow: "change fewer manifests at once",
  };
}

const OUT = "--out=";

/** More than anybody would look at. */
const MOST_PLANS = 100;

function proposeIn(folder: string, random: Random): Tool {
  return {
    name: "propose",
    title: "Propose a plan",
    description:
      "Seals the plan of the source as it is, and leaves it in the operator's folder until a person applies it. Applies nothing. What a guard or a policy refuses is not sealed.",
    properties: { base },
    proposes: true,
    command: () => plan,
    words: (given) => [`${OUT}${join(folder, newPlan(folder, random))}`, ...flagged("--base", given.base)],
    pick: (result, _, [out = ""]) => {
      const file = out.slice(OUT.length);
      // A plan that is incomplete or refused was not written.
      return { file: existsSync(file) ? file : null, plan: withoutSeal(result) };
    },
    narrow: "the whole plan is in the file",
  };
}

function newPlan(folder: string, random: Random): string {
  const waiting = readdirSync(folder).filter((name) => /^plan-.*\.json$/.test(name)).length;
  if (waiting < MOST_PLANS) return `plan-${random.id()}.json`;
  throw new HoldfastError("refused", `${waiting} plans wait already`, {
    hint: "let a person apply or remove them: they are in the folder of --plans",
  });
}
