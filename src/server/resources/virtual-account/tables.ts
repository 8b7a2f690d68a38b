import type { VirtualAccount } from "../../../contract/generated/resources.ts";
import type { ResourceRow } from "../../database/tables.ts";

/** A virtual account as stored: a reply adds whether it is expired. */
export type AccountRow = Omit<VirtualAccount, "isExpired">;

declare module "../../database/tables.ts" {
  interface Tables {
    readonly virtual_accounts: ResourceRow<AccountRow> & {
      readonly name: string;
      /** The last day on which it is valid (`yyyy-mm-dd`); null when it never expires. */
      readonly expires_on: string | null;
      /** When its token is due for rotation, in epoch milliseconds; null when it is not rotated. */
      readonly rotate_at: number | null;
    };
    /**
     * Valid tokens of virtual accounts: any other id is invalid, and a replaced token after `valid_until` (epoch
     * milliseconds).
     */
    readonly jwts: {
      readonly id: string;
      readonly account_id: string;
      readonly created_at: string;
      readonly valid_until: number | null;
      /** The key that signed it. */
      readonly kid: string | null;
    };
  }
}
