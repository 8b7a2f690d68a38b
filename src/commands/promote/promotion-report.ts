import type { PromotionReport } from "../../contract/generated/output.ts";
import { unifiedDiff } from "../../core/diff/text-diff.ts";
import { FORMAT_VERSION } from "../../core/format-version.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { PromotedFile, PromotedManifest } from "../../core/report/events.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import { lineAuthor } from "../targets/line-author.ts";
import type { Terminal } from "../terminal.ts";
import type { FoundPromotion, PromotionTargets } from "./find-promotion.ts";

/** The report of a promotion, before a pull request is opened. */
export async function promotionReportOf(
  { promotable, promotion }: FoundPromotion,
  files: readonly PromotedFile[],
  { from, to }: PromotionTargets,
  terminal: Terminal,
): Promise<PromotionReport> {
  const promoted = [];
  for (const one of promotion.promoted) {
    promoted.push(await promotedResource(one, promotable.revision, from, terminal));
  }
  const refused = [...promotable.refused, ...promotion.refused];
  const { plans } = promotion;
  return {
    format_version: FORMAT_VERSION,
    from: from.name,
    to: to.name,
    revision: promotion.revision,
    summary: { promoted: promoted.length, unchanged: promotion.unchanged, refused: refused.length },
    promoted: promoted.toSorted((a, b) => (a.identity < b.identity ? -1 : 1)),
    refused: refused.toSorted((a, b) => (a.identity < b.identity ? -1 : 1)),
    files: files.map(({ path, before, after, hasSecrets }) => ({
      path,
      diff: hasSecrets ? null : unifiedDiff(path, before, after),
    })),
    plan: plans && stepsOf(plans.promotion),
    revert: plans && stepsOf(plans.revert),
    pullRequest: null,
    diagnostics: terminal.warnings.all(),
  };
}

function stepsOf({ complete, steps }: Plan): NonNullable<PromotionReport["plan"]> {
  return { complete, steps };
}

async function promotedResource(
  { as: identity, kind, file, changes, from: { identity: source, fields, since } }: PromotedManifest,
  revision: string | null,
  from: CommandTarget,
  terminal: Terminal,
): Promise<PromotionReport["promoted"][number]> {
  const places = new Map(
    fields.flatMap(({ place }) => (place === null ? [] : [[`${place.line} ${place.file}`, place] as const])),
  );
  const found = await Promise.all(
    [...places.values()].map(({ file, line }) => lineAuthor({ file, line, upTo: "line" }, revision, from, terminal)),
  );
  const authors = new Map(
    found.flatMap((one) =>
      one === null ? [] : [[one.commit, { commit: one.commit, author: one.author, at: one.at }]],
    ),
  );
  return { identity, from: source, kind, file, changes, since, authors: [...authors.values()] };
}
