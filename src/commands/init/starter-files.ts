// src/commands/init: the files that a new source begins with. See docs/architecture.md#source-folders.

import { EDITOR_SCHEMA_FILE, editorSchemaText, modeline } from "../../schema/editor-schema.ts";

/** What a new source begins with. */
export type Starter = {
  /** The workspace of the first service as `cluster:workspace`; null to declare a cluster and a workspace of its own. */
  readonly workspace: string | null;
  /** The name of the first service. */
  readonly service: string;
};

/** A file to write, by its path below the source. */
export type NewFile = { readonly path: string; readonly text: string; readonly isExecutable?: boolean };

/** The workspace that is declared, with its cluster, where none is named. */
const OWN_WORKSPACE = "dev:web";

/** The files of a new source besides its manifests, the configuration first. */
export function sourceFiles(): readonly NewFile[] {
  return [
    { path: "holdfast.yaml", text: CONFIGURATION },
    { path: ".gitignore", text: "# Records, tokens and data of the embedded control plane\n.holdfast/\n" },
    { path: EDITOR_SCHEMA_FILE, text: editorSchemaText() },
  ];
}

/** The first manifests of a source that begins with nothing. */
export function starterManifests({ workspace, service }: Starter): readonly NewFile[] {
  const [cluster = "", name = ""] = (workspace ?? OWN_WORKSPACE).split(":");
  const below = `${cluster}/${name}`;
  return [
    ...(workspace === null ? [manifest(`${cluster}/cluster.yaml`, clusterText(cluster))] : []),
    manifest(`${below}/workspace.yaml`, workspaceText(cluster, name)),
    manifest(`${below}/${service}.yaml`, serviceText(`${cluster}:${name}`, service)),
  ];
}

const CONFIGURATION = `# What of this repository Holdfast reads, and how. Every key: docs/schemas.md of Holdfast.
# Where the control plane is, and the token, come from flags, HOLDFAST_… variables, or a file outside of this repository.
paths: [manifests]

# Fields that something else changes, such as an autoscaler, are compared with nothing and kept as they are:
# ignore:
#   - { path: /replicas, match: "service/*:*/*", reason: autoscaled }

# What is declared elsewhere, and only referred to here:
# external: ["workspace/dev:shared"]

# The workspace of applications that name none:
# defaults: { workspace_fqn: "dev:web" }

# What needs consent beyond the defaults, such as removing a secret:
# guards: { secret-removed: refuse }
`;

function manifest(path: string, text: string): NewFile {
  const up = "../".repeat(path.split("/").length);
  return { path: `manifests/${path}`, text: modeline(`${up}${EDITOR_SCHEMA_FILE}`) + text };
}

function clusterText(name: string): string {
  return `type: cluster
name: ${name}
cluster_type: generic
`;
}

function workspaceText(cluster: string, name: string): string {
  return `type: workspace
name: ${name}
cluster_fqn: ${cluster}
# Who may do what here, such as:
# collaborators:
#   - { subject: "team:ranking", role_id: workspace-admin }
`;
}

function serviceText(workspace: string, name: string): string {
  return `type: service
name: ${name}
workspace_fqn: ${workspace}
image:
  type: image
  image_uri: docker.io/library/nginx:1.29
resources:
  cpu_request: 0.1
  cpu_limit: 0.5
  memory_request: 128
  memory_limit: 256
ports:
  - port: 80
replicas: 1
`;
}
