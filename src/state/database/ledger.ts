import type { Insertable, Kysely } from "kysely";
import { requireInvariant } from "../../contract/invariant.ts";
import { isObject, type JsonObject } from "../../contract/json.ts";
import type { WriteOperation } from "../../contract/operations.ts";
import { releaseBuffer } from "../../contract/release-buffer.ts";
import { textPool } from "../../contract/text-pool.ts";
import type { Identity } from "../../core/manifest.ts";
import type { Recorded } from "../../core/recorded.ts";
import { mergeFacts, noFacts, type ServerFactChanges } from "../../core/server-facts.ts";
import type { SealKey } from "../../seal/seal-key.ts";
import { chunks, rowsOf, runStatements, type Statement, statementFactory } from "../../store/prepared-query.ts";
import type { Store } from "../../store/store.ts";
import type { Ledger, ReceiptHead } from "../ledger.ts";
import { receiptDigest } from "../receipt-digest.ts";
import { intentFrom, intentRow, type Place, receiptRow, recordedFrom, sealedReply } from "./ledger-rows.ts";
import { requireSealedWith } from "./state-key.ts";
import { HEAD, type StateTables } from "./state-schema.ts";

type Head = readonly [
  identity: Identity,
  kind: string,
  id: string | null,
  version: number | null,
  at: number,
  mark: string,
  digest: string | null,
];

// How many receipts are read or written at once: all contents together may need more memory than the rest of a run.
const PART = 500;

/** The ledger of one server in the database of a state folder; refuses one that was sealed with another key. */
export async function ledgerIn(store: Store<StateTables>, { server, key }: Omit<Place, "digest">): Promise<Ledger> {
  const place: Place = { server, key, digest: receiptDigest(key) };
  // Another process with another key may have been the first to store something.
  await requireSealedWith(key, store.read, "the ledger");
  const put = statements(store.read);
  let waitingFacts: readonly ServerFactChanges[] = [];
  const write = async (statements: readonly Statement[], learned: readonly ServerFactChanges[] = []): Promise<void> => {
    const waiting = waitingFacts;
    waitingFacts = [];
    try {
      await store.write(async (transaction) => {
        await storeFacts(transaction, server, [...waiting, ...learned]);
        await runStatements(transaction, statements);
      });
    } catch (error) {
      waitingFacts = [...waiting, ...waitingFacts];
      throw error;
    }
    // Releasing buffers here and in `seal` lowered the peak memory of an apply of 10,000 manifests from 328 MB to 289
    // (medians).
    for (const value of statements.flatMap(({ values }) => values))
      if (value instanceof Uint8Array) releaseBuffer(value);
  };
  // The resources of the intents of this process, by their ids.
  const begun = new Map<string, Identity>();
  const requireSame = (id: string, identity: Identity): void =>
    requireInvariant(
      (begun.get(id) ?? identity) === identity,
      "ledger",
      "what takes the place of an intent is about its resource",
    );
  const receiptPut = (receipt: Recorded): Statement => put.receipt(receiptRow(place, receipt));
  return {
    heads: () => everyHead(store, server),
    digest: place.digest,
    recorded: async (identities) => {
      const wanted = identities ?? (await everyHead(store, server)).keys();
      return receiptsOf(store, place, wanted);
    },
    record: async (receipts) => {
      for (const part of chunks(receipts, PART)) await write(part.map(receiptPut));
    },
    forget: (identities) => write(identities.map((identity) => put.forgotten({ server, identity }))),
    begin: async (intent, instead = []) => {
      for (const id of instead) requireSame(id, intent.identity);
      await write([...instead.map((id) => put.closed({ id })), put.intent(intentRow(server, key, intent))]);
      for (const id of instead) begun.delete(id);
      begun.set(intent.id, intent.identity);
    },
    keepReply: (id, reply) => write([put.reply({ id, reply: sealedReply(key, id, reply) })]),
    close: async (id, receipt) => {
      if (receipt !== null) requireSame(id, receipt.identity);
      await write([put.closed({ id }), ...(receipt === null ? [] : [receiptPut(receipt)])]);
      begun.delete(id);
    },
    pending: async () => {
      const rows = await intentsOf(store, server).where("operation", "!=", STAGING).execute();
      return rows.map((row) => intentFrom(key, row));
    },
    staged: async () => {
      const rows = await intentsOf(store, server).where("operation", "=", STAGING).execute();
      return rows.map((row) => intentFrom(key, row));
    },
    facts: async () => ({ ...noFacts, ...(await factsIn(store.read, server)) }),
    storeFacts: (learned) => write([], [learned]),
    storeFactsWithNext: (agreed) => {
      waitingFacts = [...waitingFacts, agreed];
    },
    storeWaitingFacts: async () => (waitingFacts.length === 0 ? undefined : write([])),
  };
}

const STAGING = "stageArtifactVersion" satisfies WriteOperation;

