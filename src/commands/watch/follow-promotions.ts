import type { Clock } from "../../clock/clock.ts";
import type { Secret } from "../../contract/secret.ts";
import type { CountedResults, Meter } from "../../daemon/meter.ts";
import type { PassObserver } from "../../daemon/pass-observer.ts";
import { printable } from "../../render/escape.ts";
import { durationMs } from "../../schema/duration.ts";
import type { OperatorConfig } from "../../source/read-config.ts";
import type { Invocation } from "../command.ts";
import { tell, tellFailure } from "../output/log-stream.ts";
import { findTargets } from "../targets/find-targets.ts";
import type { SharedReads } from "../targets/shared-reads.ts";
import { promotionFailures } from "./promotion-failures.ts";

type Entry = NonNullable<OperatorConfig["promotions"]>[number];

/** What promotions of a daemon are made with. */
type Promoting = {
  readonly invocation: Invocation;
  /** The operator's configuration that is in use. */
  readonly operatorFile: Parameters<typeof findTargets>[1]["operatorFile"];
  readonly shared: SharedReads;
  readonly meter: Meter | undefined;
};

/** The promotions that a daemon proposes by itself. */
export type Promotions = {
  /** The observers of a target's passes, after which its promotions are looked at. */
  readonly observe: (target: string) => readonly PassObserver[];
  /** Proposes until the signal is aborted; passes do not wait for it, and it never fails. */
  readonly run: (run: { readonly clock: Clock; readonly signal: AbortSignal }) => Promise<void>;
};

const DEFAULT_EVERY = "5m";

/** Creates the promotions of a configuration; nothing is looked at before a pass has ended. */
export function createPromotions({ promotions }: OperatorConfig, promoting: Promoting): Promotions {
  const all = (promotions ?? []).map((entry) => {
    const due = createDue();
    return { entry, look: looker(entry, promoting, due.set), due, leads: false };
  });
  return {
    observe: (target) =>
      all
        .filter(({ entry: { from, to } }) => from === target || to === target)
        .map((one) => ({
          emit: () => {},
          failure: () => {},
          end: ({ seen }) => {
            const hasRead = seen.read !== null;
            // Of several daemons, one that makes passes of the target promoted to proposes.
            if (one.entry.to === target) one.leads = hasRead;
            if (hasRead && one.leads) one.due.set();
          },
        })),
    run: async ({ clock, signal }) => {
      await Promise.all(
        all.map(async ({ entry, look, due }) => {
          signal.addEventListener("abort", due.set, { once: true });
          while (!signal.aborted) {
            await due.next();
            if (!signal.aborted) await look(signal);
            await clock.sleep(durationMs(entry.every ?? DEFAULT_EVERY), { signal, ref: false }).catch(() => {});
          }
        }),
      );
    },
  };
}

// What becomes due during a look is looked at after it.
function createDue(): { readonly set: () => void; readonly next: () => Promise<void> } {
  let due = Promise.withResolvers<void>();
  return {
    set: () => due.resolve(),
    next: async () => {
      await due.promise;
      due = Promise.withResolvers();
    },
  };
}

function looker(entry: Entry, promoting: Promoting, again: () => void): (signal: AbortSignal) => Promise<void> {
  const { from, to } = entry;
  const { stderr } = promoting.invocation.terminal;
  const failures = promotionFailures();
  return async (signal) => {
    try {
      const result = await promoteOnce(entry, promoting, signal);
      promoting.meter?.count("promotions", to, result.is);
      failures.succeeded();
      const { is, change } = result;
      if (change === null) return;
      const { number, url } = change;
      const message = `promotion of ${from} to ${to}: pull request ${number} ${is}${url === null ? "" : `: ${url}`}`;
      tell(stderr, { event: `promotion-${is}`, message, from, to, number, url }, () => `${printable(message)}\n`);
    } catch (error) {
      if (signal.aborted) return;
      const { is, message } = failures.failed(error);
      promoting.meter?.count("promotions", to, is === "waiting" ? "waiting" : "failed");
      if (is === "waiting") again();
      if (is !== "told") return;
      tellFailure(stderr, "promotion-failed", {
        message: `the promotion of ${from} to ${to} failed: ${printable(message)}`,
        hint: "it is tried again after a pass",
      });
    }
  };
}

// The processes of a fleet all make passes of the target promoted to.
async function lookAlone(database: Secret | null, name: string, clock: Clock): Promise<AsyncDisposable | null> {
  if (database === null) return new AsyncDisposableStack();
  const { takeDatabaseLock } = await import("../../store/postgres/session.ts");
  return takeDatabaseLock(database, name, clock);
}

/** What a look has found, and the pull request that it has changed; null where it has changed none. */
type Looked = {
  readonly is: Exclude<CountedResults["promotions"], "failed">;
  readonly change: { readonly number: number; readonly url: string | null } | null;
};

async function promoteOnce(
  { from, to, ids }: Entry,
  { invocation, operatorFile, shared, meter }: Promoting,
  signal: AbortSignal,
): Promise<Looked> {
  // Loaded here, because most daemons promote nothing.
  const { promotionTargets } = await import("../promote/find-promotion.ts");
  const { isUnsettled, proposalPlace, proposePromotion, withdrawPromotion } = await import("../promote/propose.ts");
  const { reportedPromotion } = await import("../promote/reported-promotion.ts");
  const { target: _, ...flags } = invocation.flags;
  const terminal = { ...invocation.terminal, stopping: signal };
  const reading = { ...invocation, terminal, flags, args: [], shared: { remotes: shared.remotes } };
  const use = { reading: true, unattended: true, usesRecordedTargets: true, operatorFile, meter } as const;
  await using opened = await findTargets(reading, use);
  await using lock = await lookAlone(opened.database, `promote ${from} ${to}`, terminal.clock);
  // The process that looks at this moment proposes what there is.
  if (lock === null) return { is: "waiting", change: null };
  const targets = promotionTargets(opened, [from, to]);
  const place = proposalPlace(targets.to, opened.operator, invocation);
  const found = await reportedPromotion(targets, { ids: ids ?? [], isProposed: true }, { ...terminal, emit: () => {} });
  if ("what" in found) throw new TypeError("a source is refused: holdfast validate says why");
  const { report } = found;
  // What is about to be known in a moment neither opens nor changes a pull request.
  if (isUnsettled(report)) return { is: "waiting", change: null };
  if (report.promoted.length === 0) {
    const withdrawn = await withdrawPromotion(found, targets, place, terminal);
    return { is: withdrawn === null ? "nothing" : "withdrawn", change: withdrawn };
  }
  const proposed = await proposePromotion(found, targets, place, terminal);
  if (proposed === null) return { is: "nothing", change: null };
  const hasChanged = proposed.result === "created" || proposed.result === "updated";
  return { is: proposed.result, change: hasChanged ? proposed : null };
}
