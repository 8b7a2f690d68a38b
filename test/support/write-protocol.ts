import type { LeaseRow } from "../../src/server/resources/lease/rows.ts";
import type { Intent } from "../../src/state/ledger.ts";
import type { Model, Step } from "./model-checker.ts";

/** The safeguards of the protocol; each can be taken out. */
export type Safeguards = {
  /**
   * What excludes a second writer: leases of the control plane, where each writer has a state of its own; or, on a control
   * plane with only the documented operations, the lock of the one state that both have.
   */
  readonly exclusion: "lease" | "state lock";
  /** What the number of a write is compared with: the last one that was issued, the newest that was seen, or nothing. */
  readonly fence: "issued" | "seen" | "none";
  /** Whether live is read after the lease was taken, and not before. */
  readonly readsUnderLease: boolean;
  /** Whether an intent is durable before its request is sent. */
  readonly journals: boolean;
  /** Whether live is read before a write of unknown outcome is repeated. */
  readonly readsBack: boolean;
  /** Whether a write is repeated only when its first request can no longer arrive. */
  readonly waits: boolean;
  /** Whether a repeat has the key of the first request, and the control plane makes one write for a key. */
  readonly keys: boolean;
};

/** The protocol as it is, on a control plane with all operations. */
export const withLeases: Safeguards = {
  exclusion: "lease",
  fence: "issued",
  readsUnderLease: true,
  journals: true,
  readsBack: true,
  waits: true,
  keys: true,
};

/** The protocol as it is, on a control plane with only the documented operations. */
export const withStateLock: Safeguards = { ...withLeases, exclusion: "state lock", fence: "none", keys: false };

/** How much goes wrong, at most; `expiries` counts the leases that end while their holders are at work. */
export type Faults = { readonly crashes: number; readonly losses: number; readonly expiries: number };

const writers = ["A", "B"] as const;
type WriterName = (typeof writers)[number];

/** What a writer has in its journal: the version that it saw, and the key of its request. */
type OpenIntent = Pick<Intent, "versionBefore" | "key">;

type Phase = "idle" | "seen" | "leased" | "decided" | "ready" | "sent" | "unclear" | "done";

/** One process; of what it knows, only `journal` survives a crash. */
type Writer = {
  readonly phase: Phase;
  /** The fencing number of its lease; 0 without one. */
  readonly number: number;
  /** The version that live had when it was read. */
  readonly saw: number;
  /** How many requests with keys of their own it has made. */
  readonly keys: number;
  /** What it knows of its request; lost in a crash. */
  readonly sent: OpenIntent | null;
  readonly journal: OpenIntent | null;
};

/** A request or a reply on its way; it may arrive at any time, or never. */
type Packet =
  | { readonly is: "write"; readonly from: WriterName; readonly key: string; readonly number: number }
  | { readonly is: "reply"; readonly to: WriterName; readonly key: string; readonly made: boolean };

/** Both writers, the network and the control plane. */
export type World = {
  readonly writers: { readonly [name in WriterName]: Writer };
  readonly packets: readonly Packet[];
  /** How often the declared content was written, each time as a version of its own. */
  readonly versions: number;
  /** The lease, or the lock of the state; another writer can take one that has ended. */
  readonly lease: Pick<LeaseRow, "holder" | "number"> & { readonly hasEnded: boolean };
  readonly issued: number;
  readonly seen: number;
  /** The keys whose writes were made. */
  readonly made: readonly string[];
  readonly left: Faults;
};

const idle: Writer = { phase: "idle", number: 0, saw: -1, keys: 0, sent: null, journal: null };

/** Where the code has each action of the model. */
export const actionsInCode: { readonly [action: string]: { readonly file: string; readonly name: string } } = {
  "takes the lock of the state": { file: "src/state/state.ts", name: "StateLock" },
  "takes the lease": { file: "src/engine/lease/lease.ts", name: "acquireLease" },
  "the lease expires": { file: "src/server/resources/lease/resource.ts", name: "endOthers" },
  "the lock is free": { file: "src/state/state.ts", name: "StateLock" },
  "reads live": { file: "src/engine/observe/read-live.ts", name: "readLive" },
  "stores its intent": { file: "src/engine/apply/write.ts", name: "journal" },
  sends: { file: "src/engine/apply/send-intent.ts", name: "sendIntent" },
  "the write arrives": { file: "src/server/resources/lease/rows.ts", name: "checkFencingToken" },
  "the reply arrives": { file: "src/engine/apply/resolve-ambiguous.ts", name: "settleWrite" },
  "gives up waiting": { file: "src/engine/apply/resolve-ambiguous.ts", name: "ambiguousWrite" },
  "reads back": { file: "src/engine/apply/resolve-ambiguous.ts", name: "resolveAmbiguous" },
  "its request can no longer arrive": { file: "src/engine/apply/resolve-ambiguous.ts", name: "waitUntilDeadline" },
  repeats: { file: "src/engine/apply/write.ts", name: "repeatOf" },
  "recovers its journal": { file: "src/engine/apply/recover.ts", name: "recover" },
};

