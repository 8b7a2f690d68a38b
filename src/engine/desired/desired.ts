import type { JsonObject } from "../../contract/json.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { Identity } from "../../core/manifest.ts";
import type { SourceManifest } from "../../manifests/source-manifest.ts";

/** The desired state, as the source declares it. */
export type Desired = {
  readonly revision: string | null;
  /** The commit that the source differs from, and in how many files; left out where it differs from none. */
  readonly changedSince?: { readonly commit: string; readonly files: number };
  /** The branch of the work tree; left out where it is on none. */
  readonly branch?: string;
  /** The selected manifests with all that they refer to, each after that. */
  readonly manifests: readonly SourceManifest[];
  /** Depth of each manifest in the reference graph, from 0. */
  readonly waves: ReadonlyMap<Identity, number>;
  /** Every identity that the whole source declares. */
  readonly declared: ReadonlySet<Identity>;
  readonly invalid: ReadonlySet<Identity>;
  /** Whether `manifests` is the whole source: only then do orphans show. */
  readonly isWhole: boolean;
  /** How many resources are in sync as far as anybody knows, and are not looked at; absent where none is passed over. */
  readonly outOfScope?: number;
  readonly base: ReadonlyMap<Identity, JsonObject> | null;
  /** Manifests at the commit that was applied last, as the repository tells; null where it does not. */
  readonly applied: ReadonlyMap<Identity, JsonObject> | null;
  readonly diagnostics: readonly Diagnostic[];
};
