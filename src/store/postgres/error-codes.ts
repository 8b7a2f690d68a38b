import { DatabaseError } from "pg";
import type { StoreErrorCode } from "../store-error.ts";

// SQLSTATE, by the whole code or by its class of two characters: https://www.postgresql.org/docs/current/errcodes-appendix.html
const faults: ReadonlyMap<string, StoreErrorCode> = new Map([
  ["08", "unreachable"],
  ["53", "unreachable"],
  ["57", "unreachable"],
  ["28", "denied"],
  ["3D", "absent"],
  ["55P03", "locked"],
  ["25P03", "unreachable"],
  ["25006", "inaccessible"],
  ["42501", "denied"],
  ["53100", "full"],
  ["58", "inaccessible"],
  ["XX001", "corrupt"],
  ["XX002", "corrupt"],
  ["22021", "unstorable"],
  ["22P05", "unstorable"],
]);

/** The storage fault that the driver of PostgreSQL tells of; null when the statement itself is at fault. */
export function postgresErrorCode(error: unknown): StoreErrorCode | null {
  if (error instanceof DatabaseError) {
    const code = error.code ?? "";
    return faults.get(code) ?? faults.get(code.slice(0, 2)) ?? null;
  }
  // A mistake of ours is no fault of the network: everything else that the driver throws is.
  return error instanceof TypeError || error instanceof RangeError ? null : "unreachable";
}

/** Whether the server itself said this, and goes on listening on the same connection. */
export function isConnectionUsable(error: unknown): boolean {
  return error instanceof DatabaseError && error.severity !== "FATAL" && error.severity !== "PANIC";
}

/** Whether a change may succeed when it is made anew, since it only met with another one. */
export function writeConflict(error: unknown): "collision" | "duplicate" | null {
  if (!(error instanceof DatabaseError)) return null;
  if (error.code === "40001" || error.code === "40P01") return "collision";
  // What another one has just added was invisible to the change that adds it too.
  return error.code === "23505" ? "duplicate" : null;
}
