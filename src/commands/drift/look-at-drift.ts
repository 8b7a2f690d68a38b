import type { DriftProposalReport, NotProposed } from "../../contract/generated/output.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Identity } from "../../core/manifest.ts";
import type { DriftEvent } from "../../core/report/events.ts";
import { reconcile } from "../../engine/reconcile.ts";
import type { Run } from "../../engine/run.ts";
import type { DriftAlone, Target } from "../../engine/target.ts";
import type { ForgeProposal } from "../../forge/forge.ts";
import { codeSpan } from "../../render/markdown/code-markup.ts";
import type { Invocation } from "../command.ts";
import { openForge } from "../configuration/choose-forge.ts";
import { baseOf, type ProposalPlace } from "../promote/open-proposal.ts";
import { proposalPlace } from "../promote/propose.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import type { FoundTargets } from "../targets/find-targets.ts";
import { otherReaderOf } from "../targets/other-reader-of.ts";
import type { Terminal } from "../terminal.ts";
import { driftNamed, proposeDrift, reportedDrift, withdrawDrift } from "./propose-drift.ts";

/** The number and the address of a pull request. */
export type OpenProposal = Pick<ForgeProposal, "number" | "url">;

/** What a pass has found, and what was proposed before. */
type Asked = {
  readonly found: DriftAlone;
  /** The resources of which drift may be proposed. */
  readonly only: ReadonlySet<Identity>;
  /** The last pull request that is known, and the resources that are held because of it; null if there was none. */
  readonly known: (OpenProposal & { readonly held: ReadonlySet<Identity> }) | null;
  readonly heldFor: string;
  /** Whether nothing else was found and proposed last. */
  readonly isUnchanged: boolean;
};

/** What has become of the drift of a target. */
export type LookedAt = {
  /** The resources that stay as they are, and the pull request that they are in; null where none is open. */
  readonly proposed: ReadonlySet<Identity>;
  readonly open: OpenProposal | null;
  /** The resources of a pull request that somebody has closed. */
  readonly closed: ReadonlySet<Identity>;
  /** The resources of which nothing can be proposed, so that git wins, and why. */
  readonly refused: readonly NotProposed[];
  /** What this look has made of a pull request; null if it has only looked. */
  readonly change: DriftProposalReport["pullRequest"];
};

/** What a look is made with. */
type Looking = {
  readonly target: CommandTarget;
  readonly opened: FoundTargets;
  readonly invocation: Invocation;
};

/** No pass waits longer for an answer of a forge. */
const MOST_WAIT_MS = 30_000;

/** Brings the pull request of a target up to what a pass has found; null if all is as it was. */
export async function lookAtDrift(
  { found, only, known, heldFor, isUnchanged }: Asked,
  { target, opened, invocation }: Looking,
  run: Run,
): Promise<LookedAt | null> {
  const none = new Set<Identity>();
  if (known === null && only.size === 0) return { proposed: none, open: null, closed: none, refused: [], change: null };
  const place = proposalPlace(target, opened.operator, invocation);
  const { terminal } = invocation;
  const asking = <Answer>(ask: (terminal: Pick<Terminal, "clock" | "stopping">) => Promise<Answer>) =>
    withinLimit(ask, terminal, run);
  const { branch } = found;
  const state = known && (await asking((limited) => stateOf(known.number, { target, place, branch }, limited)));
  if (state === "open" && isUnchanged) return null;
  const closed = state === "closed" ? (known?.held ?? none).intersection(only) : none;
  const wanted = only.difference(closed);
  // The commit of the merge is read soon; nothing is proposed a second time until then.
  if (state === "merged" && known !== null && !wanted.isDisjointFrom(known.held))
    return { proposed: wanted, open: known, closed, refused: [], change: null };
  const proposed = wanted.size === 0 ? null : await findProposal({ found, wanted }, { target, opened }, run);
  const reported = proposed && (await reportedDrift(proposed.event, proposed.proposal, target, terminal));
  if (proposed === null || reported === null || reported.report.proposed.length === 0) {
    const why = `Nothing is left to propose for target ${codeSpan(target.name)}: git and live agree again, or git has won. So this was closed.`;
    const withdraw = (limited: Pick<Terminal, "clock" | "stopping">) =>
      withdrawDrift({ target, place, branch, why }, limited);
    const change = state === "open" ? await asking(withdraw) : null;
    return { proposed: none, open: null, closed, refused: reported?.report.refused ?? [], change };
  }
  const { server } = proposed.event.report;
  const change = await asking((limited) => proposeDrift(reported, { target, place, server, heldFor }, limited));
  const identities = new Set(reported.report.proposed.map(({ identity }) => identity));
  // What cannot be proposed of a resource that is held stays as it is.
  const refused = reported.report.refused.filter(({ identity }) => !identities.has(identity));
  if (change.result === "closed")
    return { proposed: none, open: null, closed: closed.union(identities), refused, change };
  return { proposed: identities, open: { number: change.number, url: change.url }, closed, refused, change };
}

