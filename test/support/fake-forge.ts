import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listen } from "./listen.ts";

/** A comment as a fake forge keeps it. */
export type KeptComment = { readonly id: number; readonly author: string; body: string };

/** A pull request from a branch of the repository, as a fake forge keeps it. */
export type KeptProposal = {
  readonly number: number;
  readonly author: string;
  readonly branch: string;
  readonly base: string;
  title: string;
  body: string;
  state: "open" | "closed" | "merged";
  /** Whether its branch is in another repository, on GitHub of the same owner: those of others are not listed. */
  readonly isOfFork?: boolean;
};

/** A branch as a fake forge keeps it: its commit, and the files that this has changed. */
export type KeptBranch = {
  readonly commit: string;
  readonly parent: string;
  readonly message: string;
  readonly files: { readonly [path: string]: string };
};

/** An answer that a fake forge gives once instead of its own. */
export type Fault = {
  readonly status: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
  /** Whether the connection ends in the middle of the body. */
  readonly isCut?: boolean;
};

/** A forge on loopback with one pull request; what it is told stays. */
export type FakeForge = {
  readonly apiUrl: string;
  readonly comments: KeptComment[];
  readonly issues: {
    readonly number: number;
    readonly author: string;
    readonly title: string;
    body: string;
    isOpen: boolean;
  }[];
  readonly statuses: { readonly commit: string; readonly body: { readonly [name: string]: unknown } }[];
  /** Pull requests from branches of the repository, the oldest first. */
  readonly proposals: KeptProposal[];
  /** Branches that were written, by name. */
  readonly branches: Map<string, KeptBranch>;
  /** Trees and commits that were made and are on no branch yet. */
  readonly objects: Map<string, object>;
  /** Commits that the repository has; null for any. */
  commits: ReadonlySet<string> | null;
  /** Each request, as `POST /path`. */
  readonly requests: string[];
  pull: { head: string; isOpen: boolean };
  /** Whether the token may write. */
  mayWrite: boolean;
  /** Answers the next requests whose method and path match. */
  readonly fail: (pattern: RegExp, ...faults: readonly Fault[]) => void;
  /** Does something once, before such a request is answered. */
  readonly before: (pattern: RegExp, action: () => void | Promise<void>) => void;
  /** A comment of somebody's. */
  readonly write: (author: string, body: string) => KeptComment;
};

/** What differs between the forges: their paths, and how they write what they keep. */
type Dialect = {
  readonly account: string;
  readonly isAuthorized: (request: IncomingMessage) => boolean;
  readonly unauthorized: Fault;
  readonly forbidden: Fault;
  readonly route: (call: Call, forge: FakeForge) => Reply;
};

type Call = { readonly method: string; readonly url: URL; readonly body: { readonly [name: string]: unknown } };
type Reply = {
  readonly status: number;
  readonly json?: unknown;
  readonly headers?: { readonly [name: string]: string };
};

const NOT_FOUND: Reply = { status: 404, json: { message: "Not Found" } };

/** The repository, the number of the pull request and the token of every fake forge. */
export const forgeFacts = { repository: "ml/platform", number: 7, token: "CANARY-forge-token" } as const;

/** Runs something when the test is over; tests that run at once have one each. */
type OnFinished = (end: () => void) => void;

