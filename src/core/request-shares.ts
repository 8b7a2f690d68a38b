/** What a control plane is to be spared: requests in flight, and requests begun in a second; null for no limit. */
export type RequestLimits = { readonly concurrency: number | null; readonly requestsPerSecond: number | null };

/** What the processes of a fleet have of the limits of one control plane. Times are those of their database. */
export type RequestShares = {
  /** When they were stored. */
  readonly at: number;
  /** When the first request may begin for which nobody has a turn yet, in epoch milliseconds. */
  readonly nextAt: number;
  readonly holders: { readonly [process: string]: Holder };
};

/** A process with requests to one control plane. */
type Holder = {
  /** How many requests it would have in flight, if it could. */
  readonly wanted: number;
  /** How many it may have in flight. */
  readonly held: number;
  /** Whether it may have any in flight, and since when it may or waits. */
  readonly isAllowed: boolean;
  readonly since: number;
  /** When others may take what it holds, unless it asks again before. */
  readonly until: number;
};

/** What a process asks for. */
export type ShareRequest = {
  readonly process: string;
  readonly inFlight: number;
  /** How many requests it would have in flight, if it could. */
  readonly wanted: number;
  /** Whether it asks for turns to begin requests; it gets none while it may have no more in flight. */
  readonly needsTurns: boolean;
};

/** What a process may do until it asks again. */
export type RequestShare = {
  /** How many requests it may have in flight; when there are more, none may begin. */
  readonly most: number;
  /** When its turns to begin requests begin, in milliseconds from now, and how many there are. */
  readonly turnsIn: number;
  readonly turns: number;
};

/** The shares while no process has asked. */
export const NO_SHARES: RequestShares = { at: 0, nextAt: 0, holders: {} };

/** A share that was not asked for again for so long, in milliseconds, is free. */
export const SHARE_MS = 10_000;

/** Where there are fewer than processes, each that is allowed some is so for so many milliseconds at least. */
const ALLOWED_MS = 500;

/** A process takes the turns of so many milliseconds at once. */
const TURNS_MS = 250;

/** Gives a process its share of what the others leave, so that all together stay within the limits and each gets its turn. */
export function takeShare(
  stored: RequestShares,
  asked: ShareRequest,
  { concurrency, requestsPerSecond, now }: RequestLimits & { readonly now: number },
): { readonly after: RequestShares; readonly share: RequestShare } {
  const before = setBack(stored, Math.max(0, stored.at - now));
  const { most, holders } = hold(before, asked, { limit: concurrency, now });
  if (requestsPerSecond === null || !asked.needsTurns || most <= asked.inFlight) {
    return { after: { at: now, nextAt: before.nextAt, holders }, share: { most, turnsIn: 0, turns: 0 } };
  }
  const turns = Math.max(1, Math.floor((requestsPerSecond * TURNS_MS) / 1000));
  const from = Math.max(before.nextAt, now);
  const nextAt = from + (turns * 1000) / requestsPerSecond;
  return { after: { at: now, nextAt, holders }, share: { most, turnsIn: from - now, turns } };
}

// The clock of the database may be set back, and another database may take its place: nobody waits until it is as late again.
function setBack({ at, nextAt, holders }: RequestShares, ms: number): RequestShares {
  const entries = Object.entries(holders).map(([name, one]) => {
    return [name, { ...one, since: one.since - ms, until: one.until - ms }] as const;
  });
  return { at: at - ms, nextAt: nextAt - ms, holders: Object.fromEntries(entries) };
}

function hold(
  before: RequestShares,
  { process, inFlight, wanted }: ShareRequest,
  { limit, now }: { readonly limit: number | null; readonly now: number },
): { readonly most: number; readonly holders: RequestShares["holders"] } {
  if (limit === null) return { most: Number.POSITIVE_INFINITY, holders: {} };
  const others = Object.entries(before.holders).filter(([name, { until }]) => name !== process && until > now);
  const { isAllowed, since } = before.holders[process] ?? { isAllowed: false, since: now };
  const own = { wanted, held: inFlight, isAllowed, since, until: now + SHARE_MS };
  const heldByOthers = others.reduce((sum, [, { held }]) => sum + held, 0);
  const fair = fairShares([...others, [process, own]], limit, now).get(process) ?? 0;
  // What others have in flight beyond their shares becomes free when it ends.
  const most = Math.max(0, Math.min(fair, limit - heldByOthers));
  if (wanted === 0) return { most: 0, holders: Object.fromEntries(others) };
  const changed = most > 0 === isAllowed ? own : { ...own, isAllowed: !isAllowed, since: now };
  const holder = { ...changed, held: Math.max(inFlight, most) };
  return { most, holders: Object.fromEntries([...others, [process, holder]]) };
}

// One for each process that wants more, again and again. Where there are fewer than processes, those that have waited
// longest are allowed some in place of those that have been so longest.
function fairShares(
  holders: readonly (readonly [string, Holder])[],
  limit: number,
  now: number,
): ReadonlyMap<string, number> {
  const shares = new Map(holders.map(([name]) => [name, 0]));
  const rank = ({ isAllowed, since }: Holder): readonly [number, number] => {
    if (!isAllowed) return [1, since];
    return now - since < ALLOWED_MS ? [0, since] : [2, -since];
  };
  const order = holders.toSorted(([name, one], [otherName, other]) => {
    const [[group, nth], [otherGroup, otherNth]] = [rank(one), rank(other)];
    // Every process sees the same order.
    return group - otherGroup || nth - otherNth || (name < otherName ? -1 : 1);
  });
  let left = limit;
  for (let round = 1; left > 0; round += 1) {
    const unsatisfied = order.filter(([, { wanted }]) => wanted >= round);
    if (unsatisfied.length === 0) break;
    for (const [name] of unsatisfied.slice(0, left)) shares.set(name, round);
    left -= Math.min(left, unsatisfied.length);
  }
  return shares;
}
