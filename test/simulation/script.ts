import { type NetworkFault, networkFaults } from "./network.ts";
import { type Draw, drawsOf } from "./scheduler.ts";

/** What happens to the world from outside. */
export type Happening =
  /** A commit with new content for some resources. */
  | { readonly is: "push"; readonly changes: readonly string[] }
  /** A commit that declares a resource no longer, or again. */
  | { readonly is: "toggle"; readonly resource: string }
  /** A force push of the files of an earlier commit. */
  | { readonly is: "revert"; readonly back: number }
  /** A commit in which the file of a resource is no valid manifest. */
  | { readonly is: "break"; readonly resource: string }
  /** A commit that declares hardly anything any more, which the guards refuse. */
  | { readonly is: "empty"; readonly changes: readonly string[] }
  /** A person writes a resource on the control plane. */
  | { readonly is: "edit"; readonly resource: string }
  | { readonly is: "hold"; readonly resource: string }
  | { readonly is: "release"; readonly resource: string }
  | {
      readonly is: "fault";
      readonly on: string;
      readonly fault: NetworkFault;
      readonly skip: number;
      readonly times: number;
      /** Whether only writes meet it. @default false */
      readonly writes?: boolean;
      /** Whether only its requests for a lease meet it. @default false */
      readonly leases?: boolean;
    }
  /** The remote cannot be reached, for so many milliseconds. */
  | { readonly is: "outage"; readonly ms: number }
  /** The disk of a process is full, for so many writes; or the sink of the first daemon, for so many deliveries. */
  | { readonly is: "full"; readonly on: string; readonly times: number }
  /** A process is killed at its nth call of a seam, and starts again after so many milliseconds. */
  | {
      readonly is: "kill";
      readonly on: string;
      readonly nth: number;
      readonly ms: number;
      /** Whether only the calls count that have sent a write. @default false */
      readonly writes?: boolean;
    }
  /** A process is asked to stop, and starts again after so many milliseconds. */
  | { readonly is: "stop"; readonly on: string; readonly ms: number }
  /** The state of a daemon is lost with its process. */
  | { readonly is: "lose"; readonly on: string; readonly ms: number };

/** When something happens, in milliseconds after the beginning of its round. */
export type ScriptEvent = { readonly at: number } & Happening;

/** A world and what happens in it. After each round everything is put right, and the world has to converge. */
export type Script = {
  readonly seed: number;
  /** Whether the control plane has the documented operations alone. */
  readonly documentedOnly: boolean;
  /** How many daemons keep live equal to the repository; where there are two, one stands by. */
  readonly daemons: 1 | 2;
  /** Whether another daemon only reports. */
  readonly reports: boolean;
  /** Whether the daemons do not see everything that is declared, and somebody else manages a part of it. @default false */
  readonly isLimited?: boolean;
  readonly rounds: readonly (readonly ScriptEvent[])[];
};

/** The resources whose content changes. */
export const RESOURCES = [
  "service/dev:web/api",
  "service/dev:web/shop",
  "service/dev:web/mail",
  "service/dev:web/cart",
  "service/dev:web/feed",
  "chat_prompt/registry/greeting",
  "chat_prompt/registry/goodbye",
  "chat_prompt/registry/summary",
  "team/ml",
] as const;

/** Those that can be read on a control plane with only the documented operations. */
const READABLE = RESOURCES.filter((identity) => !identity.startsWith("team/"));

/** How long a round lasts for each event in it, on average. */
const EVENT_MS = 700;

/** How soon after a commit what meets its writes happens. */
const WITH_COMMIT_MS = 400;

/** When a newer commit follows one whose writes are cut off, at the earliest and at the latest. */
const NEWER_MS = [300, 2200] as const;

/** How long after the other events of a round a takeover begins, in milliseconds. */
const SETTLE_MS = 3000;

const LATE: readonly NetworkFault[] = ["late request"];

/** What the requests for a lease meet: as long as one needs, a daemon does not get or renew it. */
const OF_LEASES: readonly NetworkFault[] = ["too many requests", "refused connection", "lost request", "server error"];
const ROUNDS = 6;

/** Writes a script: the same one for the same seed. */
export function scriptOf(seed: number): Script {
  const draw = drawsOf(seed, "script");
  const documentedOnly = draw() < 0.3;
  const daemons = !documentedOnly && draw() < 0.5 ? 2 : 1;
  const reports = draw() < 0.2;
  // A token that may do little takes no lease, and nothing is promised of two daemons without.
  const isLimited = !documentedOnly && draw() < 0.2 && daemons === 1;
  const world = { documentedOnly, daemons, reports, isLimited } as const;
  const rounds = Array.from({ length: ROUNDS }, (_, nth) => roundOf(draw, world, nth === 0));
  return { seed, ...world, rounds };
}

type Drawn = Omit<Script, "seed" | "rounds">;