async function startForge(
  { account, isAuthorized, unauthorized, forbidden, route }: Dialect,
  onFinished: OnFinished,
): Promise<FakeForge> {
  const faults: { readonly pattern: RegExp; readonly left: Fault[] }[] = [];
  const actions: { pattern: RegExp; action: (() => void | Promise<void>) | null }[] = [];
  let nextId = 100;
  const server = createServer(async (request, response) => {
    const pieces = await request.toArray();
    const url = new URL(request.url ?? "", forge.apiUrl);
    const call = { method: request.method ?? "", url, body: JSON.parse(Buffer.concat(pieces).toString() || "{}") };
    const name = `${call.method} ${url.pathname}`;
    forge.requests.push(name);
    const due = actions.find(({ pattern, action }) => action !== null && pattern.test(name));
    const act = due?.action;
    if (due !== undefined) due.action = null;
    await act?.();
    const fault = faults.find(({ pattern, left }) => left.length > 0 && pattern.test(name))?.left.shift();
    if (fault !== undefined) return answerFault(response, fault);
    if (!isAuthorized(request)) return answerFault(response, unauthorized);
    const isRead = call.method === "GET" || url.pathname.endsWith("/graphql");
    if (!isRead && !forge.mayWrite) return answerFault(response, forbidden);
    answer(request, response, route(call, forge));
  });
  const address = await listen(server, onFinished);
  const forge: FakeForge = {
    apiUrl: address,
    comments: [],
    issues: [{ number: 1, author: "ada", title: "Help", body: "It drifts", isOpen: true }],
    statuses: [],
    proposals: [],
    branches: new Map(),
    objects: new Map(),
    commits: null,
    requests: [],
    pull: { head: "a".repeat(40), isOpen: true },
    mayWrite: true,
    fail: (pattern, ...left) => void faults.push({ pattern, left: [...left] }),
    before: (pattern, action) => void actions.push({ pattern, action }),
    write: (author, body) => {
      const comment = { id: nextId++, author, body };
      forge.comments.push(comment);
      return comment;
    },
  };
  forge.write("somebody", "Nice.");
  forge.write(account === "1" ? "2" : "ada", "<!-- holdfast name=default revision=0000000 -->\nNot ours.");
  return forge;
}

function answer(request: IncomingMessage, response: ServerResponse, { status, json, headers = {} }: Reply): void {
  const text = json === undefined ? "" : JSON.stringify(json);
  const etag = `"${createHash("sha256").update(text).digest("hex")}"`;
  const isCached = request.method === "GET" && request.headers["if-none-match"] === etag;
  response.writeHead(isCached ? 304 : status, { "content-type": "application/json; charset=utf-8", etag, ...headers });
  response.end(isCached ? "" : text);
}

function answerFault(response: ServerResponse, { status, headers = {}, body = "{}", isCut = false }: Fault): void {
  if (isCut) {
    response
      .writeHead(status, { "content-type": "application/json", "content-length": 100 })
      .write("{", () => response.destroy());
    return;
  }
  response.writeHead(status, { "content-type": "application/json; charset=utf-8", ...headers }).end(body);
}

/** One page of a list, and the headers that lead to the next one. */
function pageOf<Item>(items: readonly Item[], url: URL, byDefault: number) {
  const size = Math.min(100, Number(url.searchParams.get("per_page") ?? byDefault));
  const page = Number(url.searchParams.get("page") ?? 1);
  const hasMore = page * size < items.length;
  const next = new URL(url);
  next.searchParams.set("page", String(page + 1));
  const headers = {
    ...(hasMore ? { link: `<${next}>; rel="next"` } : {}),
    "x-next-page": hasMore ? String(page + 1) : "",
  };
  return { items: items.slice((page - 1) * size, page * size), headers };
}

const HTML = { "content-type": "text/html" };
const message = (text: string) => JSON.stringify({ message: text });

