import { text } from "../../contract/json.ts";
import { type Access, readAccess } from "../../core/access.ts";
import { isResourceError, type LiveReading } from "./read-live.ts";

/** Reads whose token it is and what it may do; null where the control plane does not tell. */
export async function readCaller({ reader, serverFacts, signal }: LiveReading): Promise<Access | null> {
  if (!serverFacts.has("getCaller")) return null;
  try {
    const caller = await reader.get("getCaller", {}, { signal });
    serverFacts.subject = text(caller.subjectId) ?? serverFacts.subject;
    return readAccess(caller);
  } catch (error) {
    // Without the roles the plan concludes less, so it needs no further note.
    if (isResourceError(error)) return null;
    throw error;
  }
}
