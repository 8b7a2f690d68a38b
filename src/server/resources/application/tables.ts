import type { Application, Deployment } from "../../../contract/generated/resources.ts";
import type { ResourceRow } from "../../database/tables.ts";

/** An application as stored: a list adds its newest deployment. */
export type ApplicationRow = Omit<Application, "deployment">;

/** A deployment as stored: a reply adds its application. */
export type DeploymentRow = Omit<Deployment, "application">;

declare module "../../database/tables.ts" {
  interface Tables {
    readonly applications: ResourceRow<ApplicationRow> & {
      readonly fqn: string;
      readonly name: string;
      readonly type: string;
      readonly workspace_id: string;
      readonly last_deployment_id: string;
      readonly active_deployment_id: string | null;
    };
    readonly deployments: ResourceRow<DeploymentRow> & {
      readonly application_id: string;
      readonly version: number;
      /** 1 when the rollout has ended, else 0. */
      readonly is_over: number;
      /** When the rollout is due again, in epoch milliseconds; null when it has ended. */
      readonly look_at: number | null;
    };
  }
}
