// src/commands/configuration: the operator's configuration and the files that it names. See docs/operations.md#changed-configuration.

import { resolve } from "node:path";
import { isObject, type Json } from "../../contract/json.ts";
import { HoldfastError } from "../../core/errors.ts";
import { readGivenText, whyUnreadable } from "../../files/read-given-file.ts";
import type { Forge, ForgePlace, PullRequestHead } from "../../forge/forge.ts";
import { type StatusPlace, statusPlace } from "../../forge/status-request.ts";
import { isSentInClear } from "../../http/loopback.ts";
import type { OperatorConfig } from "../../source/read-config.ts";
import { type Invocation, missingFlags } from "../command.ts";
import { readJsonFile } from "../input/read-json-file.ts";
import type { Terminal } from "../terminal.ts";

/** The forge, repository and pull request of a comment, from flags and the environment of the CI job. */
export type ForgeChoice = Omit<ForgePlace, "clock" | "signal"> & {
  readonly forge: "github" | "gitlab";
  /** The pull request: its number, or its head if the job's event has no number; null if neither is known. */
  readonly pullRequest: { readonly number: number } | { readonly head: PullRequestHead } | null;
  /** The commit of the job; null if the environment does not name it. */
  readonly revision: string | null;
};

/**
 * Chooses the forge, the repository and the pull request; the job's environment fills in what the flags leave out. A drift
 * report belongs to no pull request.
 */
export function chooseForge(invocation: Invocation, { isDrift }: { readonly isDrift: boolean }): ForgeChoice {
  const {
    flags,
    terminal: { env, cwd },
  } = invocation;
  const { forge, job, repository } = named(invocation);
  if (forge === null || job === null || repository === undefined) throw missingChoice(invocation, { isDrift });
  const apiUrl = requireSecure(flags.apiUrl ?? job.apiUrl ?? defaults[forge]);
  const token = tokenOf(flags.forgeTokenFile, forge, env, cwd);
  const pullRequest = flags.pullRequest === undefined ? job.pullRequest : { number: flags.pullRequest };
  return { forge, repository, apiUrl, token, pullRequest, revision: flags.revision ?? job.revision };
}

/** The pull request that a plan is about, as far as flags and the CI job tell: no token is needed for it. */
export function pullRequestOf(
  invocation: Invocation,
  found: number | null,
): Pick<ForgeChoice, "forge" | "repository" | "revision"> & { readonly number: number; readonly url: string | null } {
  const { flags } = invocation;
  const { forge, job, repository } = named(invocation);
  const known = job?.pullRequest ?? null;
  const number = flags.pullRequest ?? found ?? (known !== null && "number" in known ? known.number : null);
  const needed = {
    ...{ "--forge github|gitlab": forge ?? undefined, "--repository OWNER/NAME": repository },
    "--pull-request NUMBER": number ?? undefined,
  };
  if (forge === null || repository === undefined || number === null)
    throw missingFlags(needed, "name what the CI job does not tell, so that the plan can be sent");
  const apiUrl = flags.apiUrl ?? job?.apiUrl ?? defaults[forge];
  const url = pullRequestUrl({ forge, apiUrl, repository, number });
  return { forge, repository, number, url, revision: flags.revision ?? job?.revision ?? null };
}

