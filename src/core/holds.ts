import type { Identity } from "./manifest.ts";

/** The end of a hold that lasts until a commit changes the manifest of the resource. */
export const UNTIL_COMMIT = "commit";

/**
 * A decision that a resource is not written, or a commit not applied, until it ends: a person's, or that of Holdfast to write
 * nothing back of what is proposed for git.
 */
export type Hold = {
  /** The identity of a resource, a prefix of a commit id, or `stage/` and the name of a stage. */
  readonly what: string;
  readonly reason: string;
  /** ISO time at which the hold ends, or `commit`. */
  readonly until: string;
  /** The name of the person who held it on the dashboard; absent where a command did. */
  readonly by?: string;
  /** The digest of the resource's manifest when it was held, null if it had none; absent until it is known. */
  readonly content?: string | null;
  /**
   * The pull request that proposes what was changed in live, whose end ends the hold; null while it is not open yet. Absent
   * where a person has put it on hold.
   */
  readonly pullRequest?: { readonly number: number; readonly url: string | null } | null;
  /** The newest commit that changes the resource, and its digest there; absent while none does. */
  readonly waiting?: { readonly commit: string | null; readonly content: string | null };
};

/** The decisions that people made about a target outside its manifests. */
export type TargetDecisions = {
  readonly holds: readonly Hold[];
  /** Commits that may be applied although they no longer declare many of the recorded resources. */
  readonly released: readonly string[];
};

/** What a revision declares of the resources that are on hold. */
export type HeldContents = {
  readonly revision: string | null;
  /** A keyed digest of each manifest, null if there is none; left out where it is invalid. */
  readonly contents: ReadonlyMap<Identity, string | null>;
};

const MAX_RELEASED = 100;

/**
 * The decisions that are in force at a time in epoch milliseconds. A hold of what is proposed for git stays until nothing is
 * left of it, so that the same is not held anew after its time.
 */
export function decisionsAt({ holds, released }: TargetDecisions, now: number): TargetDecisions {
  return { holds: holds.filter((hold) => isOfProposal(hold) || isInTime(hold, now)), released };
}

/** The holds that are in force at a time in epoch milliseconds, for people. */
export function holdsAt({ holds }: TargetDecisions, now: number): readonly Hold[] {
  return holds.filter((hold) => isInTime(hold, now));
}

function isInTime({ until }: Hold, now: number): boolean {
  return until === UNTIL_COMMIT || Date.parse(until) > now;
}

/** Whether a resource is on hold because what was changed in live is proposed for git. */
export function isOfProposal({ pullRequest }: Hold): boolean {
  return pullRequest !== undefined;
}

/** The decisions with these holds of what is proposed for git in place of all earlier ones; a hold of a person's stays. */
export function withProposalHolds({ holds, released }: TargetDecisions, proposed: readonly Hold[]): TargetDecisions {
  const others = holds.filter((hold) => !isOfProposal(hold));
  const names = new Set(others.map(({ what }) => what));
  return { holds: [...others, ...proposed.filter(({ what }) => !names.has(what))], released };
}

/** The end of a hold of which git has won. */
export const OVER: string = new Date(0).toISOString();

/** Adds a hold; it replaces an earlier hold on the same resource or commit, and takes back a release of that commit. */
export function withHold({ holds, released }: TargetDecisions, hold: Hold): TargetDecisions {
  const others = holds.filter(({ what }) => what !== hold.what);
  return { holds: [...others, hold], released: released.filter((commit) => !isCommitOf(hold, commit)) };
}

/**
 * Ends a hold; a commit may then be applied however many resources it no longer declares. Of what is proposed for git, git
 * wins then.
 */
export function withoutHold({ holds, released }: TargetDecisions, what: string): TargetDecisions {
  const others = holds.flatMap((hold) => {
    if (hold.what !== what) return isCommitOf(hold, what) ? [] : [hold];
    return isOfProposal(hold) ? [{ ...hold, until: OVER }] : [];
  });
  return { holds: others, released: isCommitPrefix(what) ? [...released, what].slice(-MAX_RELEASED) : released };
}

/**
 * The decisions after a revision was read. A hold until a commit ends if its resource has changed; any other hold then
 * keeps that commit waiting.
 */
export function afterRevision(decisions: TargetDecisions, found: HeldContents): TargetDecisions {
  return { ...decisions, holds: decisions.holds.flatMap((hold) => holdAfter(hold, found)) };
}

function holdAfter(hold: Hold, { revision, contents }: HeldContents): readonly Hold[] {
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

/** The resources that people have put on hold, and why. */
export function heldResources({ holds }: TargetDecisions): ReadonlyMap<Identity, string> {
  return new Map(holds.flatMap((hold) => (isOfResource(hold) ? [[hold.what, holdText(hold)]] : [])));
}

function isOfResource(hold: Hold): boolean {
  return !isCommitPrefix(hold.what) && !isStage(hold.what) && !isOfProposal(hold);
}

/** Whether a text names a stage. */
export function isStage(what: string): boolean {
  return what.startsWith("stage/");
}

/** The hold on the stage of a target, which then applies no other commit; null if there is none. */
export function holdOnStage({ holds }: TargetDecisions): Hold | null {
  return holds.find(({ what }) => isStage(what)) ?? null;
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
export function holdText({ what, reason, until, by, waiting }: Hold): string {
  const end = until === UNTIL_COMMIT ? "the next commit that changes it" : until;
  const commit = waiting?.commit == null ? "a change of its manifest" : `commit ${waiting.commit.slice(0, 12)}`;
  const person = by === undefined ? "" : ` (${by})`;
  return `${what} until ${end}: ${reason}${person}${waiting === undefined ? "" : `; ${commit} waits`}`;
}

function isCommitOf({ what }: Hold, commit: string): boolean {
  return isCommitPrefix(what) && commit.startsWith(what);
}
