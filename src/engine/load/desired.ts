import type { JsonObject } from "../../contract/json.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { InvalidManifest } from "../../core/invalid-manifest.ts";
import type { Identity } from "../../core/manifest.ts";
import type { SourceManifest } from "../../manifests/source-manifest.ts";
import type { OwnHistory } from "./own-history.ts";

/** The desired state, as the source declares it. */
export type Desired = {
  readonly revision: string | null;
  /** The commit that the source differs from, and the number of differing files; absent without a difference. */
  readonly changedSince?: { readonly commit: string; readonly files: number };
  /** The files that differ from that commit, as reports name them; absent where it is not known which ones do. */
  readonly uncommitted?: ReadonlySet<string>;
  /** The branch of the work tree; absent where it is on none. */
  readonly branch?: string;
  /** The selected manifests and their references, each after its references. */
  readonly manifests: readonly SourceManifest[];
  /** Those that the selection does not name itself: others refer to them; absent where everything is named. */
  readonly onlyReferredTo?: ReadonlySet<Identity>;
  /** Depth of each manifest in the reference graph, from 0. */
  readonly waves: ReadonlyMap<Identity, number>;
  /** Every identity that the whole source declares. */
  readonly declared: ReadonlySet<Identity>;
  readonly invalid: ReadonlySet<Identity>;
  /** The selected manifests that are refused. */
  readonly refused: readonly InvalidManifest[];
  /** The refused manifests of the whole source that do not say what they declare. */
  readonly nameless: readonly InvalidManifest[];
  /** Whether `manifests` is the whole source; orphans are found only then. */
  readonly isWhole: boolean;
  /** The number of resources that are assumed to be in sync and not read; absent where all are read. */
  readonly outOfScope?: number;
  readonly base: ReadonlyMap<Identity, JsonObject> | null;
  /** Manifests at the last applied commit, from a ref of the repository; null without one. */
  readonly applied: ReadonlyMap<Identity, JsonObject> | null;
  /** The identities that other targets of the control plane declare; null where there is no other target. */
  readonly declaredElsewhere: (() => Promise<ReadonlySet<Identity>>) | null;
  /** What the repository tells of resources that the ledger does not know; null where the commit is not known. */
  readonly history: OwnHistory | null;
  readonly diagnostics: readonly Diagnostic[];
};
