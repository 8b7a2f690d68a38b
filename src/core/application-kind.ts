import type { Application, Deployment } from "../contract/generated/resources.ts";
import { referenceKinds } from "../model/references.ts";
import { defineKind, type Kind, type KindFor, type LiveRow } from "./kind.ts";
import { authorIn } from "./subject.ts";

/** The fields that every application has. */
type DeclaredApplication = { readonly type: string; readonly name: string; readonly workspace_fqn: string };

/**
 * A kind of application. `putApp` writes it and starts a rollout. Live is the manifest of its newest deployment,
 * whatever that deployment's status.
 */
export function applicationKind<Declared extends DeclaredApplication>(
  type: Declared["type"],
  abilities: Pick<KindFor<Declared>, "hasRuns" | "startsRun" | "hardware"> = {},
): Kind {
  return defineKind<Declared>({
    type,
    sharesNames: "application",
    takesWorkspace: true,
    key: keyOf,
    parent: (key) => `${referenceKinds.fields.workspace_fqn}/${workspaceOf(key)}`,
    group: workspaceOf,
    place: (key) => [...workspaceOf(key).split(":"), key.slice(key.indexOf("/") + 1)],
    list: {
      operation: "listApps",
      query: { applicationType: type },
      narrow: (key) => ({ fqn: key.replace("/", ":") }),
      within: (beginning) => (beginning.endsWith("/") ? { workspaceFqn: beginning.slice(0, -1) } : null),
      row: (application: Application) => applicationRow(application, type),
      anyKind: ({ type, workspaceFqn, name }: Application) => ({
        type,
        key: keyOf({ workspace_fqn: workspaceFqn, name }),
      }),
    },
    single: {
      operation: "listDeployments",
      idFrom: ({ applicationId }: { applicationId?: string | null }) => applicationId || null,
      row: deploymentRow,
    },
    writeRoutes: [{ operation: "putApp", dryRun: "putApp", row: deploymentRow }],
    rollsOut: true,
    ...abilities,
  });
}

function workspaceOf(key: string): string {
  return key.slice(0, key.indexOf("/"));
}

function keyOf({ workspace_fqn, name }: { readonly workspace_fqn?: unknown; readonly name?: unknown }): string {
  return `${workspace_fqn}/${name}`;
}

function applicationRow({ id, type, deployment, workspaceFqn, name }: Application, wanted: string): LiveRow | null {
  // Without this field the application's state is unknown; treating it as absent would deploy it again.
  if (deployment === undefined) throw new TypeError("the list does not carry the newest deployments");
  if (type !== wanted || deployment === null) return null;
  return { ...deploymentRow(deployment), key: keyOf({ workspace_fqn: workspaceFqn, name }), id };
}

function deploymentRow(deployment: Deployment): LiveRow {
  const { id, applicationId, application, manifest, version, currentStatus, createdAt, createdBySubject } = deployment;
  return {
    key: keyOf({ workspace_fqn: application?.workspaceFqn ?? null, ...manifest }),
    id: applicationId || null,
    manifest,
    version,
    stamp: id ?? null,
    createdAt,
    ...authorIn(createdBySubject),
    status: currentStatus ?? null,
  };
}
