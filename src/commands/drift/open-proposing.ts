import { HoldfastError } from "../../core/errors.ts";
import type { DriftEvent } from "../../core/report/events.ts";
import type { DriftMode } from "../../engine/passes/drift-pass.ts";
import { nothingProposedMarkdown } from "../../render/markdown/drift-proposal.ts";
import type { Invocation } from "../command.ts";
import { proposalPlace } from "../promote/propose.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import { findTargets } from "../targets/find-targets.ts";
import { otherReaderOf } from "../targets/other-reader-of.ts";
import { proposeDrift, reportedDrift, withdrawDrift } from "./propose-drift.ts";

/** How a command proposes the drift of a target. */
export type DriftProposing = AsyncDisposable & {
  /** What the pass has to find; fails where the forge or its token is not known. */
  readonly modeOf: (target: CommandTarget) => Pick<DriftMode, "propose">;
  /** Opens, updates or closes the pull request of the target, unless only the diff was asked for. */
  readonly propose: (found: DriftEvent, target: CommandTarget) => Promise<DriftEvent>;
};

/** Opens what a proposal of drift needs to know of all targets. */
export async function openDriftProposing(invocation: Invocation): Promise<DriftProposing> {
  requireWhole(invocation);
  const { terminal } = invocation;
  const { target: _, ...flags } = invocation.flags;
  const isProposed = flags.dryRun !== true;
  const opened = await findTargets({ ...invocation, args: [], flags }, { reading: true });
  const placeOf = (target: CommandTarget) => (isProposed ? proposalPlace(target, opened.operator, invocation) : null);
  return {
    modeOf: (target) => {
      // Without a forge or its token nothing is read.
      placeOf(target);
      return { propose: { readerOf: (path) => otherReaderOf(path, target, opened.targets) } };
    },
    propose: async (found, target) => {
      const { proposal } = found;
      if (proposal === undefined) throw new TypeError("a drift pass without the proposal that it was asked for");
      const reported = await reportedDrift(found, proposal, target, terminal);
      const place = placeOf(target);
      const { server, complete } = found.report;
      const { branch, revision } = proposal;
      const pullRequest = async () => {
        if (place === null) return null;
        if (proposal.proposed.length > 0)
          return proposeDrift(reported, { target, place, server, heldFor: null }, terminal);
        // What cannot be read may still differ, and what is no commit is not what others see.
        if (!complete || revision === null) return null;
        const why = nothingProposedMarkdown({ target: target.name, refused: proposal.refused });
        return withdrawDrift({ target, place, branch, why }, terminal);
      };
      return { ...found, proposed: { ...reported.report, pullRequest: await pullRequest() } };
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

function requireWhole({ args, flags }: Invocation): void {
  const selecting = { "--only": flags.only, "--kind": flags.kind, "--exclude": flags.exclude };
  const [flag] = Object.entries(selecting).find(([, value]) => value !== undefined) ?? args;
  if (flag === undefined) return;
  throw new HoldfastError("invalid", `--propose is for all drift of a target, and ${flag} selects a part of it`, {
    hint: "leave it out: a target has one pull request, which has all of its drift",
  });
}
