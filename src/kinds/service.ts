import type { ServiceManifest } from "../contract/generated/manifests.ts";
import type { Application, Deployment } from "../contract/resources.ts";
import { defineKind, type Kind, type LiveRow } from "../core/kind.ts";

/** A service. Live is the manifest of its newest deployment, however that deployment fares. */
export const kind: Kind = defineKind<ServiceManifest>({
  type: "service",
  key: (manifest) => `${manifest.workspace_fqn}/${manifest.name}`,
  group: (key) => key.slice(0, key.indexOf("/")),
  references: (manifest) => [{ identity: `workspace/${manifest.workspace_fqn}`, pointer: "/workspace_fqn" }],
  list: {
    operation: "listApps",
    query: { applicationType: "service" },
    narrow: (key) => ({ fqn: key.replace("/", ":") }),
    row: applicationRow,
  },
  single: {
    operation: "listDeployments",
    idFrom: ({ applicationId }: { applicationId?: string | null }) => applicationId || null,
    row: deploymentRow,
  },
  write: [{ operation: "putApp", rehearsal: "putApp", row: deploymentRow }],
  rollsOut: true,
});

function applicationRow({ id, type, deployment, workspaceFqn, name }: Application): LiveRow | null {
  // Without the member it is not known whether there is one, and absent would mean to deploy it again.
  if (deployment === undefined) throw new TypeError("the list does not carry the newest deployments");
  if (type !== "service" || deployment === null) return null;
  return { ...deploymentRow(deployment), key: `${workspaceFqn}/${name}`, id };
}

function deploymentRow(deployment: Deployment): LiveRow {
  const { id, applicationId, application, manifest, version, currentStatus, createdAt, createdBySubject } = deployment;
  return {
    key: kind.key({ workspace_fqn: application?.workspaceFqn ?? null, ...manifest }),
    id: applicationId || null,
    manifest,
    version,
    stamp: id,
    madeAt: createdAt,
    madeBy: createdBySubject?.subjectId,
    status: currentStatus,
  };
}
