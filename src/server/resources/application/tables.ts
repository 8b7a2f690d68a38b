import type { Application, Deployment } from "../../../contract/resources.ts";
import type { ResourceRow } from "../../database/tables.ts";

/** An application as it is kept: a list adds its newest deployment. */
export type ApplicationRow = Omit<Application, "deployment">;

/** A deployment as it is kept: a reply adds its application. */
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
      /** 1 once the rollout is over, 0 before. */
      readonly is_over: number;
      /** When the rollout is to be looked at again, in epoch milliseconds; null when nothing is expected. */
      readonly look_at: number | null;
    };
  }
}
