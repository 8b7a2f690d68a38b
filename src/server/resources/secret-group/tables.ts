import type { SecretGroup, SecretResource } from "../../../contract/generated/resources.ts";
import type { ResourceRow } from "../../database/tables.ts";

/** A secret group as stored: a reply adds its secrets. */
export type SecretGroupRow = Omit<SecretGroup, "associatedSecrets">;

/** A secret as stored: a reply adds the number of uses, or its value. */
export type SecretRow = Omit<SecretResource, "activeDeploymentsCount" | "value">;

declare module "../../database/tables.ts" {
  interface Tables {
    readonly secret_groups: ResourceRow<SecretGroupRow> & { readonly name: string; readonly fqn: string };
    readonly secrets: ResourceRow<SecretRow> & {
      readonly group_id: string;
      readonly name: string;
      readonly fqn: string;
      /** The virtual account whose token this is; null for other secrets. */
      readonly account: string | null;
    };
    /** One row for each secret that a deployment refers to. */
    readonly secret_uses: { readonly deployment_id: string; readonly secret_fqn: string };
    /** Values, sealed (base64) with `secret:<secret id>:<version>` as associated data. */
    readonly secret_versions: {
      readonly id: string;
      readonly secret_id: string;
      readonly version: number;
      readonly sealed: string;
      readonly created_at: string;
    };
  }
}
