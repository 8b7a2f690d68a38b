import type { ForgeStatus } from "./forge.ts";

/** The repository whose commit statuses are written. */
export type StatusPlace = {
  readonly provider: "github" | "gitlab";
  readonly apiUrl: string;
  /** The path of the repository on its host, such as `ml/platform`. */
  readonly repository: string;
};

/** Derives the place of commit statuses from a repository's address; null if the address names no host or path. */
export function statusPlace(provider: StatusPlace["provider"], url: string, apiUrl: string | null): StatusPlace | null {
  const [, host = "", path = ""] =
    /^(?:[a-z]+:\/\/)?(?:[^@/]+@)?([^/:]+)(?::\d+(?=\/))?[/:](.+?)(?:\.git)?\/?$/.exec(url) ?? [];
  if (host === "" || path === "") return null;
  return {
    provider,
    apiUrl: (apiUrl ?? apiOf(provider, host)).replace(/\/+$/, ""),
    repository: path.replace(/^\/+/, ""),
  };
}

function apiOf(provider: StatusPlace["provider"], host: string): string {
  if (provider === "gitlab") return `https://${host}/api/v4`;
  return host === "github.com" ? "https://api.github.com" : `https://${host}/api/v3`;
}

// GitHub's limit.
const MAX_DESCRIPTION = 140;

/** A commit status in the form of GitHub's API. */
export function githubStatus({ name, state, description }: ForgeStatus): object {
  return { state, context: name, description: description.slice(0, MAX_DESCRIPTION) };
}

/** A commit status in the form of GitLab's API. */
export function gitlabStatus({ name, state, description }: ForgeStatus): object {
  return {
    state: state === "failure" ? "failed" : state,
    name,
    description: description.slice(0, MAX_DESCRIPTION),
  };
}

/** The request that writes a status. */
export function statusRequest({ provider, apiUrl, repository }: StatusPlace, token: string, status: ForgeStatus) {
  const json = { "content-type": "application/json", "user-agent": "holdfast" };
  if (provider === "github") {
    return {
      address: `${apiUrl}/repos/${repository.split("/").map(encodeURIComponent).join("/")}/statuses/${status.commit}`,
      headers: { ...json, accept: "application/vnd.github+json", authorization: `Bearer ${token}` },
      body: JSON.stringify(githubStatus(status)),
      hasToken: true,
    };
  }
  return {
    address: `${apiUrl}/projects/${encodeURIComponent(repository)}/statuses/${status.commit}`,
    headers: { ...json, "private-token": token },
    body: JSON.stringify(gitlabStatus(status)),
    hasToken: true,
  };
}
