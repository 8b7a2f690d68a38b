import { batch, signal } from "@preact/signals";
import type {
  ActionReply,
  FleetReply,
  FleetTarget,
  PassProgress,
  PassRecord,
  ResourcesReply,
  StreamOutcome,
  TargetReply,
} from "../contract/generated/output.ts";
import type { StreamEvent } from "../contract/stream-event.ts";
import { address, pathOf } from "./address.ts";
import { after, setDaemonTime } from "./browser-clock.ts";

/** All targets; null until they were read. */
export const fleet = signal<FleetReply | null>(null);

/** The target of the screen; null until it was read. */
export const shownTarget = signal<TargetReply | null>(null);

/** The passes in progress, by target. */
export const passes = signal<ReadonlyMap<string, PassProgress>>(new Map());

/** What became of resources of the shown target since its resources were read. */
export const outcomes = signal<ReadonlyMap<string, StreamOutcome>>(new Map());

/** Grows when the resources of the shown target must be read again. */
export const resourcesVersion = signal(0);

let readVersion = 0;

/** Forgets what became of resources before they were read anew; another filter over what was read says nothing newer. */
export function forgetOutcomesBefore(version: number): void {
  if (version === readVersion) return;
  readVersion = version;
  outcomes.value = new Map();
}

/** Whether the page follows the daemon. */
export const connection = signal<"connecting" | "live" | "lost">("connecting");

/** Why the daemon has refused the last reading; null if it has not. */
export const refusal = signal<string | null>(null);

class RefusedError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Reads a reply of the interface, by its path below it. */
export async function readReply<Reply>(path: string, signal?: AbortSignal): Promise<Reply> {
  const reply = await fetch(`/api/v1${path}`, { headers: { accept: "application/json" }, ...(signal && { signal }) });
  // One that breaks off fails.
  if (reply.ok) return await reply.json();
  throw await refusalOf(reply);
}

/** An action that a person asks for. */
type SentAction = {
  readonly target: string;
  readonly name: string;
  readonly key: string;
  readonly pageToken: string;
};

/** How often an action is asked about again after a connection was lost. */
const MOST_LOST = 5;

/** Asks for an action, again with the same key until it has ended; fails with why it is refused. */
export async function sendAction(action: SentAction, body: object): Promise<EndedReply> {
  for (let lost = 0; ; ) {
    try {
      const { record, isRepeated } = await askForAction(action, body);
      if (record !== null) return { record, isRepeated };
      lost = 0;
    } catch (error) {
      lost += 1;
      if (isRefused(error) || lost > MOST_LOST) throw error;
      await elapsed(AGAIN_MS);
    }
  }
}

/** Whether the daemon has refused something, rather than that it was not reached, or may be reached soon. */
export function isRefused(error: unknown): boolean {
  return error instanceof RefusedError && !AWAY.includes(error.status);
}

// What proxies answer, or the daemon while its state cannot be read.
const AWAY: readonly number[] = [502, 503, 504];

/** What became of an action that has ended. */
type EndedReply = { readonly record: PassRecord; readonly isRepeated: boolean };

function elapsed(milliseconds: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  after(milliseconds, resolve);
  return promise;
}

async function askForAction({ target, name, key, pageToken }: SentAction, body: object): Promise<ActionReply> {
  const headers = {
    accept: "application/json",
    "content-type": "application/json",
    "idempotency-key": key,
    "x-holdfast-page": pageToken,
  };
  const path = `/api/v1${pathOf(target)}/${name}`;
  const reply = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  if (reply.ok) return reply.json();
  throw await refusalOf(reply);
}

let isSigningOut = false;

/** Ends the session of who has signed in. */
export async function signOut(): Promise<void> {
  isSigningOut = true;
  await fetch("/auth/logout", { method: "POST" });
  location.assign("/auth/signed-out");
}

async function refusalOf(reply: Response): Promise<RefusedError> {
  const signIn = reply.headers.get("x-holdfast-sign-in");
  // The session has ended: the issuer may begin another one at once.
  if (signIn !== null && !isSigningOut)
    location.assign(`${signIn}?to=${encodeURIComponent(location.pathname + location.search)}`);
  const body: { readonly message?: string } | null = await reply.json().catch(() => null);
  return new RefusedError(reply.status, body?.message ?? `the daemon answers ${reply.status}`);
}

/** What the table and the graph say of all resources of a target. */
export type ResourceFacts = Pick<ResourcesReply, "total" | "matching" | "needsAttention" | "states" | "kinds">;

/** Reads a part of the resources of a target. */
export function readResources(target: string, query: URLSearchParams, signal: AbortSignal): Promise<ResourcesReply> {
  return readReply(`${pathOf(target)}/resources?${query}`, signal);
}

/** Reads what belongs to a target, such as its passes. */
export function readListOf<Reply>(target: string, list: string, signal: AbortSignal): Promise<Reply> {
  return readReply(`${pathOf(target)}/${list}`, signal);
}

/** Why a reading was refused, in a sentence. */
export function refusalText(error: unknown): string {
  return error instanceof RefusedError ? error.message : "the daemon does not answer";
}