function roundOf(draw: Draw, world: Drawn, isFirst: boolean): readonly ScriptEvent[] {
  const count = 7 + Math.floor(draw() ** 2 * 105);
  const roundMs = 4000 + count * EVENT_MS * (0.5 + draw());
  const events = Array.from({ length: count }, (): readonly ScriptEvent[] => {
    const event = { at: Math.floor(draw() * roundMs), ...happening(draw, world, isFirst) };
    if (event.is !== "push" || draw() < 0.4) return [event];
    // What goes wrong with the writes of a commit is rare where it comes by itself.
    if (draw() < 0.3) return [event, ...cutOff(draw, world, event)];
    if (!world.documentedOnly && draw() < 0.15) return [event, ...refused(draw, world, event)];
    const troubles = Array.from({ length: 1 + Math.floor(draw() * 3) }, (): ScriptEvent => {
      return { at: event.at + Math.floor(draw() * WITH_COMMIT_MS), ...trouble(draw, world, event.changes) };
    });
    return [event, ...troubles];
  });
  const last = world.daemons === 2 && draw() < 0.4 ? takeOver(draw, roundMs + SETTLE_MS) : [];
  // The account is made in the first round.
  const sink: readonly ScriptEvent[] =
    isFirst && draw() < 0.4 ? [{ at: 0, is: "full", on: "sink", times: 1 + Math.floor(draw() * 3) }] : [];
  return [...sink, ...events.flat(), ...last].toSorted((one, other) => one.at - other.at);
}

/**
 * A newer commit for the same resources, while what was sent for the first one may still arrive or is still being deployed:
 * a write of the first one is cut off, or one of the newer one arrives twice.
 */
function cutOff(
  draw: Draw,
  world: Drawn,
  { at, changes }: Extract<ScriptEvent, { is: "push" }>,
): readonly ScriptEvent[] {
  const nth = 1 + Math.floor(draw() * changes.length);
  const [ms, isKilled] = [Math.floor(20 + draw() * 400), draw() < 0.5];
  const fault = pick(draw, world.documentedOnly ? LATE : [...LATE, "duplicated request" as const]);
  const newer = {
    at: at + Math.floor(NEWER_MS[0] + draw() * (NEWER_MS[1] - NEWER_MS[0])),
    is: "push",
    changes,
  } as const;
  const isTwice = !world.documentedOnly && draw() < 0.3;
  const cut = healingOf(world).map((on): ScriptEvent => {
    const met = { on, skip: nth - 1, times: 1, writes: true } as const;
    if (isTwice) return { ...met, at: newer.at, is: "fault", fault: "duplicated request" };
    return isKilled ? { at, is: "kill", on, nth, ms, writes: true } : { ...met, at, is: "fault", fault };
  });
  return [...cut, newer];
}

/** A person writes what a commit changes too: its writes arrive twice, and are refused while that is being deployed. */
function refused(
  draw: Draw,
  world: Drawn,
  { at, changes }: Extract<ScriptEvent, { is: "push" }>,
): readonly ScriptEvent[] {
  const edits = changes.map((resource): ScriptEvent => {
    return { at: at + Math.floor(draw() * WITH_COMMIT_MS), is: "edit", resource };
  });
  const met = { at, is: "fault", fault: "duplicated request", skip: 0, times: changes.length, writes: true } as const;
  return [...edits, ...healingOf(world).map((on) => ({ ...met, on }))];
}

/** Each of two daemons applies a commit, and the first one starts anew and takes over while the remote is away. */
function takeOver(draw: Draw, at: number): readonly ScriptEvent[] {
  const changes = [pick(draw, RESOURCES)];
  const [first, second] = draw() < 0.5 ? ["daemon-1", "daemon-2"] : ["daemon-2", "daemon-1"];
  return [
    { at, is: "push", changes },
    { at: at + 2000, is: "stop", on: first, ms: 300 },
    { at: at + 4000, is: "push", changes },
    { at: at + 9000, is: "outage", ms: 8000 },
    { at: at + 9100, is: "stop", on: second, ms: 5000 },
    { at: at + 9100, is: "kill", on: first, nth: 1, ms: 600 },
    { at: at + 18_000, is: "push", changes },
  ];
}

/** What goes wrong with the writes of a commit, or makes them obsolete. */
function trouble(draw: Draw, world: Drawn, changes: readonly string[]): Happening {
  const on = pick(draw, healingOf(world));
  const chance = draw();
  if (world.daemons === 2 && draw() < 0.2) {
    const times = 3 + Math.floor(draw() * 25);
    return { is: "fault", on, fault: pick(draw, OF_LEASES), skip: 0, times, leases: true };
  }
  if (chance < 0.2) return { is: "push", changes };
  if (chance < 0.55) {
    const ms = Math.floor(20 + draw() * (draw() < 0.7 ? 500 : 9000));
    return { is: "kill", on, nth: 1 + Math.floor(draw() * 3), ms, writes: true };
  }
  const skip = Math.floor(draw() * changes.length);
  return { is: "fault", on, fault: pick(draw, faultsOf(world)), skip, times: 1, writes: true };
}

function healingOf({ daemons }: Drawn): readonly string[] {
  return Array.from({ length: daemons }, (_, nth) => `daemon-${nth + 1}`);
}

