/** What keeps two processes of a fleet from writing the same content twice; a test takes one out. */
export const safeguards = [
  "a journal entry is stored only with the newest number of the lock",
  "a request is sent only before the deadline of its journal entry",
  "an entry that an earlier holder left is closed before anything is written",
  "without leases, an entry is closed as not made only after its deadline",
  "the control plane refuses an older fencing token",
  "a new holder takes a newer fencing token before it closes an entry as not made",
] as const;

/** One of them. */
export type Safeguard = (typeof safeguards)[number];

type Phase = "idle" | "locked" | "read" | "journaled" | "sent" | "done" | "dead";

type Worker = {
  readonly phase: Phase;
  readonly number: number;
  /** The fencing token of its lease on the control plane. */
  readonly token: number;
  readonly isSuspended: boolean;
};

/** All that matters of two processes, the database and the control plane, for one resource that is to be written once. */
type World = {
  readonly workers: readonly Worker[];
  readonly lock: { readonly number: number; readonly by: number | null; readonly hasEnded: boolean };
  /** The open journal entry: who sent it, and whether its deadline has passed. */
  readonly entry: { readonly by: number; readonly isLate: boolean } | null;
  readonly newestToken: number;
  /** The request under way, with its fencing token. */
  readonly requests: readonly { readonly by: number; readonly token: number }[];
  /** How often the control plane has carried the write out. */
  readonly effects: number;
};

type Step = { readonly name: string; readonly to: World };

const MOST_NUMBER = 3;

const start: World = {
  workers: [0, 1].map(() => ({ phase: "idle", number: 0, token: 0, isSuspended: false })),
  lock: { number: 0, by: null, hasEnded: false },
  entry: null,
  newestToken: 0,
  requests: [],
  effects: 0,
};

/**
 * Goes through every order in which two processes can be killed, suspended and delayed; returns the shortest way to a content
 * that was written twice, and null if there is none, with the number of states.
 */
export function exploreFleet({
  hasLeases,
  without = null,
  takesHeldLock = false,
}: {
  readonly hasLeases: boolean;
  readonly without?: Safeguard | null;
  /** Whether a lock is taken while its holder lives, as where a clock jumps. @default false */
  readonly takesHeldLock?: boolean;
}): {
  readonly states: number;
  readonly fault: readonly string[] | null;
} {
  const has = (safeguard: Safeguard): boolean => safeguard !== without;
  const ways = new Map<string, readonly string[]>([[JSON.stringify(start), []]]);
  const queue: World[] = [start];
  for (const world of queue) {
    const way = ways.get(JSON.stringify(world)) ?? [];
    if (world.effects > 1) return { states: ways.size, fault: way };
    for (const { name, to } of stepsOf(world, { hasLeases, takesHeldLock, has })) {
      const key = JSON.stringify(to);
      if (ways.has(key)) continue;
      ways.set(key, [...way, name]);
      queue.push(to);
    }
  }
  return { states: ways.size, fault: null };
}

type Rules = {
  readonly hasLeases: boolean;
  readonly takesHeldLock: boolean;
  readonly has: (safeguard: Safeguard) => boolean;
};

function stepsOf(world: World, rules: Rules): readonly Step[] {
  return [
    ...world.workers.flatMap((_, at) => [...workOf(world, at, rules), ...troubleOf(world, at)]),
    ...timeOf(world, rules),
  ];
}

