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

/** The storage error of an error of the PostgreSQL driver; null when the statement itself is wrong. */
export function postgresErrorCode(error: unknown): StoreErrorCode | null {
  if (error instanceof DatabaseError) {
    const code = error.code ?? "";
    return faults.get(code) ?? faults.get(code.slice(0, 2)) ?? null;
  }
  // These are programming errors; everything else that the driver throws is a network error.
  return error instanceof TypeError || error instanceof RangeError ? null : "unreachable";
}

/** Whether the connection can be used after this error: the server reported it and did not close the connection. */
export function isConnectionUsable(error: unknown): boolean {
  return error instanceof DatabaseError && error.severity !== "FATAL" && error.severity !== "PANIC";
}

/** Whether a transaction failed only because of a concurrent one and can be retried. */
export function writeConflict(error: unknown): "collision" | "duplicate" | null {
  if (!(error instanceof DatabaseError)) return null;
  if (error.code === "40001" || error.code === "40P01") return "collision";
  // A concurrent transaction inserted the same key, which was not visible to this one.
  return error.code === "23505" ? "duplicate" : null;
}