/** Faults as the forges document them, and as proxies before them answer. */
export const forgeFaults = {
  down: { status: 502, headers: HTML, body: "<html><h1>Bad gateway</h1></html>" },
  page: { status: 200, headers: HTML, body: "<html>Sign in</html>" },
  secondaryLimit: {
    status: 403,
    headers: { "retry-after": "1" },
    body: message("You have exceeded a secondary rate limit. Please wait a few minutes before you try again."),
  },
  cut: { status: 200, isCut: true },
  hourLimit: {
    status: 403,
    headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${Math.ceil(Date.now() / 1000) + 3600}` },
    body: message("API rate limit exceeded for installation ID 1."),
  },
  tooMany: { status: 429, headers: { "retry-after": "1" }, body: message("Retry later") },
} as const satisfies { readonly [name: string]: Fault };

/** GitHub with one repository and pull request 7: <https://docs.github.com/rest>. */
export function startGitHub(onFinished: OnFinished): Promise<FakeForge> {
  const login = "github-actions[bot]";
  const repository = `/repos/${forgeFacts.repository}`;
  return startForge(
    {
      account: login,
      isAuthorized: ({ headers }) =>
        headers.authorization === `token ${forgeFacts.token}` || headers.authorization === `bearer ${forgeFacts.token}`,
      unauthorized: { status: 401, body: message("Bad credentials") },
      forbidden: { status: 403, body: message("Resource not accessible by integration") },
      route: ({ method, url, body }, forge) => {
        const shown = ({ id, author, body: text }: KeptComment) => ({
          id,
          body: text,
          user: githubUser(author),
          html_url: `https://github.example.com/ml/platform/pull/7#issuecomment-${id}`,
        });
        const path = url.pathname.startsWith(repository) ? url.pathname.slice(repository.length) : url.pathname;
        const pull = { number: 7, state: forge.pull.isOpen ? "open" : "closed", head: { sha: forge.pull.head } };
        if (path === "/graphql")
          return {
            status: 200,
            json: { data: { viewer: { login: "github-actions", databaseId: githubUser(login).id } } },
          };
        if (path === "/pulls/7") return { status: 200, json: pull };
        const proposed = githubProposal(forge, { method, url, body }, path, login);
        if (proposed !== null) return proposed;
        if (path === "/pulls") {
          const isAsked = url.searchParams.get("head") === "stranger:feature" && forge.pull.isOpen;
          return { status: 200, json: isAsked ? [{ ...pull, number: 3, head: { sha: "0" } }, pull] : [] };
        }
        if (path === "/issues/7/comments" && method === "GET") {
          const { items, headers } = pageOf(forge.comments.map(shown), url, 30);
          return { status: 200, json: items, headers };
        }
        if (path === "/issues/7/comments") return { status: 201, json: shown(forge.write(login, String(body.body))) };
        const status = /^\/statuses\/(\w+)$/.exec(path)?.[1];
        if (status !== undefined) {
          forge.statuses.push({ commit: status, body });
          return { status: 201, json: { id: 1 } };
        }
        if (/^\/issues(?:\/\d+)?$/.test(path)) {
          const pull = { number: 7, body: "", user: githubUser("ada"), pull_request: {} };
          return issueReply(
            forge,
            { method, url, body },
            { account: login, extra: [pull], shown: githubIssue, fields: ["body", "state"] },
          );
        }
        return changeComment(forge, /^\/issues\/comments\/(\d+)$/.exec(path)?.[1], { method, body }, shown, login);
      },
    },
    onFinished,
  );
}

