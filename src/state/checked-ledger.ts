/** The content of a ledger for one server. */
export type ServerContent = {
  readonly server: string;
  readonly resources: number;
  /** Writes whose outcome is still unknown. */
  readonly pending: number;
};

/** The content of a ledger that was read completely and is intact. */
export type LedgerContent = {
  /** `older`: the next command that writes upgrades it, after a backup in the same folder. */
  readonly schema: "current" | "older";
  readonly servers: readonly ServerContent[];
};

/** A ledger of a state: its content, or the reason why it cannot be used. */
export type CheckedLedger = { readonly target: string | null } & (
  | { readonly content: LedgerContent }
  | { readonly error: unknown }
);
