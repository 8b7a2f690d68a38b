import type { Simulation } from "../../contract/generated/output.ts";
import { FORMAT_VERSION } from "../format-version.ts";
import { type Kind, type Kinds, kindIn } from "../kind.ts";
import { PSEUDONYM_PREFIX } from "../redact/pseudonymise-manifest.ts";
import type { ApplyEvent } from "./events.ts";

export type { Simulation } from "../../contract/generated/output.ts";

/** What a simulation cannot know, one phrase each. */
export const UNKNOWN_TO_SIMULATION: readonly string[] = [
  "whether live has changed since the snapshot was taken",
  "whether images exist and start, and whether there is room for them",
  "whether secrets have the values that the manifests need",
  "whether rollouts succeed: all of them do here",
  "what policies of the real control plane refuse beyond the rules of this one",
];

/** The result of a simulation. */
export function makeSimulation(
  { base, change, revert }: { readonly [phase in "base" | "change" | "revert"]: ApplyEvent },
  { unseen, kinds }: { readonly unseen: readonly string[]; readonly kinds: Kinds },
): Simulation {
  const [changed, reverted] = [phaseOf(change), phaseOf(revert)];
  const tokens = new Set(change.tokens.map(({ identity }) => identity));
  const writtenBack = new Set(reverted.updated);
  const [undone, left] = partition(changed.updated, (identity) => writtenBack.has(identity));
  return {
    format_version: FORMAT_VERSION,
    simulation: true,
    base: phaseOf(base),
    change: changed,
    revert: reverted,
    stays: [
      ...changed.created.map((identity) => ({ identity, what: "resource" as const })),
      ...left.map((identity) => ({ identity, what: "update" as const })),
      ...undone
        .filter((identity) => keepsVersions(kindIn(kinds, identity)))
        .map((identity) => ({ identity, what: "versions" as const })),
      ...[...tokens].map((identity) => ({ identity, what: "token" as const })),
    ],
    notComparable: notComparableIn(change),
    unknown: UNKNOWN_TO_SIMULATION,
    unseen,
    diagnostics: change.report.diagnostics,
  };
}

function partition<One>(all: readonly One[], test: (one: One) => boolean): readonly [readonly One[], readonly One[]] {
  return [all.filter(test), all.filter((one) => !test(one))];
}

// Each write of an application is a deployment, which is a version too.
function keepsVersions(kind: Kind | undefined): boolean {
  return kind?.hasVersions === true || kind?.rollsOut === true;
}

function phaseOf({ report: { outcomes } }: ApplyEvent): Simulation["change"] {
  const named = (result: "created" | "updated"): readonly string[] =>
    outcomes.filter((one) => one.result === result).map(({ identity }) => identity);
  const bad = outcomes.filter(({ result }) => ["blocked", "failed", "skipped", "unknown"].includes(result));
  return {
    created: named("created"),
    updated: named("updated"),
    rollouts: outcomes.filter(({ rollout }) => rollout !== null).map(({ identity }) => identity),
    refused: bad.map(({ identity, result, error }) => ({ identity, why: error?.message ?? result })),
  };
}

function notComparableIn({ plan: { steps } }: ApplyEvent): readonly string[] {
  const touched = steps.filter(({ changes }) =>
    JSON.stringify(changes.map(({ before }) => before)).includes(PSEUDONYM_PREFIX),
  );
  return touched.map(({ identity }) => identity);
}
