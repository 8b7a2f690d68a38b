import type { Diagnostic } from "../core/diagnostic.ts";
import type { WriteRefusal } from "../core/guards/write-refusal.ts";
import type { TargetGates } from "./gates/gate-access.ts";
import type { Desired } from "./load/desired.ts";
import type { DesiredRead } from "./load.ts";
import type { Run } from "./run.ts";
import type { DriftProposer, Holds, TargetConnection } from "./target.ts";

/** A pass with its source read and its server connected. */
export type Pass = {
  readonly connection: TargetConnection;
  readonly read: DesiredRead;
  /** The part of the source to reconcile; null for everything selected. */
  readonly part: Desired | null;
  readonly run: Run;
  readonly holds: Holds;
  /** Proposes for git what was changed in live; null where that is written back. */
  readonly drift: DriftProposer | null;
  /** Called before the first write. */
  readonly onWrites: () => Promise<void>;
  /** Why nothing may be written now; null while writes are allowed. */
  readonly writeRefusal: () => WriteRefusal | null;
  /** The gates of prompts and models; null if the target has none. */
  readonly gates: TargetGates | null;
  /** The warnings about the run so far. */
  readonly warnings: () => readonly Diagnostic[];
};
