import type { Secret } from "../../contract/secret.ts";
import type { ContentGate, GateReceipt } from "../../core/gates/content-gate.ts";
import type { JobRegistry } from "../job-runs.ts";

/** Where the evidence of gates is read: the registry and the jobs of a control plane. */
export type GateRegistry = JobRegistry;

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
