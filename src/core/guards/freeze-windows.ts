import { Cron } from "croner";

/** A window of a target: it opens at each time of its cron, and stays open for its duration. */
export type FreezeWindow = {
  /** `deny`: nothing is written while it is open; `allow`: nothing is written while no such window is. */
  readonly effect: "deny" | "allow";
  /** Five fields, each `*` or a list of numbers. */
  readonly cron: string;
  readonly durationMs: number;
  readonly timeZone: string;
  readonly reason: string | null;
};

/** A time in which nothing is written. */
export type Freeze = {
  /** When it ends, in epoch milliseconds; null where no end was found. */
  readonly until: number | null;
  readonly reason: string | null;
};

/** A freeze that begins later. */
export type ComingFreeze = Freeze & { readonly from: number };

/** The freezes of a target, by the time in epoch milliseconds. */
export type FreezeSchedule = {
  /** The freeze at a time; null while writes are allowed. */
  readonly at: (now: number) => Freeze | null;
  /** The first freeze that begins after a time at which there is none, or after the freeze at that time; null without one. */
  readonly next: (now: number) => ComingFreeze | null;
};

/** The openings and ends of windows that are looked at for the end or the beginning of a freeze. */
const MAX_CHANGES = 400;

/** Creates the schedule of some windows. */
export function freezeSchedule(windows: readonly FreezeWindow[]): FreezeSchedule {
  const opened = windows.map(openWindow);
  // The crons are asked again only once the answer can be another one.
  let known: { readonly from: number; readonly until: number; readonly freeze: Freeze | null } | null = null;
  const at = (now: number): Freeze | null => {
    if (known !== null && known.from <= now && now < known.until) return known.freeze;
    const freeze = freezeOf(opened, now);
    const until = freeze?.until ?? Math.min(...opened.map((window) => window.changesAt(now)));
    known = { from: now, until, freeze };
    return freeze;
  };
  return {
    at,
    next: (now) => {
      const freeze = freezeOf(opened, now);
      if (freeze?.until === null) return null;
      const from = changeAfter(opened, freeze?.until ?? now, (isFrozen) => isFrozen);
      return from === null ? null : { from, ...(freezeOf(opened, from) ?? { until: null, reason: null }) };
    },
  };
}

type OpenWindow = FreezeWindow & {
  readonly isOpen: (at: number) => boolean;
  /** When it opens, or the earliest of its openings ends; infinite if that never comes. */
  readonly changesAt: (at: number) => number;
};

function openWindow(window: FreezeWindow): OpenWindow {
  const { cron, durationMs, timeZone } = window;
  const times = new Cron(cron, { timezone: timeZone, paused: true });
  const timeAfter = (at: number): number => times.nextRun(new Date(at))?.getTime() ?? Number.POSITIVE_INFINITY;
  return {
    ...window,
    isOpen: (at) => timeAfter(at - durationMs) <= at,
    changesAt: (at) => {
      const first = timeAfter(at - durationMs);
      return first <= at ? first + durationMs : first;
    },
  };
}

function freezeOf(windows: readonly OpenWindow[], now: number): Freeze | null {
  if (!isFrozenAt(windows, now)) return null;
  return { until: changeAfter(windows, now, (isFrozen) => !isFrozen), reason: reasonAt(windows, now) };
}

function isFrozenAt(windows: readonly OpenWindow[], at: number): boolean {
  const allows = windows.filter(({ effect }) => effect === "allow");
  const isDenied = windows.some(({ effect, isOpen }) => effect === "deny" && isOpen(at));
  return isDenied || (allows.length > 0 && !allows.some(({ isOpen }) => isOpen(at)));
}

function changeAfter(
  windows: readonly OpenWindow[],
  after: number,
  isMeant: (isFrozen: boolean) => boolean,
): number | null {
  let at = after;
  for (let changes = 0; changes < MAX_CHANGES; changes += 1) {
    at = Math.min(...windows.map((window) => window.changesAt(at)));
    if (!Number.isFinite(at)) return null;
    if (isMeant(isFrozenAt(windows, at))) return at;
  }
  return null;
}

function reasonAt(windows: readonly OpenWindow[], now: number): string | null {
  const denied = windows.filter(({ effect, isOpen }) => effect === "deny" && isOpen(now));
  if (denied.length > 0) return reasonsOf(denied);
  const allowed = reasonsOf(windows.filter(({ effect }) => effect === "allow"));
  return `outside the allowed times${allowed === null ? "" : ` (${allowed})`}`;
}

function reasonsOf(windows: readonly FreezeWindow[]): string | null {
  const reasons = [...new Set(windows.flatMap(({ reason }) => reason ?? []))];
  return reasons.length === 0 ? null : reasons.join(", ");
}
