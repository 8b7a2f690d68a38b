import type { VirtualAccount } from "../../../contract/resources.ts";
import type { ResourceRow } from "../../database/tables.ts";

/** A virtual account as it is kept: whether it is expired depends on the moment. */
export type AccountRow = Omit<VirtualAccount, "isExpired">;

declare module "../../database/tables.ts" {
  interface Tables {
    readonly virtual_accounts: ResourceRow<AccountRow> & {
      readonly name: string;
      /** The last day on which it is valid (`yyyy-mm-dd`), null without end. */
      readonly expires_on: string | null;
      /** When its token is to be replaced, in epoch milliseconds; null when we replace none. */
      readonly rotate_at: number | null;
    };
    /**
     * Tokens of virtual accounts: one whose id is not here is void, and so is a replaced one once `valid_until` (epoch
     * milliseconds) has come.
     */
    readonly jwts: {
      readonly id: string;
      readonly account_id: string;
      readonly created_at: string;
      readonly valid_until: number | null;
      /** The signing key that vouches for it. */
      readonly kid: string | null;
    };
  }
}
