// src/forge: GitHub and GitLab: comments, commit statuses and pull requests. See docs/pull-requests.md#the-comment.

import type { Clock } from "../clock/clock.ts";

/** A comment on a pull request or merge request. */
export type ForgeComment = {
  readonly id: number;
  /** The author, in the same form as `account` returns; null when there is none, as after an account was deleted. */
  readonly author: string | null;
  readonly body: string;
  /** The web address; null if the forge does not report it. */
  readonly url: string | null;
};

/** An open issue. */
export type ForgeIssue = {
  readonly number: number;
  readonly author: string | null;
  readonly body: string;
  readonly url: string | null;
};

/** The current state of a pull request or merge request. */
export type PullRequest = { readonly head: string; readonly isOpen: boolean };

/** The head of a pull request, from the forge's event for a finished job. */
export type PullRequestHead = { readonly owner: string; readonly branch: string; readonly commit: string };

/** A commit status, identified by its name. */
export type ForgeStatus = {
  readonly commit: string;
  readonly name: string;
  readonly state: "success" | "failure" | "pending";
  readonly description: string;
};

/** Pull requests and commit statuses of a forge. */
export type ForgePullRequests = {
  /** The account that the token belongs to, by its number: a user may have the name of an app. */
  readonly account: () => Promise<string>;
  readonly pullRequest: (number: number) => Promise<PullRequest>;
  /** The number of the open pull request with this head; null if there is none. */
  readonly findPullRequest: (head: PullRequestHead) => Promise<number | null>;
  readonly setStatus: (status: ForgeStatus) => Promise<void>;
};

/** Comments on pull requests. */
export type ForgeComments = {
  /** All comments of a pull request, the oldest first. */
  readonly comments: (number: number) => Promise<readonly ForgeComment[]>;
  readonly createComment: (number: number, body: string) => Promise<ForgeComment>;
  /** Resolves to null if the comment was deleted. */
  readonly updateComment: (number: number, id: number, body: string) => Promise<ForgeComment | null>;
  /** Also succeeds if the comment was already deleted. */
  readonly deleteComment: (number: number, id: number) => Promise<void>;
};

/** Issues of a repository. */
export type ForgeIssues = {
  /** All open issues, without pull requests. */
  readonly openIssues: () => Promise<readonly ForgeIssue[]>;
  readonly createIssue: (title: string, body: string) => Promise<ForgeIssue>;
  readonly updateIssue: (number: number, issue: { readonly body: string; readonly isOpen: boolean }) => Promise<void>;
};

/** A pull request from a branch of the repository itself. */
export type ForgeProposal = {
  readonly number: number;
  readonly author: string | null;
  readonly body: string;
  readonly url: string | null;
  readonly state: "open" | "closed" | "merged";
};

/** The branches that a pull request is from and into. */
export type ForgeBranches = { readonly branch: string; readonly base: string };

/** A commit on top of another one, as the whole content of a branch. */
export type BranchCommit = {
  readonly branch: string;
  /** The parent, by its full id. */
  readonly parent: string;
  readonly message: string;
  /** The files that differ from the parent, with their text. */
  readonly files: readonly { readonly path: string; readonly text: string; readonly isNew: boolean }[];
};

/** Branches with one commit, and the pull requests from them. */
export type ForgeProposals = {
  readonly defaultBranch: () => Promise<string>;
  /** Every pull request from this branch into this base, the newest first. */
  readonly proposals: (branches: ForgeBranches) => Promise<readonly ForgeProposal[]>;
  /** Creates the branch, or replaces what is on it. */
  readonly writeBranch: (commit: BranchCommit) => Promise<void>;
  readonly createProposal: (
    branches: ForgeBranches,
    text: { readonly title: string; readonly body: string },
  ) => Promise<ForgeProposal>;
  readonly updateProposal: (
    number: number,
    text: { readonly title: string; readonly body: string },
  ) => Promise<ForgeProposal>;
  /** Closes a pull request without merging it, with this text in place of its own. */
  readonly closeProposal: (number: number, body: string) => Promise<void>;
};

/** A host of repositories. Every failure is a `HoldfastError` with the failed request and the next step. */
export type Forge = ForgePullRequests & ForgeComments & ForgeIssues & ForgeProposals;

/** The address and credentials of a repository on a forge. */
export type ForgePlace = {
  readonly clock: Clock;
  readonly apiUrl: string;
  /** The path of the repository on its host, such as `ml/platform`; for GitLab also its number. */
  readonly repository: string;
  readonly token: string;
  /** The length of a second, in milliseconds, in pauses between attempts; shorter in tests. */
  readonly secondMs?: number;
  readonly signal: AbortSignal;
};