/** The page of a pull request, by the API of its forge; null where that does not tell it. */
function pullRequestUrl({
  forge,
  apiUrl,
  repository,
  number,
}: {
  readonly forge: ForgeChoice["forge"];
  readonly apiUrl: string;
  readonly repository: string;
  readonly number: number;
}): string | null {
  const api = URL.parse(apiUrl);
  // A repository of GitLab may be named by its number.
  if (api === null || !repository.includes("/")) return null;
  const path = repository.split("/").map(encodeURIComponent).join("/");
  if (forge === "gitlab") {
    // It may be served below a path.
    const root = api.pathname.replace(/(?:\/api\/v4)?\/*$/, "");
    return `${api.origin}${root}/${path}/-/merge_requests/${number}`;
  }
  const origin = apiUrl.startsWith(defaults.github) ? "https://github.com" : api.origin;
  return `${origin}/${path}/pull/${number}`;
}

/** Chooses the forge and the repository of a pull request: flags before the followed repository before the job. */
export function chooseRepository(
  invocation: Invocation,
  source: ForgeRepository | null,
): Omit<ForgePlace, "clock" | "signal"> & Pick<ForgeChoice, "forge"> {
  const {
    flags,
    terminal: { env, cwd },
  } = invocation;
  const known = flags.repository === undefined && flags.forge === undefined ? source : null;
  const { forge: ofJob, job, repository: path } = named(invocation);
  const [forge, repository] = [known?.provider ?? ofJob, known?.repository ?? path];
  if (forge === null || repository === undefined) {
    const needed = { "--forge github|gitlab": forge ?? undefined, "--repository OWNER/NAME": repository };
    throw missingFlags(needed, "name what neither the target's source nor the CI job tells, or use --dry-run");
  }
  const apiUrl = requireSecure(flags.apiUrl ?? known?.apiUrl ?? job?.apiUrl ?? defaults[forge]);
  const isGiven = flags.forgeTokenFile !== undefined || env.HOLDFAST_FORGE_TOKEN;
  const file = flags.forgeTokenFile ?? (isGiven ? undefined : (known?.tokenFile ?? undefined));
  return { forge, repository, apiUrl, token: tokenOf(file, forge, env, cwd) };
}

/** The repository that a source follows, and the token with which its commit statuses are written. */
export type ForgeRepository = StatusPlace & { readonly tokenFile: string | null };

/** The repository of a source on its forge; null if the address of the source does not tell. */
export function forgeRepository(source: NonNullable<OperatorConfig["sources"]>[number]): ForgeRepository | null {
  const { provider, tokenFile = null, apiUrl = null } = source.commitStatus ?? {};
  const host = /^(?:[a-z]+:\/\/)?(?:[^@/]+@)?([^/:]+)/.exec(source.url)?.[1] ?? "";
  const known = host === "github.com" ? "github" : host === "gitlab.com" ? "gitlab" : null;
  const forge = provider ?? known;
  const place = forge === null ? null : statusPlace(forge, source.url, apiUrl);
  return place && { ...place, tokenFile };
}

function requireSecure(url: string): string {
  const apiUrl = url.replace(/\/+$/, "");
  if (/^https?:\/\//.test(apiUrl) && !isSentInClear(apiUrl)) return apiUrl;
  throw lacking("a token is sent over https alone, or to this machine", "give the API's address as https://…");
}

/** Opens a forge; its code is loaded here, so that other commands do not load it. */
export async function openForge(
  { forge, ...place }: Omit<ForgePlace, "clock" | "signal"> & Pick<ForgeChoice, "forge">,
  { clock, stopping: signal }: Pick<Terminal, "clock" | "stopping">,
): Promise<Forge> {
  if (forge === "gitlab") return (await import("../../forge/gitlab.ts")).createGitLab({ ...place, clock, signal });
  return (await import("../../forge/github.ts")).createGitHub({ ...place, clock, signal });
}

/** The error for a comment of which something is not named: it names all of that. */
export function missingChoice(invocation: Invocation, { isDrift }: { readonly isDrift: boolean }): HoldfastError {
  const { forge, job, repository } = named(invocation);
  const [plan] = invocation.args;
  const needed = {
    ...{ "<plan>": plan, "--forge github|gitlab": forge ?? undefined, "--repository OWNER/NAME": repository },
    ...(isDrift ? {} : { "--pull-request NUMBER": invocation.flags.pullRequest ?? job?.pullRequest ?? undefined }),
  };
  const hint = "name what the CI job does not tell; a token comes from --forge-token-file or HOLDFAST_FORGE_TOKEN";
  return missingFlags(needed, hint);
}

function named({ flags, terminal: { env } }: Invocation) {
  const forge = flags.forge ?? (env.GITLAB_CI ? "gitlab" : env.GITHUB_ACTIONS ? "github" : null);
  const job = forge === null ? null : forge === "github" ? githubJob(env) : gitlabJob(env);
  return { forge, job, repository: (flags.repository ?? job?.repository) || undefined };
}

type Job = {
  readonly pullRequest: ForgeChoice["pullRequest"];
  readonly revision: string | null;
  readonly repository: string | undefined;
  readonly apiUrl: string | undefined;
};

const defaults = { github: "https://api.github.com", gitlab: "https://gitlab.com/api/v4" } as const;
const MAX_EVENT_BYTES = 16 * 1024 * 1024;

function githubJob({ GITHUB_REPOSITORY, GITHUB_API_URL, GITHUB_EVENT_PATH, GITHUB_SHA }: Terminal["env"]): Job {
  const event = GITHUB_EVENT_PATH
    ? readJsonFile(GITHUB_EVENT_PATH, MAX_EVENT_BYTES, (why) =>
        lacking(`the job's event: ${why}`, "name what it is about by flags"),
      )
    : null;
  const about = eventOf(event);
  return {
    repository: GITHUB_REPOSITORY,
    apiUrl: GITHUB_API_URL,
    ...about,
    revision: about.revision ?? GITHUB_SHA ?? null,
  };
}

// The forge writes the event file, so the files of a pull request cannot change it.
function eventOf(event: Json): { readonly pullRequest: ForgeChoice["pullRequest"]; readonly revision: string | null } {
  const { pull_request: pull, workflow_run: run } = isObject(event) ? event : {};
  if (isObject(pull) && isObject(pull.head) && typeof pull.number === "number" && typeof pull.head.sha === "string") {
    return { pullRequest: { number: pull.number }, revision: pull.head.sha };
  }
  const repository = isObject(run) ? run.head_repository : null;
  const owner = isObject(repository) && isObject(repository.owner) ? repository.owner.login : null;
  if (
    isObject(run) &&
    typeof owner === "string" &&
    typeof run.head_branch === "string" &&
    typeof run.head_sha === "string"
  ) {
    const head = { owner, branch: run.head_branch, commit: run.head_sha };
    return { pullRequest: { head }, revision: run.head_sha };
  }
  return { pullRequest: null, revision: null };
}

function gitlabJob(env: Terminal["env"]): Job {
  const iid = Number(env.CI_MERGE_REQUEST_IID);
  const revision = env.CI_MERGE_REQUEST_SOURCE_BRANCH_SHA || env.CI_COMMIT_SHA || null;
  return {
    repository: env.CI_MERGE_REQUEST_PROJECT_PATH || env.CI_PROJECT_PATH,
    apiUrl: env.CI_API_V4_URL,
    pullRequest: Number.isSafeInteger(iid) && iid > 0 ? { number: iid } : null,
    revision,
  };
}

function tokenOf(file: string | undefined, forge: ForgeChoice["forge"], env: Terminal["env"], cwd: string): string {
  const own = forge === "github" ? env.GITHUB_TOKEN : env.GITLAB_TOKEN;
  const token = file === undefined ? env.HOLDFAST_FORGE_TOKEN || own || "" : readToken(file, cwd);
  if (token.trim() !== "") return token.trim();
  throw new HoldfastError("unauthorized", "there is no token for the forge", {
    hint: `give one with --forge-token-file, HOLDFAST_FORGE_TOKEN or ${forge === "github" ? "GITHUB_TOKEN" : "GITLAB_TOKEN"}`,
  });
}

function readToken(file: string, cwd: string): string {
  try {
    return readGivenText(resolve(cwd, file));
  } catch (cause) {
    throw new HoldfastError("invalid", `the token file ${file} ${whyUnreadable(cause)}`, {
      hint: "name a readable file",
      cause,
    });
  }
}

function lacking(message: string, hint: string): HoldfastError {
  return new HoldfastError("invalid", message, { hint });
}
