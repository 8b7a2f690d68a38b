/** Files of a source. */
export type Files = { readonly [file: string]: string };

/** What has to be there before services, prompts and models can be. */
export const foundations: Files = {
  "platform/cluster.yaml": "type: cluster\nname: dev\ncluster_type: generic\n",
  "platform/workspace.yaml": "type: workspace\nname: web\ncluster_fqn: dev\n",
  "platform/repo.yaml": "type: ml-repo\nname: registry\n",
};

/** A service in the foundations' workspace; `more` are further lines of it. */
export function service(name: string, more = ""): string {
  return `type: service
name: ${name}
workspace_fqn: dev:web
image:
  type: image
  image_uri: registry.example.com/${name}:1.0.0
ports:
  - port: 8080
${more}`;
}

/** A prompt in the foundations' repo. */
export function prompt(name: string, content: string): string {
  return `type: chat_prompt
name: ${name}
ml_repo: registry
messages:
  - role: system
    content: ${content}
`;
}

/** A model version in the foundations' repo. */
export function model(name: string, more = ""): string {
  return `type: model-version
name: ${name}
ml_repo: registry
source:
  type: external
  uri: s3://example-models/${name}
${more}`;
}

/** A virtual account that may read the foundations' workspace. */
export function account(name: string): string {
  return `type: virtual-account
name: ${name}
permissions:
  - { resource_fqn: "dev:web", resource_type: workspace, role_id: workspace-viewer }
`;
}

/** A team of one. */
export function team(name: string, member = "ada@example.com"): string {
  return `type: team\nname: ${name}\nmembers: [${member}]\n`;
}

/** One resource of every kind. */
export const everyKind: Files = {
  ...foundations,
  "services/api.yaml": service("api", "replicas: 2\n"),
  "team.yaml": team("ml"),
  "account.yaml": account("ci"),
  "registry/prompt.yaml": prompt("greeting", "Be kind."),
  "registry/model.yaml": model("ranker"),
};
