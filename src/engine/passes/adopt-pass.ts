// src/engine/passes: what each command does with the phases. See docs/architecture.md#a-pass.

import { HoldfastError } from "../../core/errors.ts";
import type { Identity } from "../../core/manifest.ts";
import type { Recorded } from "../../core/recorded.ts";
import type { RecordsEvent } from "../../core/report/events.ts";
import { kindOf } from "../../kinds/index.ts";
import { createReceipt } from "../apply/receipt.ts";
import { removedToKeep } from "../observe/removed-manifests.ts";
import { EVERYTHING, observe } from "../observe.ts";
import type { Pass } from "../pass.ts";
import { planAgainstLive } from "../plan.ts";
import { readAccessOf } from "../session.ts";
import { type KeptRecord, recordsEvent } from "./records-event.ts";

/** A pass that records the live state of unrecorded resources, and writes nothing to the server. */
export type AdoptMode = {
  readonly is: "adopt";
  /** The declared resources to adopt; null for all of them. */
  readonly identities: ReadonlySet<Identity> | null;
};

/** Records live resources as they are, so that later plans manage them. */
export async function adoptPass(pass: Pass, { identities }: AdoptMode): Promise<RecordsEvent> {
  const { connection, read, run } = pass;
  const { session } = connection;
  const undeclared = identities?.values().find((identity) => !read.desired.declared.has(identity));
  if (undeclared !== undefined)
    throw new HoldfastError("invalid", `${undeclared} is not declared in the source`, {
      hint: "holdfast plan lists the declared resources",
    });
  const recorded = await session.heads();
  // With its first records a ledger must remember the orphans of the history.
  const seeksOrphans = recorded.size === 0;
  // The receipt holds the row itself, so every row must be read.
  const scope = { ...EVERYTHING, needsReceipts: true, seeksOrphans };
  const given = {
    server: readAccessOf(session),
    records: { heads: recorded, ledger: session.ledger },
    rules: read.rules,
    run,
  };
  const observed = await observe(read.desired, { ...given, scope });
  const checks = { creates: "not-needed", guards: null, hasSink: session.sink !== null } as const;
  const planned = await planAgainstLive(observed, { ...given, checks });
  const { observation, desired } = planned;
  const chosen = desired.manifests.filter(({ identity }) => identities === null || identities.has(identity));
  const found = chosen.map(({ identity, kind }) => ({ identity, kind, live: observation.live.get(identity) }));
  const receipts = found.flatMap(({ identity, kind: type, live }): Recorded[] => {
    const kind = kindOf(type);
    if (recorded.has(identity) || live?.state !== "present" || kind === undefined) return [];
    const { row } = live;
    const sent = { kind, identity, written: row.manifest, ignored: [] };
    return [createReceipt(sent, row, { known: null, at: run.clock.now() })];
  });
  if (receipts.length > 0) {
    session.capabilities.agree({ removed: removedToKeep(planned) });
    await session.ledger.record(receipts);
  }
  const adopted = new Set(receipts.map(({ identity }) => identity));
  return recordsEvent("adopt", session.server, {
    changed: [...adopted],
    left: found.flatMap(({ identity, live }): KeptRecord[] => {
      if (adopted.has(identity)) return [];
      if (recorded.has(identity)) return [{ identity, why: "recorded" }];
      return [{ identity, why: live?.state === "absent" ? "absent" : "unreadable" }];
    }),
  });
}
