/** A comment on a pull request or merge request. */
export type ForgeComment = {
  readonly id: number;
  /** Who wrote it, by the name that the forge's own account answers too. */
  readonly author: string;
  readonly body: string;
  /** Where people read it; null where the forge does not tell. */
  readonly url: string | null;
};

/** An issue that is open. */
export type ForgeIssue = {
  readonly number: number;
  readonly author: string;
  readonly body: string;
  readonly url: string | null;
};

/** A pull request or merge request as it is now. */
export type PullRequest = { readonly head: string; readonly isOpen: boolean };

/** A pull request's branch by the forge's own word, as the event of a finished job names it. */
export type PullRequestHead = { readonly owner: string; readonly branch: string; readonly commit: string };

/** What a commit is said to be, under a name of its own. */
export type ForgeStatus = {
  readonly commit: string;
  readonly name: string;
  readonly state: "success" | "failure";
  readonly description: string;
};

/** A host of repositories; every failure is a `HoldfastError` that says what was refused and what to do. */
export type Forge = {
  /** The account that the token is of. */
  readonly account: () => Promise<string>;
  readonly pullRequest: (number: number) => Promise<PullRequest>;
  /** The number of the open pull request with this head; null where there is none. */
  readonly findPullRequest: (head: PullRequestHead) => Promise<number | null>;
  /** All of them, the oldest first. */
  readonly comments: (number: number) => Promise<readonly ForgeComment[]>;
  readonly createComment: (number: number, body: string) => Promise<ForgeComment>;
  /** Null where somebody has deleted it. */
  readonly updateComment: (number: number, id: number, body: string) => Promise<ForgeComment | null>;
  /** That it is gone already is as good. */
  readonly deleteComment: (number: number, id: number) => Promise<void>;
  /** All that are open, pull requests aside. */
  readonly openIssues: () => Promise<readonly ForgeIssue[]>;
  readonly createIssue: (title: string, body: string) => Promise<ForgeIssue>;
  readonly updateIssue: (number: number, issue: { readonly body: string; readonly isOpen: boolean }) => Promise<void>;
  readonly setStatus: (status: ForgeStatus) => Promise<void>;
};

/** How a forge is reached. */
export type ForgePlace = {
  readonly apiUrl: string;
  /** Path of the repository on its host, such as `ml/platform`; of GitLab its number too. */
  readonly repository: string;
  readonly token: string;
  /** Milliseconds that count as a second in pauses between attempts. */
  readonly secondMs?: number;
  readonly signal: AbortSignal;
};
