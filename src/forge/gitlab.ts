import { backoff } from "../clock/backoff.ts";
import { isCertificateFault } from "../contract/fault-code.ts";
import { isObject, type Json, parseJsonOrNull } from "../contract/json.ts";
import type { Forge, ForgeComment, ForgeIssue, ForgePlace, ForgeProposal } from "./forge.ts";
import { forgeFailure, notAnApi } from "./forge-failure.ts";
import { gitlabStatus } from "./status-request.ts";

const PAGE = 100;
const TIMEOUT_MS = 30_000;
const MAX_PAUSE_S = 120;
const RETRIES = 3;
/** The seconds before each retry, if the answer requests none. */
const BACKOFF_S = { first: 1, most: MAX_PAUSE_S, growth: 3 };

type Answer = { readonly status: number; readonly body: Json; readonly nextPage: string | null };

/** Creates a client for GitLab. It retries after server errors and waits for rate limits. */
export function createGitLab(place: ForgePlace): Forge {
  const { apiUrl, repository } = place;
  const project = `${apiUrl}/projects/${encodeURIComponent(repository)}`;
  const notes = (number: number): string => `${project}/merge_requests/${number}/notes`;
  const read = async (what: string, url: string): Promise<Answer> =>
    requireSuccess(what, await send(what, place, "GET", url));
  const everyPage = async <One>(what: string, url: string, of: (one: Json, what: string) => One): Promise<One[]> => {
    const all: One[] = [];
    for (let page: string | null = "1"; page !== null; ) {
      const { body, nextPage }: Answer = await read(what, `${url}&per_page=${PAGE}&page=${encodeURIComponent(page)}`);
      if (!Array.isArray(body)) throw notAnApi(what);
      all.push(...body.map((one) => of(one, what)));
      page = nextPage;
    }
    return all;
  };
  return {
    account: async () => {
      const what = "reading the account of the token";
      const { body } = await read(what, `${apiUrl}/user`);
      if (!isObject(body) || typeof body.id !== "number") throw notAnApi(what);
      return String(body.id);
    },
    pullRequest: async (number) => {
      const what = `reading merge request ${number}`;
      const { body } = await read(what, `${project}/merge_requests/${number}`);
      if (!isObject(body) || typeof body.sha !== "string") throw notAnApi(what);
      return { head: body.sha, isOpen: body.state === "opened" };
    },
    findPullRequest: async ({ branch, commit }) => {
      const what = `looking for the merge request of commit ${commit}`;
      const query = `state=opened&source_branch=${encodeURIComponent(branch)}&per_page=${PAGE}`;
      const { body } = await read(what, `${project}/merge_requests?${query}`);
      if (!Array.isArray(body)) throw notAnApi(what);
      const found = body.find((one) => isObject(one) && one.sha === commit);
      return isObject(found) && typeof found.iid === "number" ? found.iid : null;
    },
    comments: (number) =>
      everyPage(
        `reading the notes of merge request ${number}`,
        `${notes(number)}?sort=asc&order_by=created_at`,
        noteOf,
      ),
    createComment: async (number, body) => {
      const what = `commenting on merge request ${number}`;
      return noteOf(requireSuccess(what, await send(what, place, "POST", notes(number), { body })).body, what);
    },
    updateComment: async (number, id, body) => {
      const what = `updating note ${id}`;
      const answer = await send(what, place, "PUT", `${notes(number)}/${id}`, { body });
      return answer.status === 404 ? null : noteOf(requireSuccess(what, answer).body, what);
    },
    deleteComment: async (number, id) => {
      const what = `deleting note ${id}`;
      const answer = await send(what, place, "DELETE", `${notes(number)}/${id}`);
      if (answer.status !== 404) requireSuccess(what, answer);
    },
    openIssues: () => everyPage("reading the open issues", `${project}/issues?state=opened`, issueOf),
    createIssue: async (title, description) => {
      const what = "opening an issue";
      const answer = await send(what, place, "POST", `${project}/issues`, { title, description });
      return issueOf(requireSuccess(what, answer).body, what);
    },
    updateIssue: async (number, { body, isOpen }) => {
      const what = `updating issue ${number}`;
      const change = { description: body, ...(isOpen ? {} : { state_event: "close" }) };
      requireSuccess(what, await send(what, place, "PUT", `${project}/issues/${number}`, change));
    },
    defaultBranch: async () => {
      const what = "reading the project";
      const { body } = await read(what, project);
      if (!isObject(body) || typeof body.default_branch !== "string") throw notAnApi(what);
      return body.default_branch;
    },
    proposals: async ({ branch, base }) => {
      const branches = `source_branch=${encodeURIComponent(branch)}&target_branch=${encodeURIComponent(base)}`;
      const query = `state=all&order_by=created_at&sort=desc&${branches}&per_page=${PAGE}`;
      const what = `looking for merge requests from ${branch}`;
      const { body } = await read(what, `${project}/merge_requests?${query}`);
      if (!Array.isArray(body)) throw notAnApi(what);
      // A fork may have a branch of this name too.
      const own = body.filter((one) => isObject(one) && one.source_project_id === one.target_project_id);
      return own.map((one) => proposalOf(one, what));
    },
    writeBranch: async ({ branch, parent, message, files }) => {
      const what = `writing the branch ${branch}`;
      const actions = files.map(({ path, text, isNew }) => {
        return { action: isNew ? "create" : "update", file_path: path, content: text };
      });
      const commit = { branch, start_sha: parent, force: true, commit_message: message, actions };
      requireSuccess(what, await send(what, place, "POST", `${project}/repository/commits`, commit));
    },
    createProposal: async ({ branch, base }, { title, body: description }) => {
      const what = `opening a merge request from ${branch}`;
      const opened = { source_branch: branch, target_branch: base, title, description };
      const answer = await send(what, place, "POST", `${project}/merge_requests`, opened);
      return proposalOf(requireSuccess(what, answer).body, what);
    },
    updateProposal: async (number, { title, body: description }) => {
      const what = `updating merge request ${number}`;
      const answer = await send(what, place, "PUT", `${project}/merge_requests/${number}`, { title, description });
      return proposalOf(requireSuccess(what, answer).body, what);
    },
    closeProposal: async (number, description) => {
      const what = `closing merge request ${number}`;
      const closed = { state_event: "close", description };
      requireSuccess(what, await send(what, place, "PUT", `${project}/merge_requests/${number}`, closed));
    },
    setStatus: async (status) => {
      const what = `writing the status of ${status.commit}`;
      const answer = await send(what, place, "POST", `${project}/statuses/${status.commit}`, gitlabStatus(status));
      // GitLab refuses a status that the commit already has.
      if (!/cannot transition status/i.test(messageIn(answer))) requireSuccess(what, answer);
    },
  };
}

