import type { JsonObject } from "../../src/contract/json.ts";
import { model, prompt } from "./registry.ts";
import { service } from "./service.ts";

/** Number of manifests in one block: a cluster with everything that lives in it. */
export const BLOCK = 100;

/** The secrets that services refer to, in the form of operation 4. */
export const secretGroup = {
  name: "bench",
  integrationId: "builtin",
  secrets: ["database-password", "api-key", "tls-key"].map((key) => ({ key, value: `bench-only-${key}` })),
};

/** The nth block, from 0: each manifest refers only to earlier ones, so every prefix of it stands alone. */
export function block(nth: number): readonly JsonObject[] {
  const id = String(nth).padStart(5, "0");
  const make = (count: number, build: (id: string, index: number) => JsonObject) =>
    Array.from({ length: count }, (_, index) => build(id, index));
  return [
    cluster(id),
    repo(id),
    ...make(6, team),
    ...make(10, workspace),
    ...make(59, service),
    ...make(8, account),
    ...make(8, model),
    ...make(7, prompt),
  ];
}

function cluster(id: string): JsonObject {
  const domain = `c${id}.bench.example`;
  return {
    type: "cluster",
    name: `cluster-${id}`,
    cluster_type: "generic",
    environment_names: ["staging", "production"],
    base_domains: [`*.${domain}`],
    monitoring: { metrics_url: `https://metrics.${domain}`, logs_backend_a_url: `https://logs.${domain}` },
    workbench_config: {
      notebook_config: { base_domain: `notebooks.${domain}` },
      ssh_server_config: { base_domain: `ssh.${domain}`, port: 2222 },
      default_storage_class: "standard",
    },
    ingress_controller_config: { ingress_class_name: "nginx", tls_enabled: true },
    supported_nodepools: ["general", "memory", "gpu"].map((name) => ({ name, description: `Nodes for ${name} work` })),
    node_label_keys: { nodepool_selector_label: "example.com/nodepool" },
    collaborators: [{ subject: `user:platform-${id}@bench.example`, role_id: "cluster-admin" }],
    ownedBy: { account: "bench" },
  };
}

function repo(id: string): JsonObject {
  return {
    type: "ml-repo",
    name: `repo-${id}`,
    description: `Models and prompts of block ${id}, kept together so that they are reviewed together`,
    collaborators: [{ subject: `user:ml-${id}@bench.example`, role_id: "ml-repo-editor" }],
  };
}

function team(id: string, index: number): JsonObject {
  const people = Array.from({ length: 24 }, (_, person) => `person-${person * 7 + index}-${id}@bench.example`);
  return {
    type: "team",
    name: `team-${id}-${index}`,
    managers: people.slice(0, 2),
    members: people,
    ownedBy: { account: "bench" },
  };
}

function workspace(id: string, index: number): JsonObject {
  return {
    type: "workspace",
    name: `ws-${id}-${index}`,
    cluster_fqn: `cluster-${id}`,
    environment_name: index % 2 === 0 ? "staging" : "production",
    labels: { area: `area-${index}`, "cost-center": `cc-${1000 + index}`, tier: index < 3 ? "gold" : "silver" },
    annotations: { "example.com/runbook": `https://runbooks.bench.example/${id}/${index}` },
    collaborators: [
      { subject: `team:team-${id}-${index % 6}`, role_id: "workspace-editor" },
      { subject: `team:team-${id}-${(index + 1) % 6}`, role_id: "workspace-viewer" },
      { subject: `user:owner-${index}-${id}@bench.example`, role_id: "workspace-admin" },
    ],
    ownedBy: { account: "bench" },
  };
}

function account(id: string, index: number): JsonObject {
  const grants = Array.from({ length: 8 }, (_, nth) => ({
    resource_fqn: `cluster-${id}:ws-${id}-${(index + nth) % 10}`,
    resource_type: "workspace",
    role_id: nth === 0 ? "workspace-editor" : "workspace-viewer",
  }));
  return {
    type: "virtual-account",
    name: `account-${id}-${index}`,
    permissions: grants,
    auto_rotate: { auto_rotate_interval: 90, grace_period: 7 },
    notification_target: {
      type: "email",
      notification_channel: "platform-mail",
      to_emails: [`oncall-${id}@bench.example`],
    },
    ownedBy: { account: "bench", team: `team-${id}-${index % 6}` },
  };
}