/**
 * Two writers that want the same content in one resource of a control plane, where each write that is made is a version of
 * its own. Time is left out: whatever may be late may be arbitrarily late, but for a request after its deadline.
 */
export function writeProtocol(safeguards: Safeguards, left: Faults): Model<World> {
  const initial: World = {
    writers: { A: idle, B: idle },
    packets: [],
    versions: 0,
    lease: { holder: "", number: 0, hasEnded: false },
    issued: 0,
    seen: 0,
    made: [],
    left,
  };
  return {
    initial,
    identity,
    steps: (world) => [
      ...writers.flatMap((name) => stepsOfWriter(world, name, safeguards)),
      ...world.packets.flatMap((packet, at) => stepsOfPacket(world, packet, at, safeguards)),
      ...expiry(world, safeguards),
    ],
    violation: ({ versions, writers: { A, B } }) => {
      if (versions > 1) return `the same content was written ${versions} times`;
      const isSaid = A.phase === "done" || B.phase === "done";
      return isSaid && versions === 0 ? "a write was reported that was not made" : null;
    },
    unfinished: ({ versions, writers: { A, B } }) => {
      if (versions === 0) return "the content was never written";
      return A.phase === "done" && B.phase === "done" ? null : "a writer does not learn that live is as declared";
    },
  };
}

type Change = Partial<Omit<World, "writers">> & { readonly writer?: Partial<Writer> };

// Numbers matter by their order alone, and keys by where they are; a key that is nowhere cannot come again.
function identity(world: World): string {
  const { writers: all, packets, made, issued, seen, lease, ...rest } = world;
  const intents = writers.flatMap((name) => [all[name].sent, all[name].journal]);
  const numbers = [issued, seen, lease.number, ...writers.map((name) => all[name].number)];
  const sentNumbers = packets.map((packet) => (packet.is === "write" ? packet.number : 0));
  const order = [...new Set([0, ...numbers, ...sentNumbers])].toSorted((one, other) => one - other);
  const keys = [...new Set([...intents.map((intent) => intent?.key), ...packets.map(({ key }) => key)])];
  const rank = (number: number): number => order.indexOf(number);
  const place = (key: string | null | undefined): number => keys.indexOf(key ?? undefined);
  const intentText = (intent: OpenIntent | null) => intent && [intent.versionBefore, place(intent.key)];
  return JSON.stringify([
    writers.map((name) => {
      const { phase, number, saw, sent, journal } = all[name];
      return [phase, rank(number), saw, intentText(sent), intentText(journal)];
    }),
    packets
      .map((packet) =>
        JSON.stringify({
          ...packet,
          key: place(packet.key),
          ...(packet.is === "write" && { number: rank(packet.number) }),
        }),
      )
      .toSorted(),
    made
      .map(place)
      .filter((at) => at >= 0)
      .toSorted(),
    [rank(issued), rank(seen), rank(lease.number), lease.holder, lease.hasEnded, rest],
  ]);
}

type StepOf = (action: string, change: Change) => Step<World>;

function changed(world: World, name: WriterName, { writer, ...rest }: Change): World {
  const all = { ...world, ...rest };
  return writer === undefined
    ? all
    : { ...all, writers: { ...all.writers, [name]: { ...all.writers[name], ...writer } } };
}

function stepsOfWriter(world: World, name: WriterName, safeguards: Safeguards): readonly Step<World>[] {
  const writer = world.writers[name];
  const step = (action: string, change: Change): Step<World> => ({
    name: `${name} ${action}`,
    next: changed(world, name, change),
  });
  return [...ownSteps(world, name, writer, safeguards, step), ...crash(world, name, writer, safeguards, step)];
}

