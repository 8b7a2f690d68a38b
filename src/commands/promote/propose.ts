import type { PromotionReport } from "../../contract/generated/output.ts";
import type { PromotionEvent } from "../../core/report/events.ts";
import { codeSpan } from "../../render/markdown/code-markup.ts";
import { promotionMarkdown, promotionTitle } from "../../render/markdown/promotion.ts";
import type { OperatorConfig } from "../../source/read-config.ts";
import type { Invocation } from "../command.ts";
import { chooseRepository, forgeRepository } from "../configuration/choose-forge.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import type { Terminal } from "../terminal.ts";
import type { PromotionTargets } from "./find-promotion.ts";
import { openProposal, type ProposalName, type ProposalPlace, withdrawProposal } from "./open-proposal.ts";
import type { ReportedPromotion } from "./reported-promotion.ts";

/** The repository in which the manifests of a target are. */
export function proposalPlace(
  { choice }: CommandTarget,
  { sources = [] }: OperatorConfig,
  invocation: Invocation,
): ProposalPlace {
  const source = sources?.find(({ name }) => name === choice?.source?.name);
  return chooseRepository(invocation, source === undefined ? null : forgeRepository(source));
}

/** Opens the pull request of a promotion, or updates the open one. */
export async function proposePromotion(
  { report, promotion, files }: ReportedPromotion,
  targets: PromotionTargets,
  place: ProposalPlace,
  terminal: Pick<Terminal, "clock" | "stopping">,
): Promise<PromotionReport["pullRequest"]> {
  const { plans, revision } = promotion;
  if (plans === null) return null;
  const change = {
    title: promotionTitle(report),
    body: promotionMarkdown({ ...report, plans }),
    revision,
    noCommit: "the manifests of the target that is promoted to are not those of a commit",
    changed: report.promoted,
    files,
  };
  return openProposal(namedIn(targets, promotion), change, { place, terminal });
}

/** Closes the open pull request of a promotion of which nothing is left; null if there is none. */
export async function withdrawPromotion(
  { promotion }: ReportedPromotion,
  targets: PromotionTargets,
  place: ProposalPlace,
  terminal: Pick<Terminal, "clock" | "stopping">,
): Promise<PromotionReport["pullRequest"]> {
  const { from, to } = targets;
  const why = `There is nothing to promote from ${codeSpan(from.name)} to ${codeSpan(to.name)} now, so this was closed.`;
  return withdrawProposal(namedIn(targets, promotion), why, { place, terminal });
}

/** Whether it is about to be known what can be promoted, so that nothing is to be concluded from what cannot be now. */
export function isUnsettled({ refused }: PromotionReport): boolean {
  return refused.some(({ why, gates = [] }) => {
    return (
      why === "invalid" ||
      why === "rolling-out" ||
      why === "unreadable" ||
      gates.some(({ verdict }) => verdict === "unanswered")
    );
  });
}

function namedIn({ from, to }: PromotionTargets, { branch }: PromotionEvent): ProposalName {
  return {
    name: `promote ${from.name} ${to.name}`,
    branch: `holdfast/promote-${from.name}-to-${to.name}`,
    target: to,
    ofFolder: branch,
  };
}
