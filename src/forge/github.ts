import { Octokit } from "@octokit/core";
import { retry } from "@octokit/plugin-retry";
import { throttling } from "@octokit/plugin-throttling";
import { isCertificateFault } from "../contract/fault-code.ts";
import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import type { HoldfastError } from "../core/errors.ts";
import type {
  Forge,
  ForgeComment,
  ForgeComments,
  ForgeIssue,
  ForgeIssues,
  ForgePlace,
  ForgeProposal,
  ForgeProposals,
  ForgePullRequests,
  PullRequest,
} from "./forge.ts";
import { forgeFailure, notAnApi } from "./forge-failure.ts";
import { githubStatus } from "./status-request.ts";

const PAGE = 100;
/** The longest pause. A job does not occupy its runner for a longer one. */
const MAX_PAUSE_S = 120;
const MAX_RETRIES = 3;

const RetryingOctokit = Octokit.plugin(retry, throttling);

/** Creates a client for GitHub or GitHub Enterprise. It retries after server errors and waits for rate limits. */
export function createGitHub(place: ForgePlace): Forge {
  const client = createClient(place);
  return { ...pullRequestCalls(client), ...commentCalls(client), ...issueCalls(client), ...proposalCalls(client) };
}

/** Sends requests for one repository. */
type GitHubClient = {
  readonly owner: string;
  readonly account: () => Promise<string>;
  readonly send: (what: string, route: string, parameters: object) => Promise<Json>;
  /** For a request that creates something: a retry after an ambiguous error could create it twice. */
  readonly sendOnce: (what: string, route: string, parameters: object) => Promise<Json>;
};

function createClient({ apiUrl, repository, token, secondMs = 1000, signal }: ForgePlace): GitHubClient {
  const mayWait = (seconds: number, _: object, __: object, count: number): boolean =>
    seconds <= MAX_PAUSE_S && count < MAX_RETRIES;
  const octokit = new RetryingOctokit({
    auth: token,
    baseUrl: apiUrl,
    userAgent: "holdfast",
    request: { signal, redirect: "manual", fetch: fetchOrGiveUp },
    retry: { doNotRetry: [400, 401, 403, 404, 410, 422, 429, 451], retryAfterBaseValue: secondMs },
    throttle: {
      id: `${apiUrl} ${repository}`,
      retryAfterBaseValue: secondMs,
      onRateLimit: mayWait,
      onSecondaryRateLimit: mayWait,
    },
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
  });
  const [owner = "", repo = ""] = repository.split("/");
  const here = { owner, repo };
  const send = async (what: string, route: string, parameters: object): Promise<Json> => {
    const { status, data } = await octokit.request(route, { ...here, ...parameters }).catch((error: unknown) => {
      throw failureOf(what, error);
    });
    // Octokit returns a redirect that it may not follow as a success.
    if (status >= 300) throw forgeFailure(what, status, "");
    return data as Json;
  };
  return {
    owner,
    account: async () => {
      const what = "reading the account of the token";
      const viewer = await octokit.graphql<Json>("{ viewer { databaseId } }").catch((error: unknown) => {
        throw failureOf(what, error);
      });
      return String(numberIn(isObject(viewer) ? viewer.viewer : undefined, "databaseId", what));
    },
    send,
    sendOnce: (what, route, parameters) => send(what, route, { ...parameters, request: { signal, retries: 0 } }),
  };
}

function pullRequestCalls({ account, send }: GitHubClient): ForgePullRequests {
  return {
    account,
    pullRequest: async (number) => {
      const what = `reading pull request ${number}`;
      return pullRequestOf(
        await send(what, "GET /repos/{owner}/{repo}/pulls/{pull_number}", { pull_number: number }),
        what,
      );
    },
    findPullRequest: async ({ owner: headOwner, branch, commit }) => {
      const what = `looking for the pull request of commit ${commit}`;
      const parameters = { head: `${headOwner}:${branch}`, state: "open", per_page: PAGE };
      const found = listOf(await send(what, "GET /repos/{owner}/{repo}/pulls", parameters), what);
      const pull = found.find((one) => isObject(one) && isObject(one.head) && one.head.sha === commit);
      return pull === undefined ? null : numberIn(pull, "number", what);
    },
    setStatus: async (status) => {
      const route = "POST /repos/{owner}/{repo}/statuses/{sha}";
      await send(`writing the status of ${status.commit}`, route, { sha: status.commit, ...githubStatus(status) });
    },
  };
}