function ownSteps(
  world: World,
  name: WriterName,
  writer: Writer,
  safeguards: Safeguards,
  step: StepOf,
): readonly Step<World>[] {
  const { versions, packets } = world;
  const reads = (isDecided: Phase) => [
    step("reads live", { writer: { phase: versions > 0 ? "done" : isDecided, saw: versions } }),
  ];
  switch (writer.phase) {
    case "idle":
      return safeguards.readsUnderLease ? takes(world, name, "leased", safeguards) : reads("seen");
    case "seen":
      return takes(world, name, "decided", safeguards);
    case "leased":
      return writer.journal === null ? reads("decided") : [recovers(writer.journal, world, step)];
    case "decided": {
      const intent = { versionBefore: writer.saw, key: `${name}${writer.keys + 1}` };
      const kept = safeguards.journals ? { journal: intent } : {};
      return [step("stores its intent", { writer: { phase: "ready", sent: intent, keys: writer.keys + 1, ...kept } })];
    }
    case "ready":
      if (!hasRoom(world, name)) return [];
      return [step("sends", { writer: { phase: "sent" }, packets: withWrite(world, name, writer) })];
    case "sent":
      // It closes its connection, on which a reply would arrive.
      return [step("gives up waiting", { writer: { phase: "unclear" }, packets: withoutReplies(world, name) })];
    case "unclear": {
      if (!safeguards.readsBack) return repeats(world, name, writer, safeguards, step);
      if (versions > (writer.sent?.versionBefore ?? 0))
        return [step("reads back", { writer: { phase: "done", journal: null, sent: null } })];
      const isOpen = packets.some((packet) => packet.is === "write" && packet.key === writer.sent?.key);
      if (isOpen && safeguards.waits) {
        const rest = packets.filter((packet) => packet.is === "reply" || packet.key !== writer.sent?.key);
        return [step("its request can no longer arrive", { packets: rest })];
      }
      return repeats(world, name, writer, safeguards, step);
    }
    case "done":
      return [];
  }
}

function takes(world: World, name: WriterName, phase: Phase, { exclusion }: Safeguards): readonly Step<World>[] {
  const { lease, issued } = world;
  if (lease.holder !== "" && lease.holder !== name && !lease.hasEnded) return [];
  const taken = { holder: name, number: issued + 1, hasEnded: false };
  const base = { lease: taken, issued: issued + 1 };
  if (exclusion === "lease") {
    // A process that was killed does not get its number back: its former lease is ended first.
    const next = changed(world, name, { ...base, writer: { phase, number: taken.number } });
    return [{ name: `${name} takes the lease`, next }];
  }
  // The journal is in the state, whoever has written it.
  const other = name === "A" ? "B" : "A";
  const journal = world.writers[name].journal ?? world.writers[other].journal;
  const emptied = changed(world, other, { writer: { journal: null } });
  const open = journal === null ? { phase } : { phase: "unclear" as const, sent: journal };
  const next = changed(emptied, name, { ...base, writer: { ...open, journal } });
  return [{ name: `${name} takes the lock of the state`, next }];
}

// The request has an older number than the lease that was taken since, so live is final.
function recovers(journal: OpenIntent, { versions }: World, step: StepOf): Step<World> {
  const isMade = versions > (journal.versionBefore ?? 0);
  return step("recovers its journal", {
    writer: { journal: null, sent: null, ...(isMade ? { phase: "done" } : {}) },
  });
}

// It ends with its lease: with the number of a lease that was lost, a repeat would be refused.
function repeats(
  world: World,
  name: WriterName,
  writer: Writer,
  { keys }: Safeguards,
  step: StepOf,
): readonly Step<World>[] {
  if (!hasRoom(world, name)) return [];
  const key = keys ? writer.sent?.key : `${name}${writer.keys + 1}`;
  const intent = { versionBefore: writer.sent?.versionBefore ?? 0, key: key ?? "" };
  const again = { ...writer, sent: intent, keys: keys ? writer.keys : writer.keys + 1 };
  const journal = writer.journal === null ? null : intent;
  return [step("repeats", { writer: { ...again, journal, phase: "sent" }, packets: withWrite(world, name, again) })];
}

// More of them on their way show nothing new, and would be without an end.
const MOST_ON_THEIR_WAY = 2;

