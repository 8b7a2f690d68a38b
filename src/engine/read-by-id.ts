import { ClientError } from "../client/failure.ts";
import { type Imprint, KnownPage, type Recall } from "../client/recall.ts";
import { type GetOperation, type ListOperation, operations } from "../contract/operations.ts";
import { type LiveRow, readRow, type SingleReading } from "../core/kind.ts";
import type { ListContext } from "./list-live.ts";

/** Reads one resource by its id; null where it is not there, `known` where a list of one answers with these bytes. */
export async function readById(
  reading: SingleReading,
  id: string,
  { reader, signal }: Pick<ListContext, "reader" | "signal">,
  known: Imprint | null,
): Promise<LiveRow | "known" | null> {
  try {
    const { operation } = reading;
    if (!isList(operation)) return readRow(reading, await reader.get(operation, { path: { id } }, { signal }));
    // By the whole reply: nobody has to find out where in it the row begins.
    const same = known === null ? null : new KnownPage({ imprint: known, size: 1, total: 1 }, () => []);
    const recall: Recall = { row: () => null, page: (imprint) => (imprint === known ? same : null) };
    const page = await reader.page(operation, { path: { id }, limit: 1 }, { signal, recall });
    if (page instanceof KnownPage) return "known";
    const [reply] = page.rows;
    const row = reply === undefined ? null : readRow(reading, reply);
    return row === null || !page.imprint ? row : { ...row, imprint: page.imprint };
  } catch (error) {
    if (error instanceof ClientError && error.reason === "not-found") return null;
    throw error;
  }
}

function isList(operation: GetOperation | ListOperation): operation is ListOperation {
  return operations[operation].reply === "list";
}
