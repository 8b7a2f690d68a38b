import type { Secret } from "../../contract/secret.ts";
import type { ContentGate, GateReceipt } from "../../core/gates/content-gate.ts";
import type { Identity } from "../../core/manifest.ts";
import type { ReadAccess } from "../session.ts";

/** Where the evidence of gates is read: the registry and the jobs of a control plane. */
export type GateRegistry = Pick<ReadAccess, "reader"> & {
  /** The id of an application in the ledger, for a control plane that lists none; null if it is not recorded. */
  readonly recordedId: (identity: Identity) => string | null;
};

/** The gates of a target, and what they are asked with. */
export type TargetGates = {
  readonly gates: readonly ContentGate[];
  /** The control plane of another target; it fails if there is no such target. */
  readonly registryOf: (target: string) => Promise<GateRegistry>;
  /** Reads the key that signs requests; read for each request, because the operator may replace the file. */
  readonly readSecret: (file: string) => Secret;
  /** Stores receipts durably. */
  readonly keep: (receipts: readonly GateReceipt[]) => Promise<void>;
};