// A client of a forge also waits for what a forge asks for, and longer than a pass may.
async function withinLimit<Answer>(
  ask: (terminal: Pick<Terminal, "clock" | "stopping">) => Promise<Answer>,
  { clock }: Pick<Terminal, "clock">,
  { stopping }: Pick<Run, "stopping">,
): Promise<Answer> {
  const limit = clock.timeout(MOST_WAIT_MS);
  const ended = AbortSignal.any([stopping, limit]);
  const aborted = new Promise<never>((_, reject) => {
    ended.addEventListener("abort", () => reject(ended.reason), { once: true });
  });
  try {
    return await Promise.race([ask({ clock, stopping: ended }), aborted]);
  } catch (error) {
    if (stopping.aborted || !limit.aborted) throw error;
    throw new HoldfastError("error", `the forge gave no answer within ${MOST_WAIT_MS / 1000} s`, { cause: error });
  }
}

type Place = { readonly target: CommandTarget; readonly place: ProposalPlace; readonly branch: string | null };

async function stateOf(
  number: number,
  { target, place, branch }: Place,
  limited: Pick<Terminal, "clock" | "stopping">,
): Promise<ForgeProposal["state"] | null> {
  const forge = await openForge(place, limited);
  const named = driftNamed(target, branch);
  const proposals = await forge.proposals({ branch: named.branch, base: await baseOf(named, forge) });
  return proposals.find((one) => one.number === number)?.state ?? null;
}

type Found = { readonly event: DriftEvent; readonly proposal: NonNullable<DriftEvent["proposal"]> };

// Reads the same commit again, with its files.
async function findProposal(
  { found: { revision }, wanted }: { readonly found: DriftAlone; readonly wanted: ReadonlySet<Identity> },
  { target, opened }: Pick<Looking, "target" | "opened">,
  run: Run,
): Promise<Found> {
  const readerOf = (path: string): string | null => otherReaderOf(path, target, opened.targets);
  const looking = { is: "drift", propose: { readerOf, only: wanted } } as const;
  const event = await reconcile(besidePass(target, revision, wanted), looking, { ...run, emit: () => undefined });
  if (event.what !== "drifted" || event.proposal === undefined) {
    throw new HoldfastError("invalid", "the source is refused", { hint: "holdfast validate says why" });
  }
  return { event, proposal: event.proposal };
}

// What a pass in progress has begun stays as it is: its connection, the name of its writes, and its cache of the source.
function besidePass(
  { server, source, rules, claim: _, takeRead: __, order: ___, drift: ____, ...target }: CommandTarget,
  revision: string | null,
  only: ReadonlySet<Identity>,
): Target {
  const { commits } = source;
  const pinned = commits && revision !== null ? { ...commits, resolve: async () => revision } : commits;
  return {
    ...target,
    sourceCache: null,
    source: { ...source, commits: pinned },
    server: {
      connect: server.connect,
      connection: server.connection,
      actFor: () => undefined,
      writeFor: () => undefined,
      disconnect: async () => undefined,
    },
    rules: (config) => ({
      ...rules(config),
      partial: true,
      selection: { paths: [], only: [...only], kinds: [], exclude: [] },
    }),
  };
}
