import { join } from "node:path";
import { readOwnFile } from "../files/read-own-file.ts";
import { replaceFile } from "../files/write-file.ts";

/** A person's decision that a resource is not written, or a commit not applied, until a given time. */
export type Hold = {
  /** The identity of a resource, or a prefix of a commit id. */
  readonly what: string;
  readonly reason: string;
  /** ISO time at which the hold ends. */
  readonly until: string;
};

/** The decisions that people made about a target outside its manifests. */
export type TargetDecisions = {
  readonly holds: readonly Hold[];
  /** Commits that may be applied although they no longer declare many of the recorded resources. */
  readonly released: readonly string[];
};

const NOTHING: TargetDecisions = { holds: [], released: [] };
const MAX_BYTES = 1024 * 1024;
const MAX_RELEASED = 100;

/** The decisions about a target that are in force now. */
export function readDecisions(folder: string, now: number): TargetDecisions {
  const text = readOwnFile(fileIn(folder), { limit: MAX_BYTES })?.toString("utf8");
  if (text === undefined) return NOTHING;
  const { holds, released } = JSON.parse(text) as TargetDecisions;
  return { holds: holds.filter(({ until }) => Date.parse(until) > now), released };
}

/** Adds a hold; it replaces an earlier hold on the same resource or commit. */
export function addHold(folder: string, hold: Hold, now: number): void {
  const { holds, released } = readDecisions(folder, now);
  const others = holds.filter(({ what }) => what !== hold.what);
  keep(folder, { holds: [...others, hold], released: released.filter((commit) => !isCommitOf(hold, commit)) });
}

/** Ends a hold; a commit may then be applied however many resources it no longer declares. Returns whether a hold existed. */
export function release(folder: string, what: string, now: number): boolean {
  const { holds, released } = readDecisions(folder, now);
  const others = holds.filter((hold) => hold.what !== what && !isCommitOf(hold, what));
  const isCommit = isCommitPrefix(what);
  keep(folder, { holds: others, released: isCommit ? [...released, what].slice(-MAX_RELEASED) : released });
  return others.length < holds.length;
}

/** The hold on a commit; null if there is none. */
export function holdOn({ holds }: TargetDecisions, commit: string): Hold | null {
  return holds.find((hold) => isCommitOf(hold, commit)) ?? null;
}

/** Whether a commit was released by its id or a prefix of it. */
export function isReleased({ released }: TargetDecisions, commit: string): boolean {
  return released.some((name) => commit.startsWith(name));
}

/** Whether a text can be a prefix of a commit id. */
export function isCommitPrefix(text: string): boolean {
  return /^[0-9a-f]{7,64}$/.test(text);
}

/** A hold as one line of text. */
export function holdText({ what, reason, until }: Hold): string {
  return `${what} until ${until}: ${reason}`;
}

function isCommitOf({ what }: Hold, commit: string): boolean {
  return isCommitPrefix(what) && commit.startsWith(what);
}

function keep(folder: string, decisions: TargetDecisions): void {
  replaceFile(fileIn(folder), `${JSON.stringify(decisions)}\n`, { durable: true });
}

const fileIn = (folder: string) => join(folder, "holds.json");
