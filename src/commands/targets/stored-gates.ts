import type { GateStatus } from "../../contract/generated/output.ts";
import { gateStatus } from "../../core/gates/gate-status.ts";
import type { CommandTarget } from "./create-target.ts";

/** What the gates of a target said last, from the receipts that passes have stored; nothing for one without gates. */
export async function storedGates({ state, choice }: CommandTarget): Promise<{ readonly gates?: GateStatus }> {
  if (choice === null || choice.gates.length === 0) return {};
  return { gates: gateStatus(choice.gates, await (await state.target()).gateReceipts(null)) };
}
