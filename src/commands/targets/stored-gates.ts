import type { GateStatus } from "../../contract/generated/output.ts";
import { gateStatus } from "../../core/gates/gate-status.ts";
import { unlessUnreadable } from "../../daemon/pass-recorder.ts";
import type { CommandTarget } from "./create-target.ts";

/** What the gates of a target said last, from the receipts that passes have stored; nothing for one without gates, or while its state cannot be read. */
export async function storedGates({ state, choice }: CommandTarget): Promise<{ readonly gates?: GateStatus }> {
  if (choice === null || choice.gates.length === 0) return {};
  const receipts = await unlessUnreadable(state, (store) => store.gateReceipts(null));
  return receipts === null ? {} : { gates: gateStatus(choice.gates, receipts) };
}
