import { join } from "node:path";
import type { Identity } from "../core/manifest.ts";
import type { HeldContents } from "../engine/target.ts";
import { readOwnFile } from "../files/read-own-file.ts";
import { replaceFile } from "../files/write-file.ts";

/** The end of a hold that lasts until a commit changes the manifest of the resource. */
export const UNTIL_COMMIT = "commit";

/** A person's decision that a resource is not written, or a commit not applied, until it ends. */
export type Hold = {
  /** The identity of a resource, or a prefix of a commit id. */
  readonly what: string;
  readonly reason: string;
  /** ISO time at which the hold ends, or `commit`. */
  readonly until: string;
  /** The digest of the resource's manifest when it was held, null if it had none; absent until it is known. */
  readonly content?: string | null;
  /** The newest commit that changes the resource, and its digest there; absent while none does. */
  readonly waiting?: { readonly commit: string | null; readonly content: string | null };
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
  return { holds: holds.filter(({ until }) => until === UNTIL_COMMIT || Date.parse(until) > now), released };
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

/**
 * The holds on resources that are in force for a revision, whose contents are null when it is not the newest one. A hold
 * until a commit ends if its resource has changed; any other hold then keeps that commit waiting.
 */
export function resourceHolds(folder: string, found: HeldContents | null, now: number): ReadonlyMap<Identity, string> {
  const { holds, released } = readDecisions(folder, now);
  const current = found === null ? holds : holds.flatMap((hold) => afterRevision(hold, found));
  if (current.some((hold, at) => hold !== holds[at]) || current.length < holds.length)
    keep(folder, { holds: current, released });
  const onResources = current.filter(({ what }) => !isCommitPrefix(what));
  return new Map(onResources.map((hold) => [hold.what, holdText(hold)]));
}

function afterRevision(hold: Hold, { revision, contents }: HeldContents): readonly Hold[] {
  const content = contents.get(hold.what);
  if (content === undefined) return [hold];
  if (hold.content === undefined) return [{ ...hold, content }];
  if (content === hold.content) {
    const { waiting, ...unchanged } = hold;
    return [waiting === undefined ? hold : unchanged];
  }
  if (hold.until === UNTIL_COMMIT) return [];
  return [content === hold.waiting?.content ? hold : { ...hold, waiting: { commit: revision, content } }];
}

/** The resources that are on hold. */
export function heldResources(folder: string, now: number): readonly Identity[] {
  return readDecisions(folder, now).holds.flatMap(({ what }) => (isCommitPrefix(what) ? [] : [what]));
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

/** A hold as one line of text, with the commit that waits for it. */
export function holdText({ what, reason, until, waiting }: Hold): string {
  const end = until === UNTIL_COMMIT ? "the next commit that changes it" : until;
  const commit = waiting?.commit == null ? "a change of its manifest" : `commit ${waiting.commit.slice(0, 12)}`;
  return `${what} until ${end}: ${reason}${waiting === undefined ? "" : `; ${commit} waits`}`;
}

function isCommitOf({ what }: Hold, commit: string): boolean {
  return isCommitPrefix(what) && commit.startsWith(what);
}

function keep(folder: string, decisions: TargetDecisions): void {
  replaceFile(fileIn(folder), `${JSON.stringify(decisions)}\n`, { durable: true });
}

const fileIn = (folder: string) => join(folder, "holds.json");