function commentCalls({ send, sendOnce }: GitHubClient): ForgeComments {
  return {
    comments: async (number) => {
      const what = `reading the comments of pull request ${number}`;
      const all: ForgeComment[] = [];
      for (let page = 1; ; page += 1) {
        const parameters = { issue_number: number, per_page: PAGE, page };
        const route = "GET /repos/{owner}/{repo}/issues/{issue_number}/comments";
        const some = listOf(await send(what, route, parameters), what);
        all.push(...some.map((one) => commentOf(one, what)));
        if (some.length < PAGE) return all;
      }
    },
    createComment: async (number, body) => {
      const what = `commenting on pull request ${number}`;
      const route = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments";
      return commentOf(await sendOnce(what, route, { issue_number: number, body }), what);
    },
    updateComment: async (_, id, body) => {
      const what = `updating comment ${id}`;
      const route = "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}";
      const updated = await goneIsNull(send(what, route, { comment_id: id, body }));
      return updated === null ? null : commentOf(updated, what);
    },
    deleteComment: async (_, id) => {
      const route = "DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}";
      await goneIsNull(send(`deleting comment ${id}`, route, { comment_id: id }));
    },
  };
}

function issueCalls({ send, sendOnce }: GitHubClient): ForgeIssues {
  return {
    openIssues: async () => {
      const what = "reading the open issues";
      const all: ForgeIssue[] = [];
      for (let page = 1; ; page += 1) {
        const some = listOf(
          await send(what, "GET /repos/{owner}/{repo}/issues", { state: "open", per_page: PAGE, page }),
          what,
        );
        all.push(
          ...some.filter((one) => isObject(one) && one.pull_request === undefined).map((one) => issueOf(one, what)),
        );
        if (some.length < PAGE) return all;
      }
    },
    createIssue: async (title, body) => {
      const what = "opening an issue";
      const route = "POST /repos/{owner}/{repo}/issues";
      return issueOf(await sendOnce(what, route, { title, body }), what);
    },
    updateIssue: async (number, { body, isOpen }) => {
      const route = "PATCH /repos/{owner}/{repo}/issues/{issue_number}";
      await send(`updating issue ${number}`, route, { issue_number: number, body, state: isOpen ? "open" : "closed" });
    },
  };
}

const MODE = "100644";

function proposalCalls({ owner, send, sendOnce }: GitHubClient): ForgeProposals {
  const here = "/repos/{owner}/{repo}";
  return {
    defaultBranch: async () => {
      const what = "reading the repository";
      return textIn(await send(what, `GET ${here}`, {}), "default_branch", what);
    },
    proposals: async ({ branch, base }) => {
      const what = `looking for pull requests from ${branch}`;
      const newest = { state: "all", sort: "created", direction: "desc", per_page: PAGE };
      const found = await send(what, `GET ${here}/pulls`, { head: `${owner}:${branch}`, base, ...newest });
      // A fork of the same owner may have a branch of this name too.
      const own = listOf(found, what).filter((one) => isObject(one) && isOfOneRepository(one));
      return own.map((one) => proposalOf(one, what));
    },
    writeBranch: async ({ branch, parent, message, files }) => {
      const what = `writing the branch ${branch}`;
      const based = await send(what, `GET ${here}/git/commits/{commit_sha}`, { commit_sha: parent });
      const entries = files.map(({ path, text }) => ({ path, mode: MODE, type: "blob", content: text }));
      const below = textIn(isObject(based) ? based.tree : undefined, "sha", what);
      const tree = textIn(await send(what, `POST ${here}/git/trees`, { base_tree: below, tree: entries }), "sha", what);
      const commit = await send(what, `POST ${here}/git/commits`, { message, tree, parents: [parent] });
      const sha = textIn(commit, "sha", what);
      const known = await goneIsNull(send(what, `GET ${here}/git/ref/{+ref}`, { ref: `heads/${branch}` }));
      if (known === null) await send(what, `POST ${here}/git/refs`, { ref: `refs/heads/${branch}`, sha });
      else await send(what, `PATCH ${here}/git/refs/{+ref}`, { ref: `heads/${branch}`, sha, force: true });
    },
    createProposal: async ({ branch, base }, { title, body }) => {
      const what = `opening a pull request from ${branch}`;
      return proposalOf(await sendOnce(what, `POST ${here}/pulls`, { title, body, head: branch, base }), what);
    },
    updateProposal: async (number, { title, body }) => {
      const what = `updating pull request ${number}`;
      const route = `PATCH ${here}/pulls/{pull_number}`;
      return proposalOf(await send(what, route, { pull_number: number, title, body }), what);
    },
    closeProposal: async (number, body) => {
      const route = `PATCH ${here}/pulls/{pull_number}`;
      await send(`closing pull request ${number}`, route, { pull_number: number, state: "closed", body });
    },
  };
}

