import type { ReplyReader } from "../../cache/known-in-sync.ts";
import { ClientError } from "../../client/client-error.ts";
import type { Reader } from "../../client/reader.ts";
import type { Stop } from "../../clock/clock.ts";
import { isListOperation } from "../../contract/operations.ts";
import { type LiveRow, readRow, type SingleReading } from "../../core/kind.ts";

/** A reader, and what ends its requests. */
export type ReaderAccess = Stop & { readonly reader: Reader };

/** Reads one resource by its id; null where it does not exist, `in-sync` where `known` recognises the reply. */
export async function readById(
  reading: SingleReading,
  id: string,
  { reader, signal }: ReaderAccess,
  known?: ReplyReader,
): Promise<LiveRow | "in-sync" | null> {
  try {
    const { operation } = reading;
    const parsing = known === undefined ? { signal } : { signal, parse: known.parse };
    const [reply] = isListOperation(operation)
      ? (await reader.page(operation, { path: { id }, limit: 1 }, parsing)).rows
      : [await reader.get(operation, { path: { id } }, parsing)];
    if (known?.isSame()) return "in-sync";
    const row = reply === undefined ? null : readRow(reading, reply);
    if (row !== null) known?.noteRow(row);
    return row;
  } catch (error) {
    if (error instanceof ClientError && error.reason === "not-found") return null;
    throw error;
  }
}