function intentsOf({ read }: Store<StateTables>, server: string) {
  return read.selectFrom("intent").selectAll().where("server", "=", server);
}

type Row<Table extends keyof StateTables> = Insertable<StateTables[Table]>;

/** The statements of a ledger. */
function statements(database: Kysely<StateTables>) {
  const prepare = <Values extends { readonly [name: string]: unknown }>(
    build: Parameters<typeof statementFactory<StateTables, Values>>[1],
  ) => statementFactory<StateTables, Values>(database, build);
  return {
    receipt: prepare<Row<"receipt">>((db, { server, identity, kind, external_id, version, at, sealed, mark, tally }) =>
      db
        .insertInto("receipt")
        .values({ server, identity, kind, external_id, version, at, sealed, mark, tally })
        .onConflict((conflict) =>
          conflict.columns(["server", "identity"]).doUpdateSet(({ ref }) => ({
            kind: ref("excluded.kind"),
            external_id: ref("excluded.external_id"),
            version: ref("excluded.version"),
            at: ref("excluded.at"),
            sealed: ref("excluded.sealed"),
            mark: ref("excluded.mark"),
            tally: ref("excluded.tally"),
          })),
        ),
    ),
    forgotten: prepare<Pick<Row<"receipt">, "server" | "identity">>((db, { server, identity }) =>
      db.deleteFrom("receipt").where("server", "=", server).where("identity", "=", identity),
    ),
    intent: prepare<Row<"intent">>((db, row) => {
      // Each column is named, since the placeholders for the values cannot be enumerated.
      const { id, server, identity, kind, operation, version_before, creates, at } = row;
      const { deadline, sealed, reply, key, left_alone } = row;
      const what = { id, server, identity, kind, operation, version_before, creates, at };
      return db.insertInto("intent").values({ ...what, deadline, sealed, reply, key, left_alone });
    }),
    reply: prepare<{ readonly id: string; readonly reply: Uint8Array }>((db, { id, reply }) =>
      db.updateTable("intent").set({ reply }).where("id", "=", id),
    ),
    closed: prepare<{ readonly id: string }>((db, { id }) => db.deleteFrom("intent").where("id", "=", id)),
  };
}

async function everyHead({ read }: Store<StateTables>, server: string): Promise<ReadonlyMap<Identity, ReceiptHead>> {
  const query = read.selectFrom("receipt").select(HEAD).where("server", "=", server).orderBy("identity");
  const heads = new Map<Identity, ReceiptHead>();
  const pool = textPool();
  for (const [identity, type, id, version, at, mark, digest] of await rowsOf<StateTables, Head>(read, query)) {
    const kind = pool(type);
    const head = { identity, kind, id, version, at, mark };
    heads.set(identity, digest === null ? head : { identity, kind, id, version, at, mark, digest });
  }
  return heads;
}

async function receiptsOf(
  { read }: Store<StateTables>,
  { server, key }: Place,
  identities: Iterable<Identity>,
): Promise<ReadonlyMap<Identity, Recorded>> {
  const found = new Map<Identity, Recorded>();
  const rest = [...identities];
  while (rest.length > 0) {
    const part = rest.splice(-PART);
    const rows = await read
      .selectFrom("receipt")
      .selectAll()
      .where("server", "=", server)
      .where("identity", "in", part)
      .execute();
    for (const row of rows) {
      found.set(row.identity, recordedFrom(key, row));
      releaseBuffer(row.sealed);
    }
  }
  return found;
}

async function factsIn(database: Kysely<StateTables>, server: string): Promise<JsonObject> {
  const row = await database.selectFrom("server").select("facts").where("server", "=", server).executeTakeFirst();
  const facts: unknown = row === undefined ? null : JSON.parse(row.facts);
  return isObject(facts) ? facts : {};
}

async function storeFacts(
  database: Kysely<StateTables>,
  server: string,
  changes: readonly ServerFactChanges[],
): Promise<void> {
  if (changes.length === 0) return;
  const merged = changes.reduce(mergeFacts, await factsIn(database, server));
  const facts = JSON.stringify(merged);
  await database
    .insertInto("server")
    .values({ server, facts })
    .onConflict((conflict) => conflict.column("server").doUpdateSet({ facts }))
    .execute();
}

/** The ledger of a read-only run where no ledger can be stored: it has no receipts and refuses writes. */
export function emptyLedger(key: SealKey): Ledger {
  const refused = () => Promise.reject(new TypeError("a run without a ledger cannot write"));
  return {
    heads: async () => new Map(),
    digest: receiptDigest(key),
    recorded: async () => new Map(),
    record: refused,
    forget: refused,
    begin: refused,
    keepReply: refused,
    close: refused,
    pending: async () => [],
    staged: async () => [],
    facts: async () => noFacts,
    storeFacts: async () => undefined,
    storeFactsWithNext: () => undefined,
    storeWaitingFacts: async () => undefined,
  };
}