/** GitLab with one project and merge request 7: <https://docs.gitlab.com/api/notes>. */
export function startGitLab(onFinished: OnFinished): Promise<FakeForge> {
  const project = "/projects/ml%2Fplatform";
  return startForge(
    {
      account: "1",
      isAuthorized: ({ headers }) => headers["private-token"] === forgeFacts.token,
      unauthorized: { status: 401, body: message("401 Unauthorized") },
      forbidden: { status: 403, body: message("403 Forbidden") },
      route: ({ method, url, body }, forge) => {
        const shown = ({ id, author, body: text }: KeptComment) => ({
          id,
          body: text,
          system: false,
          author: { id: Number(author) || 99, username: author },
        });
        const path = url.pathname.startsWith(project) ? url.pathname.slice(project.length) : url.pathname;
        const request = { iid: 7, state: forge.pull.isOpen ? "opened" : "closed", sha: forge.pull.head };
        if (path === "/user") return { status: 200, json: { id: 1, username: "project_1_bot" } };
        if (path === "/merge_requests/7") return { status: 200, json: request };
        const proposed = gitlabProposal(forge, { method, url, body }, path);
        if (proposed !== null) return proposed;
        if (path === "/merge_requests") {
          return { status: 200, json: url.searchParams.get("source_branch") === "feature" ? [request] : [] };
        }
        if (path === "/merge_requests/7/notes" && method === "GET") {
          const { items, headers } = pageOf(forge.comments.map(shown), url, 20);
          return { status: 200, json: items, headers };
        }
        if (path === "/merge_requests/7/notes")
          return { status: 201, json: shown(forge.write("1", String(body.body))) };
        const status = /^\/statuses\/(\w+)$/.exec(path)?.[1];
        if (status !== undefined) {
          const isSame = forge.statuses.some(
            (one) => one.commit === status && one.body.name === body.name && one.body.state === body.state,
          );
          if (isSame)
            return {
              status: 400,
              json: { message: `Cannot transition status via :${body.state} from :${body.state}` },
            };
          forge.statuses.push({ commit: status, body });
          return { status: 201, json: { id: 1 } };
        }
        if (/^\/issues(?:\/\d+)?$/.test(path)) {
          return issueReply(
            forge,
            { method, url, body },
            { account: "1", extra: [], shown: gitlabIssue, fields: ["description", "state_event"] },
          );
        }
        return changeComment(
          forge,
          /^\/merge_requests\/7\/notes\/(\d+)$/.exec(path)?.[1],
          { method, body },
          shown,
          "1",
        );
      },
    },
    onFinished,
  );
}

const PROPOSED = "holdfast/";
const digestOf = (value: unknown) => createHash("sha1").update(JSON.stringify(value)).digest("hex");
const unprocessable = (text: string): Reply => ({ status: 422, json: { message: text } });

type Tree = { readonly tree: readonly { readonly path: string; readonly content: string }[] };

