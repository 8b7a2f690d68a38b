import { equal, type JsonObject } from "../../contract/json.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import { operations } from "../../contract/operations.ts";
import { contentOf } from "../../core/diff/compared-content.ts";
import { differences } from "../../core/diff/differences.ts";
import type { Kind, LiveRow } from "../../core/kind.ts";
import type { Live } from "../../core/live.ts";
import type { Intent } from "../../state/ledger.ts";

/** What live shows of a write whose outcome is unknown. */
export type WriteEffect =
  | { readonly effect: "there"; readonly row: LiveRow }
  | { readonly effect: "not-there" }
  /** A version was created since, but with other content: another user's, or ours rewritten by the server. */
  | { readonly effect: "other" }
  | { readonly effect: "unreadable" };

/** Decides from live whether an intent took effect: a newer version, or content equal to what was sent. */
export function verifyWrite(kind: Kind, shape: Shape, intent: Intent, live: Live): WriteEffect {
  if (live.state === "unknown") return { effect: "unreadable" };
  if (live.state === "absent") return { effect: "not-there" };
  const { row } = live;
  const { versionBefore, operation } = intent;
  const wasThere = versionBefore !== null && row.version !== undefined && row.version <= versionBefore;
  // Versions of prompts and models change in place too, in the fields that are not their content.
  if (wasThere && !kind.hasVersions) return { effect: "not-there" };
  if (hasContentOf(kind, shape, intent.manifest, row.manifest)) return { effect: "there", row };
  return wasThere || operations[operation].retry !== "version" ? { effect: "not-there" } : { effect: "other" };
}

/** Whether live has everything that was sent; the server's additions do not matter. */
export function hasContentOf(kind: Kind, shape: Shape, written: JsonObject, live: JsonObject): boolean {
  const [sent, found] = [contentOf(kind, shape, written), contentOf(kind, shape, live)];
  if (equal(sent, found)) return true;
  return differences(shape, sent, found).every(({ before }) => before === undefined);
}