function workOf(world: World, at: number, { hasLeases, takesHeldLock, has }: Rules): readonly Step[] {
  const worker = world.workers[at];
  if (worker === undefined || worker.isSuspended) return [];
  const { lock, entry, requests, newestToken } = world;
  const becomes = (name: string, change: Partial<Worker>, rest: Partial<World> = {}): readonly Step[] => [
    { name: `${at} ${name}`, to: { ...world, ...rest, workers: world.workers.with(at, { ...worker, ...change }) } },
  ];
  const isNewest = worker.number === lock.number;
  const wait = becomes("gives up", { phase: "idle" });
  switch (worker.phase) {
    case "idle": {
      if (!takesHeldLock && lock.by !== null && !lock.hasEnded) return [];
      if (lock.number === MOST_NUMBER) return [];
      const number = lock.number + 1;
      return becomes("takes the lock", { phase: "locked", number }, { lock: { number, by: at, hasEnded: false } });
    }
    case "locked": {
      // Whatever changes the journal needs the newest number, as a new entry does.
      const mayClose = isNewest || !has("a journal entry is stored only with the newest number of the lock");
      if (world.effects > 0) return mayClose ? becomes("finds it made", { phase: "done" }, { entry: null }) : wait;
      const takes = hasLeases && has("a new holder takes a newer fencing token before it closes an entry as not made");
      const token = takes ? newestToken + 1 : Math.max(newestToken, hasLeases ? 1 : 0);
      const own = { phase: "read", token } as const;
      const leased = { newestToken: Math.max(newestToken, token) };
      if (entry === null || !has("an entry that an earlier holder left is closed before anything is written"))
        return becomes("finds it absent", own, leased);
      if (!mayClose) return wait;
      const isOver =
        hasLeases || entry.isLate || !has("without leases, an entry is closed as not made only after its deadline");
      return isOver ? becomes("closes the entry as not made", own, { ...leased, entry: null }) : [];
    }
    case "read": {
      if (has("a journal entry is stored only with the newest number of the lock") && !isNewest) return wait;
      return becomes("stores a journal entry", { phase: "journaled" }, { entry: { by: at, isLate: false } });
    }
    case "journaled": {
      const isInTime = entry?.by === at && !entry.isLate;
      if (has("a request is sent only before the deadline of its journal entry") && !isInTime) return wait;
      return becomes("sends", { phase: "sent" }, { requests: [...requests, { by: at, token: worker.token }] });
    }
    case "sent": {
      const isAnswered = requests.every(({ by }) => by !== at);
      if (!isAnswered) return [];
      return isNewest ? becomes("records", { phase: "done" }, { entry: null, lock: { ...lock, by: null } }) : wait;
    }
    default:
      return [];
  }
}

function troubleOf(world: World, at: number): readonly Step[] {
  const worker = world.workers[at];
  if (worker === undefined || worker.phase === "dead" || worker.phase === "done") return [];
  const becomes = (name: string, change: Partial<Worker>): Step => ({
    name: `${at} ${name}`,
    to: { ...world, workers: world.workers.with(at, { ...worker, ...change }) },
  });
  return [
    becomes("is killed", { phase: "dead" }),
    becomes(worker.isSuspended ? "goes on" : "is suspended", { isSuspended: !worker.isSuspended }),
  ];
}

function timeOf(world: World, { hasLeases, has }: Rules): readonly Step[] {
  const { lock, entry, requests, workers } = world;
  const holder = lock.by === null ? null : workers[lock.by];
  const isSilent = holder !== null && (holder?.phase === "dead" || holder?.isSuspended === true);
  const ends = isSilent ? [{ name: "the lock ends", to: { ...world, lock: { ...lock, hasEnded: true } } }] : [];
  // A request never outlives the deadline of its entry: the client ends it then.
  const late =
    entry === null || entry.isLate
      ? []
      : [
          {
            name: "the deadline passes",
            to: { ...world, entry: { ...entry, isLate: true }, requests: requests.filter(({ by }) => by !== entry.by) },
          },
        ];
  const arrivals = requests.map((request, nth): Step => {
    const isStale =
      hasLeases && has("the control plane refuses an older fencing token") && request.token < world.newestToken;
    const effects = world.effects + (isStale ? 0 : 1);
    return {
      name: `the request of ${request.by} arrives`,
      to: { ...world, effects, requests: requests.toSpliced(nth, 1) },
    };
  });
  return [...ends, ...late, ...arrivals];
}
