import type { PromotionReport } from "../../contract/generated/output.ts";
import type { PromotionEvent } from "../../core/report/events.ts";
import type { Forge } from "../../forge/forge.ts";
import { postStickyProposal, withdrawStickyProposal } from "../../forge/sticky-proposal.ts";
import { printable } from "../../render/escape.ts";
import { codeSpan } from "../../render/markdown/code-markup.ts";
import { promotionMarkdown, promotionTitle } from "../../render/markdown/promotion.ts";
import type { OperatorConfig } from "../../source/read-config.ts";
import { UnsettledSourceError } from "../../source/source-error.ts";
import type { Invocation } from "../command.ts";
import { chooseRepository, forgeRepository, openForge } from "../configuration/choose-forge.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import type { Terminal } from "../terminal.ts";
import type { PromotionTargets } from "./find-promotion.ts";
import type { ReportedPromotion } from "./reported-promotion.ts";

/** Where the pull request of a promotion is opened. */
export type ProposalPlace = ReturnType<typeof chooseRepository>;

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
  const { plans } = promotion;
  if (plans === null) return null;
  const parent = requireCommit(promotion);
  const forge = await openForge(place, terminal);
  const title = promotionTitle(report);
  const { name, branch, base } = await stickyNames(targets, promotion, forge);
  const { what, number, url } = await postStickyProposal(forge, {
    name,
    title,
    body: promotionMarkdown({ ...report, plans }),
    base,
    commit: {
      branch,
      parent,
      message: messageOf(title, report),
      files: files.map(({ path, after, isNew }) => ({ path, text: after, isNew })),
    },
  });
  return { result: what, number, url, branch };
}

/** Closes the open pull request of a promotion of which nothing is left; null if there is none. */
export async function withdrawPromotion(
  { promotion }: ReportedPromotion,
  targets: PromotionTargets,
  place: ProposalPlace,
  terminal: Pick<Terminal, "clock" | "stopping">,
): Promise<PromotionReport["pullRequest"]> {
  const forge = await openForge(place, terminal);
  const names = await stickyNames(targets, promotion, forge);
  const { from, to } = targets;
  const why = `There is nothing to promote from ${codeSpan(from.name)} to ${codeSpan(to.name)} now, so this was closed.`;
  const withdrawn = await withdrawStickyProposal(forge, names, why);
  return withdrawn && { result: "withdrawn", ...withdrawn, branch: names.branch };
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

async function stickyNames({ from, to }: PromotionTargets, { branch }: PromotionEvent, forge: Forge) {
  const ofFolder = to.remote === null ? branch : (to.remote.ref?.replace(/^refs\/heads\//, "") ?? null);
  return {
    name: `promote ${from.name} ${to.name}`,
    branch: `holdfast/promote-${from.name}-to-${to.name}`,
    base: ofFolder ?? (await forge.defaultBranch()),
  };
}

// The branch begins at the commit that was read.
function requireCommit({ revision }: PromotionEvent): string {
  if (revision !== null) return revision;
  throw new UnsettledSourceError(
    "invalid",
    "the manifests of the target that is promoted to are not those of a commit",
    {
      hint: "commit them and push the commit, or use --dry-run",
    },
  );
}

// Without names of fields: a forge reads commands such as `closes #1` in a commit message.
function messageOf(title: string, { promoted }: PromotionReport): string {
  const lines = promoted.map(({ identity }) => `- ${printable(identity)}`);
  return `${title}\n\n${lines.join("\n")}\n`;
}