function hasRoom({ packets }: World, name: WriterName): boolean {
  return packets.filter((packet) => packet.is === "write" && packet.from === name).length < MOST_ON_THEIR_WAY;
}

function withWrite({ packets }: World, from: WriterName, { sent, number }: Writer): readonly Packet[] {
  return sorted([...packets, { is: "write", from, key: sent?.key ?? "", number }]);
}

// The order of packets on their way means nothing: any may be next.
function sorted(packets: readonly Packet[]): readonly Packet[] {
  return packets.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}

function withoutReplies({ packets }: World, name: WriterName): readonly Packet[] {
  return packets.filter((packet) => packet.is === "write" || packet.to !== name);
}

function crash(
  world: World,
  name: WriterName,
  { phase, journal, keys }: Writer,
  { exclusion }: Safeguards,
  step: StepOf,
): readonly Step<World>[] {
  const { left, lease } = world;
  if (left.crashes === 0 || phase === "idle" || phase === "done") return [];
  const ends = exclusion === "state lock" && lease.holder === name ? { lease: { ...lease, hasEnded: true } } : {};
  const crashes = left.crashes - 1;
  const killed = { writer: { ...idle, keys, journal }, packets: withoutReplies(world, name) };
  return [step("is killed", { ...killed, ...ends, left: { ...left, crashes } })];
}

function stepsOfPacket(world: World, packet: Packet, at: number, safeguards: Safeguards): readonly Step<World>[] {
  const others = world.packets.toSpliced(at, 1);
  const lost: readonly Step<World>[] =
    world.left.losses === 0
      ? []
      : [
          {
            name: packet.is === "write" ? `the write of ${packet.from} is lost` : `the reply to ${packet.to} is lost`,
            next: { ...world, packets: others, left: { ...world.left, losses: world.left.losses - 1 } },
          },
        ];
  return [
    packet.is === "write" ? writeArrives(world, packet, others, safeguards) : replyArrives(world, packet, others),
    ...lost,
  ];
}

function writeArrives(
  world: World,
  { from, key, number }: Extract<Packet, { readonly is: "write" }>,
  others: readonly Packet[],
  { fence, keys }: Safeguards,
): Step<World> {
  const { issued, seen, made, versions } = world;
  const isRepeat = keys && made.includes(key);
  const isStale = fence === "issued" ? number < issued : fence === "seen" && number < seen;
  const isMade = isRepeat || !isStale;
  const { phase, sent } = world.writers[from];
  const isAwaited = phase === "sent" && sent?.key === key;
  const reply: readonly Packet[] = isAwaited ? [{ is: "reply", to: from, key, made: isMade }] : [];
  const next = {
    ...world,
    packets: sorted([...others, ...reply]),
    ...(isMade && !isRepeat ? { versions: versions + 1, made: [...made, key].toSorted() } : {}),
    seen: isMade ? Math.max(seen, number) : seen,
  };
  return { name: `the write of ${from} arrives`, next };
}

function replyArrives(
  world: World,
  { to, key, made }: Extract<Packet, { readonly is: "reply" }>,
  others: readonly Packet[],
): Step<World> {
  const rest = { ...world, packets: others };
  const end: Phase = made ? "done" : "idle";
  const writer = { phase: end, journal: null, sent: null, ...(made ? {} : { number: 0 }) };
  // That of an earlier try of the same request says no less.
  const isAwaited = world.writers[to].sent?.key === key;
  return { name: `the reply to ${to} arrives`, next: isAwaited ? changed(rest, to, { writer }) : rest };
}

function expiry(world: World, { exclusion }: Safeguards): readonly Step<World>[] {
  const { lease, left, writers: all } = world;
  if (lease.holder === "" || lease.hasEnded) return [];
  const { phase, number } = all[lease.holder === "A" ? "A" : "B"];
  const ended = { ...world, lease: { ...lease, hasEnded: true } };
  // Nobody renews it any more; a lock ends with its process.
  const isLeft = phase === "done" || (exclusion === "lease" && number !== lease.number);
  if (isLeft) return [{ name: exclusion === "lease" ? "the lease expires" : "the lock is free", next: ended }];
  if (exclusion === "state lock" || left.expiries === 0) return [];
  return [{ name: "the lease expires", next: { ...ended, left: { ...left, expiries: left.expiries - 1 } } }];
}