/** GitHub's branches, commits and pull requests from them; null for another request. */
function githubProposal(forge: FakeForge, { method, url, body }: Call, path: string, login: string): Reply | null {
  const { proposals, branches, objects } = forge;
  const ofRepository = (isOfFork: boolean) => ({ repo: { full_name: isOfFork ? "ml/copy" : forgeFacts.repository } });
  const shown = ({ number, author, state, isOfFork, ...one }: KeptProposal) => ({
    ...{ id: number + 5000, number, title: one.title, body: one.body, user: githubUser(author) },
    ...{ head: { sha: "0", ...ofRepository(isOfFork ?? false) }, base: ofRepository(false) },
    state: state === "open" ? "open" : "closed",
    merged_at: state === "merged" ? "2026-11-28T10:00:00Z" : null,
    html_url: `https://github.example.com/ml/platform/pull/${number}`,
  });
  if (path === "") return { status: 200, json: { default_branch: "main" } };
  if (path === "/pulls" && method === "GET") {
    const head = url.searchParams.get("head") ?? "";
    if (!head.startsWith(`ml:${PROPOSED}`)) return null;
    const found = proposals.filter(
      ({ branch, base }) => head === `ml:${branch}` && base === url.searchParams.get("base"),
    );
    return { status: 200, json: found.toReversed().map(shown) };
  }
  if (path === "/pulls" && method === "POST") {
    const [branch, base] = [String(body.head), String(body.base)];
    if (!branches.has(branch)) return unprocessable("Validation Failed: head does not exist");
    const isOpen = proposals.some((one) => isOpenBetween(one, branch, base));
    if (isOpen) return unprocessable(`A pull request already exists for ml:${branch}.`);
    return { status: 201, json: shown(addProposal(forge, { branch, base, author: login }, body, "body")) };
  }
  const number = /^\/pulls\/(\d+)$/.exec(path)?.[1];
  if (number !== undefined && method === "PATCH") {
    const found = proposals.find((one) => String(one.number) === number);
    if (found === undefined) return NOT_FOUND;
    const { title = found.title, body: text = found.body, state = found.state } = body;
    Object.assign(found, { title, body: text, state });
    return { status: 200, json: shown(found) };
  }
  const commit = /^\/git\/commits\/(\w+)$/.exec(path)?.[1];
  if (commit !== undefined) {
    const isKnown = forge.commits === null || forge.commits.has(commit);
    return isKnown ? { status: 200, json: { sha: commit, tree: { sha: `${commit.slice(1)}0` } } } : NOT_FOUND;
  }
  if (path === "/git/trees" || path === "/git/commits") {
    const sha = digestOf(body);
    objects.set(sha, body);
    return { status: 201, json: { sha } };
  }
  const ref = /^\/git\/refs?\/heads\/(.+)$/.exec(decodeURIComponent(path))?.[1];
  if (ref !== undefined && method === "GET") {
    const known = branches.get(ref);
    return known === undefined ? NOT_FOUND : { status: 200, json: { object: { sha: known.commit } } };
  }
  if (path !== "/git/refs" && ref === undefined) return null;
  const branch = ref ?? String(body.ref).replace("refs/heads/", "");
  if (method === "POST" && branches.has(branch)) return unprocessable("Reference already exists");
  if (method === "PATCH" && !branches.has(branch)) return unprocessable("Reference does not exist");
  if (method === "PATCH" && body.force !== true) return unprocessable("Update is not a fast forward");
  const { tree, parents, message } = objects.get(String(body.sha)) as {
    readonly tree: string;
    readonly parents: readonly [string];
    readonly message: string;
  };
  const files = (objects.get(tree) as Tree).tree.map(({ path: file, content }) => [file, content] as const);
  branches.set(branch, { commit: String(body.sha), parent: parents[0], message, files: Object.fromEntries(files) });
  return { status: method === "POST" ? 201 : 200, json: { object: { sha: body.sha } } };
}

type Action = { readonly action: string; readonly file_path: string; readonly content: string };

/** GitLab's branches, commits and merge requests from them; null for another request. */
function gitlabProposal(forge: FakeForge, { method, url, body }: Call, path: string): Reply | null {
  const { proposals, branches } = forge;
  const shown = ({ number, author, state, title, body: description, isOfFork }: KeptProposal) => ({
    ...{ iid: number, title, description, author: { id: Number(author) || 99 } },
    state: state === "open" ? "opened" : state,
    web_url: `https://gitlab.example.com/ml/platform/-/merge_requests/${number}`,
    ...{ source_project_id: isOfFork ? 2 : 1, target_project_id: 1 },
  });
  if (path === "") return { status: 200, json: { default_branch: "main" } };
  if (path === "/repository/commits" && method === "POST") {
    const [branch, parent] = [String(body.branch), String(body.start_sha)];
    if (forge.commits !== null && !forge.commits.has(parent))
      return { status: 400, json: { message: "Invalid reference name" } };
    if (branches.has(branch) && body.force !== true) {
      return { status: 400, json: { message: "A branch called '' already exists. Switch to that branch" } };
    }
    const actions = body.actions as readonly Action[];
    const files = Object.fromEntries(actions.map(({ file_path, content }) => [file_path, content]));
    const commit = digestOf(body);
    branches.set(branch, { commit, parent, message: String(body.commit_message), files });
    return { status: 201, json: { id: commit } };
  }
  if (path === "/merge_requests" && method === "GET") {
    const branch = url.searchParams.get("source_branch") ?? "";
    if (!branch.startsWith(PROPOSED)) return null;
    const base = url.searchParams.get("target_branch");
    const found = proposals.filter((one) => one.branch === branch && one.base === base);
    return { status: 200, json: found.toReversed().map(shown) };
  }
  if (path === "/merge_requests" && method === "POST") {
    const [branch, base] = [String(body.source_branch), String(body.target_branch)];
    const isOpen = proposals.some((one) => isOpenBetween(one, branch, base));
    if (isOpen) return { status: 409, json: { message: "Another open merge request already exists" } };
    return { status: 201, json: shown(addProposal(forge, { branch, base, author: "1" }, body, "description")) };
  }
  const found = proposals.find(({ number }) => path === `/merge_requests/${number}`);
  if (found === undefined || method !== "PUT") return null;
  const { title = found.title, description = found.body, state_event: event } = body;
  Object.assign(found, { title, body: description, state: event === "close" ? "closed" : found.state });
  return { status: 200, json: shown(found) };
}