async function send(
  what: string,
  { clock, token, secondMs = 1000, signal }: ForgePlace,
  method: string,
  url: string,
  body?: object,
): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const pause = attempt > RETRIES ? null : backoff(attempt, BACKOFF_S);
    const outcome = await exchange(url, {
      method,
      headers: { "private-token": token, "content-type": "application/json", "user-agent": "holdfast" },
      body: body === undefined ? null : JSON.stringify(body),
      redirect: "manual",
      signal: AbortSignal.any([signal, clock.timeout(TIMEOUT_MS)]),
    });
    if ("cause" in outcome) {
      signal.throwIfAborted();
      const mayPass = method === "GET" && !isCertificateFault(outcome.cause);
      if (pause === null || !mayPass) throw forgeFailure(what, null, "", outcome.cause);
      await clock.sleep(pause * secondMs, { signal });
      continue;
    }
    const { status, headers, text } = outcome;
    // A comment that may exist is not sent again, since it could appear twice.
    const mayRetry = status === 429 || (status >= 500 && method !== "POST");
    const seconds = Number(headers.get("retry-after")) || pause;
    if (pause === null || seconds === null || !mayRetry || seconds > MAX_PAUSE_S) {
      return { status, body: parseJsonOrNull(text), nextPage: headers.get("x-next-page") || null };
    }
    await clock.sleep(seconds * secondMs, { signal });
  }
}

// The body is read here too, since the connection may break while it arrives.
async function exchange(
  url: string,
  options: RequestInit,
): Promise<{ readonly cause: unknown } | (Pick<Response, "status" | "headers"> & { readonly text: string })> {
  try {
    const response = await fetch(url, options);
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (cause) {
    return { cause };
  }
}

function requireSuccess(what: string, answer: Answer): Answer {
  const { status } = answer;
  if (status >= 200 && status < 300) return answer;
  throw forgeFailure(what, status, messageIn(answer));
}

function messageIn({ body }: Answer): string {
  const message = isObject(body) ? (body.message ?? body.error ?? "") : "";
  return typeof message === "string" ? message : "";
}

function noteOf(note: Json, what: string): ForgeComment {
  if (!isObject(note) || typeof note.id !== "number" || typeof note.body !== "string") throw notAnApi(what);
  const author = isObject(note.author) && typeof note.author.id === "number" ? String(note.author.id) : null;
  return { id: note.id, author: note.system === true ? null : author, body: note.body, url: null };
}

function issueOf(issue: Json, what: string): ForgeIssue {
  if (!isObject(issue) || typeof issue.iid !== "number") throw notAnApi(what);
  const author = isObject(issue.author) && typeof issue.author.id === "number" ? String(issue.author.id) : null;
  const url = typeof issue.web_url === "string" ? issue.web_url : null;
  return { number: issue.iid, author, body: typeof issue.description === "string" ? issue.description : "", url };
}

function proposalOf(request: Json, what: string): ForgeProposal {
  const { state } = isObject(request) ? request : {};
  return { ...issueOf(request, what), state: state === "opened" ? "open" : state === "merged" ? "merged" : "closed" };
}