function proposalOf(pull: Json, what: string): ForgeProposal {
  const { state, merged_at: mergedAt = null } = isObject(pull) ? pull : {};
  const isMerged = mergedAt !== null;
  return { ...issueOf(pull, what), state: state === "open" ? "open" : isMerged ? "merged" : "closed" };
}

// The repository of a head that was deleted is null.
function isOfOneRepository(pull: JsonObject): boolean {
  const [head, base] = [pull.head, pull.base].map((one) => {
    return isObject(one) && isObject(one.repo) ? one.repo.full_name : null;
  });
  return typeof head === "string" && head === base;
}

async function goneIsNull<Value>(sent: Promise<Value>): Promise<Value | null> {
  return sent.catch((error: unknown) => {
    if (statusOf(error) === 404 || statusOf(error) === 410) return null;
    throw error;
  });
}

function ignore(): void {}

function pullRequestOf(pull: Json, what: string): PullRequest {
  if (!isObject(pull)) throw notAnApi(what);
  return { head: textIn(pull.head, "sha", what), isOpen: textIn(pull, "state", what) === "open" };
}

function commentOf(comment: Json, what: string): ForgeComment {
  const { user } = isObject(comment) ? comment : { user: null };
  const url = isObject(comment) && typeof comment.html_url === "string" ? comment.html_url : null;
  // A deleted account has no number.
  const author = user === null ? null : String(numberIn(user, "id", what));
  return { id: numberIn(comment, "id", what), author, body: textIn(comment, "body", what), url };
}

// GitHub returns an empty body as null.
function issueOf(issue: Json, what: string): ForgeIssue {
  const { author, url } = commentOf(isObject(issue) ? { ...issue, body: "" } : issue, what);
  const body = isObject(issue) && typeof issue.body === "string" ? issue.body : "";
  return { number: numberIn(issue, "number", what), author, body, url };
}

function listOf(answer: Json, what: string): readonly Json[] {
  if (!Array.isArray(answer)) throw notAnApi(what);
  return answer;
}

function textIn(answer: Json | undefined, name: string, what: string): string {
  const value = isObject(answer) ? (answer as JsonObject)[name] : undefined;
  if (typeof value !== "string") throw notAnApi(what);
  return value;
}

function numberIn(answer: Json | undefined, name: string, what: string): number {
  const value = isObject(answer) ? (answer as JsonObject)[name] : undefined;
  if (typeof value !== "number") throw notAnApi(what);
  return value;
}

// Octokit retries whatever it does not take for an abort, and a certificate does not become trusted by that.
async function fetchOrGiveUp(...request: Parameters<typeof fetch>): Promise<Response> {
  try {
    return await fetch(...request);
  } catch (error) {
    if (!isCertificateFault(error)) throw error;
    throw Object.assign(new Error("the certificate is not trusted", { cause: error }), { name: "AbortError" });
  }
}

function failureOf(what: string, error: unknown): HoldfastError {
  const status = statusOf(error);
  const answer = error instanceof Error && "response" in error ? error.response : undefined;
  const data = isObject(answer as Json) ? (answer as JsonObject).data : undefined;
  // Only a message in JSON is quoted, not a page.
  const reason = isObject(data) && typeof data.message === "string" ? data.message : "";
  return forgeFailure(what, status === 500 && answer === undefined ? null : status, reason, error);
}

function statusOf(error: unknown): number | null {
  if (!(error instanceof Error)) return null;
  if ("status" in error && typeof error.status === "number") return error.status;
  return error.cause === undefined ? null : statusOf(error.cause);
}