function isOpenBetween(one: KeptProposal, branch: string, base: string): boolean {
  return one.branch === branch && one.base === base && one.state === "open" && one.isOfFork !== true;
}

function addProposal(
  { proposals }: FakeForge,
  given: Pick<KeptProposal, "branch" | "base" | "author">,
  body: Call["body"],
  text: "body" | "description",
): KeptProposal {
  const number = proposals.length + 21;
  const made: KeptProposal = { ...given, number, title: String(body.title), body: String(body[text]), state: "open" };
  proposals.push(made);
  return made;
}

function changeComment(
  { comments }: FakeForge,
  id: string | undefined,
  { method, body }: Pick<Call, "method" | "body">,
  shown: (comment: KeptComment) => object,
  account: string,
): Reply {
  const at = comments.findIndex((comment) => String(comment.id) === id);
  const found = comments[at];
  if (found === undefined) return NOT_FOUND;
  if (found.author !== account) return { status: 403, json: { message: "Must be its author" } };
  if (method === "DELETE") {
    comments.splice(at, 1);
    return { status: 204 };
  }
  found.body = String(body.body);
  return { status: 200, json: shown(found) };
}

type KeptIssue = FakeForge["issues"][number];

function githubIssue({ number, author, body, isOpen }: KeptIssue): object {
  return { id: number + 1000, number, body, state: isOpen ? "open" : "closed", user: githubUser(author) };
}

/** An account: apps have numbers among those of users, and a user may have an app's name without the suffix. */
function githubUser(login: string): { readonly login: string; readonly id: number; readonly type: "Bot" | "User" } {
  const id = Number.parseInt(createHash("sha256").update(login).digest("hex").slice(0, 8), 16);
  return { login, id, type: login.endsWith("[bot]") ? "Bot" : "User" };
}

function gitlabIssue({ number, author, body, isOpen }: KeptIssue): object {
  return { iid: number, description: body, state: isOpen ? "opened" : "closed", author: { id: Number(author) || 99 } };
}

/** Answers a request about issues, as each forge spells it: the fields of the text and of the wanted state. */
function issueReply(
  { issues }: FakeForge,
  { method, url, body }: Call,
  dialect: {
    readonly account: string;
    readonly extra: readonly object[];
    readonly shown: (issue: KeptIssue) => object;
    readonly fields: readonly [text: string, state: string];
  },
): Reply {
  const { account, extra, shown, fields } = dialect;
  const [text, state] = fields;
  if (method === "GET") {
    const { items, headers } = pageOf([...extra, ...issues.filter(({ isOpen }) => isOpen).map(shown)], url, 30);
    return { status: 200, json: items, headers };
  }
  if (method === "POST") {
    const issue = {
      number: issues.length + 1,
      author: account,
      title: String(body.title),
      body: String(body[text]),
      isOpen: true,
    };
    issues.push(issue);
    return { status: 201, json: shown(issue) };
  }
  const found = issues.find(({ number }) => url.pathname.endsWith(`/${number}`));
  if (found === undefined) return NOT_FOUND;
  found.body = String(body[text]);
  if (/^close/.test(String(body[state]))) found.isOpen = false;
  return { status: 200, json: shown(found) };
}