// No promise is made for a request that arrives twice where keys are not known.
function faultsOf({ documentedOnly }: Drawn): readonly NetworkFault[] {
  const more: readonly NetworkFault[] = ["late request", "lost reply", "duplicated request", "duplicated request"];
  return [...networkFaults, ...more].filter((fault) => !documentedOnly || fault !== "duplicated request");
}

function millisecondsOf(draw: Draw): number {
  return Math.floor(draw() < 0.7 ? 20 + draw() * 1000 : 300 + draw() * 6000);
}

function happening(draw: Draw, world: Drawn, isFirst: boolean): Happening {
  const { documentedOnly, daemons, reports, isLimited = false } = world;
  const healing = healingOf(world);
  const clients = reports ? [...healing, "reporter"] : healing;
  const resource = (): string => pick(draw, RESOURCES);
  const some = (): readonly string[] => [...new Set(Array.from({ length: 1 + Math.floor(draw() * 5) }, resource))];
  const count = (most: number): number => 1 + Math.floor(draw() * most);
  const ms = (): number => millisecondsOf(draw);
  const choices: readonly (readonly [weight: number, make: () => Happening])[] = [
    [30, () => ({ is: "push", changes: some() })],
    [9, () => ({ is: "toggle", resource: resource() })],
    [9, () => ({ is: "revert", back: 1 + Math.floor(draw() * 3) })],
    [9, () => ({ is: "break", resource: resource() })],
    [isFirst || daemons === 2 ? 0 : 20, () => ({ is: "empty", changes: some() })],
    [9, () => ({ is: "edit", resource: pick(draw, documentedOnly ? READABLE : RESOURCES) })],
    [daemons === 1 ? 15 : 0, () => ({ is: "hold", resource: resource() })],
    [daemons === 1 ? 20 : 0, () => ({ is: "release", resource: resource() })],
    [
      100,
      () => {
        const writes = draw() < 0.6;
        const skip = Math.floor(draw() * (writes ? 3 : 12));
        const on = pick(draw, writes ? healing : clients);
        return { is: "fault", on, fault: pick(draw, faultsOf(world)), skip, times: count(3), writes };
      },
    ],
    [9, () => ({ is: "outage", ms: ms() })],
    [12, () => ({ is: "full", on: pick(draw, [...clients, "server"]), times: 1 + Math.floor(draw() * 3) })],
    [
      20,
      () => {
        const writes = draw() < 0.5;
        return {
          is: "kill",
          on: pick(draw, writes ? healing : clients),
          nth: count(writes ? 4 : 60),
          ms: ms(),
          writes,
        };
      },
    ],
    [8, () => ({ is: "kill", on: "server", nth: 1 + Math.floor(draw() * 40), ms: Math.floor(ms() / 4) })],
    [9, () => ({ is: "stop", on: pick(draw, clients), ms: ms() })],
    // Only the records tell what somebody else manages.
    [documentedOnly || isLimited ? 0 : 14, () => ({ is: "lose", on: pick(draw, healing), ms: ms() })],
  ];
  const total = choices.reduce((sum, [weight]) => sum + weight, 0);
  let left = draw() * total;
  for (const [weight, make] of choices) {
    left -= weight;
    if (left < 0) return make();
  }
  throw new TypeError("the weights do not add up");
}

function pick<Item>(draw: Draw, items: readonly Item[]): Item {
  const item = items[Math.floor(draw() * items.length)];
  if (item === undefined) throw new TypeError("there is nothing to pick from");
  return item;
}

/** Says what happens, in words. */
export function inWords(event: Happening): string {
  switch (event.is) {
    case "push":
      return `a commit changes ${event.changes.join(", ")}`;
    case "toggle":
      return `a commit adds or removes ${event.resource}`;
    case "revert":
      return `a force push goes back ${event.back} commits`;
    case "break":
      return `a commit makes ${event.resource} invalid`;
    case "empty":
      return `a commit removes nearly everything, and changes ${event.changes.join(", ")}`;
    case "edit":
      return `a person writes ${event.resource} on the control plane`;
    case "hold":
      return `a person holds ${event.resource}`;
    case "release":
      return `a person releases ${event.resource}`;
    case "fault":
      return `${event.on} meets ${event.times} × ${event.fault}, after ${event.skip} ${event.leases === true ? "requests for its lease" : event.writes === true ? "writes" : "requests"}`;
    case "outage":
      return `the git remote is away for ${event.ms} ms`;
    case "full":
      return event.on === "sink"
        ? `the sink is full for ${event.times} deliveries`
        : `the disk of ${event.on} is full for ${event.times} writes`;
    case "kill":
      return `${event.on} is killed ${event.writes === true ? `when it has sent write ${event.nth}` : `at its call ${event.nth} of a seam`}, and starts again ${event.ms} ms later`;
    case "stop":
      return `${event.on} is stopped, and starts again ${event.ms} ms later`;
    case "lose":
      return `${event.on} is killed, its state is lost, and it starts again ${event.ms} ms later`;
  }
}