/** Whether a reading was refused since too much is asked for at once, or the state cannot be read now. */
export function isBusy(error: unknown): boolean {
  return error instanceof RefusedError && error.status === 503;
}

/** The statuses that were told while the fleet was read: what was read may be older. */
let toldMeanwhile = new Map<string, FleetTarget>();

async function readFleet(): Promise<void> {
  toldMeanwhile = new Map();
  const reply = await readReply<FleetReply>("/targets");
  batch(() => {
    setDaemonTime(reply.at);
    fleet.value = [...toldMeanwhile.values()].reduce(withTarget, reply);
    passes.value = new Map(reply.targets.flatMap(({ target, pass }) => (pass === null ? [] : [[target, pass]])));
    refusal.value = null;
  });
}

async function readTarget(): Promise<void> {
  const { screen, target } = address.value;
  if (screen !== "target") return;
  const reply = await readReply<TargetReply>(pathOf(target));
  if (address.value.target !== target) return;
  shownTarget.value = reply;
}

/** Reads everything that the screen shows again. */
export async function readEverything(): Promise<void> {
  try {
    await Promise.all([readFleet(), readTarget()]);
    resourcesVersion.value += 1;
  } catch (error) {
    refusal.value = refusalText(error);
    // What it says of one target is another matter than that it says nothing.
    if (error instanceof RefusedError && error.status === 404) shownTarget.value = null;
    else later("everything", 3000, () => void readEverything());
  }
}

const waiting = new Map<string, () => void>();

/** Calls once after that time, however often it is asked for meanwhile. */
function later(what: string, milliseconds: number, call: () => void): void {
  if (waiting.has(what)) return;
  const cancel = after(milliseconds, () => {
    waiting.delete(what);
    call();
  });
  waiting.set(what, cancel);
}

function withTarget(reply: FleetReply, status: FleetTarget): FleetReply {
  const targets = reply.targets.map((one) => (one.target === status.target ? status : one));
  const sync = { Synced: 0, OutOfSync: 0, Unknown: 0 };
  const condition = { Ready: 0, Reconciling: 0, Held: 0, Stalled: 0, Retired: 0 };
  for (const target of targets) {
    condition[target.condition] += 1;
    if (target.condition !== "Retired") sync[target.sync] += 1;
  }
  const oldest = targets
    .flatMap(({ target, oldestUnapplied }) => (oldestUnapplied === null ? [] : [{ target, ...oldestUnapplied }]))
    .toSorted((a, b) => Date.parse(a.since) - Date.parse(b.since));
  return { ...reply, targets, sync, condition, oldestUnapplied: oldest[0] ?? null };
}

function follow(event: StreamEvent): void {
  switch (event.event) {
    case "opened":
      reloadIfOlder(event.build);
      connection.value = "live";
      return;
    case "snapshot-needed":
      later("everything", 50, () => void readEverything());
      return;
    case "configuration":
      if (fleet.value !== null) fleet.value = { ...fleet.value, configurationRefused: event.refused };
      return;
    case "outcome":
      if (event.target === address.value.target) {
        outcomes.value = new Map(outcomes.value).set(event.identity, event);
      }
      return;
    case "status":
      statusChanged(event.status);
      return;
    default: {
      const known = new Map(passes.value);
      if (event.pass === null) known.delete(event.target);
      else known.set(event.target, event.pass);
      passes.value = known;
    }
  }
}

function statusChanged(status: FleetTarget): void {
  toldMeanwhile.set(status.target, status);
  if (fleet.value === null) return;
  fleet.value = withTarget(fleet.value, status);
  if (fleet.value.stages.length > 0) later("fleet", 300, () => void readFleet().catch(() => undefined));
  if (status.target !== address.value.target) return;
  later("target", 50, () => {
    void readTarget().catch(() => undefined);
    resourcesVersion.value += 1;
  });
}

const RELOADED = "holdfast-reloaded-for";

/** Loads the page again if the daemon serves another one, once for each that it serves. */
function reloadIfOlder(build: string): void {
  const own = document.querySelector('meta[name="build"]')?.getAttribute("content");
  if (own === build || sessionStorage.getItem(RELOADED) === build) return;
  sessionStorage.setItem(RELOADED, build);
  location.reload();
}

const EVENTS: readonly StreamEvent["event"][] = [
  "opened",
  "snapshot-needed",
  "configuration",
  "outcome",
  "status",
  "pass-began",
  "progress",
  "pass-ended",
];

const AGAIN_MS = 3000;

/** Follows the daemon until the page is left; a lost stream is opened again. */
export function followDaemon(): void {
  const source = new EventSource("/api/v1/stream");
  // Of a stream that the browser opens again by itself, the daemon tells what was missed.
  source.addEventListener("opened", () => void readEverything(), { once: true });
  for (const name of EVENTS) source.addEventListener(name, (message) => follow(JSON.parse(message.data)));
  source.addEventListener("error", () => {
    connection.value = "lost";
    // The browser opens it again by itself unless the daemon has refused it.
    if (source.readyState !== EventSource.CLOSED) return;
    if (fleet.value === null) void readEverything();
    after(AGAIN_MS, followDaemon);
  });
}
