import { type FakeForge, forgeFacts, startGitHub, startGitLab } from "./fake-forge.ts";
import type { Server } from "./server.ts";

/** The service whose live is changed. */
export const API = "service/dev:web/api";
/** A service with comments and an order of its own, which a proposal keeps. */
export const api = (replicas: number, more = ""): string => `# The interface.
type: service
name: api
workspace_fqn: dev:web
replicas: ${replicas} # of this environment
image:
  type: image
  image_uri: registry.example.com/api:1.0.0
ports:
  - port: 8080
${more}`;

/** Changes a service behind git's back. */
export async function change(
  { call }: Pick<Server, "call">,
  fields: { readonly [field: string]: unknown },
): Promise<void> {
  await call("PUT", "/api/svc/v1/apps", {
    manifest: {
      type: "service",
      name: "api",
      workspace_fqn: "dev:web",
      image: { type: "image", image_uri: "registry.example.com/api:1.0.0" },
      ports: [{ port: 8080 }],
      ...fields,
    },
  });
}

/** The environment of a job of GitHub Actions. */
export function github({ apiUrl }: FakeForge) {
  return {
    GITHUB_ACTIONS: "true",
    GITHUB_REPOSITORY: forgeFacts.repository,
    GITHUB_API_URL: apiUrl,
    GITHUB_TOKEN: forgeFacts.token,
  };
}

/** The environment of a job of GitLab CI. */
export function gitlab({ apiUrl }: FakeForge) {
  return {
    GITLAB_CI: "true",
    CI_API_V4_URL: apiUrl,
    CI_PROJECT_PATH: forgeFacts.repository,
    GITLAB_TOKEN: forgeFacts.token,
  };
}

/** Both forges, with the environment of their jobs. */
export const forges = [
  { name: "GitHub", start: startGitHub, env: github },
  { name: "GitLab", start: startGitLab, env: gitlab },
] as const;

/** How many requests a forge got that write. */
export function writesOf({ requests }: FakeForge): number {
  return requests.filter((one) => !one.startsWith("GET") && !one.endsWith("/graphql")).length;
}
