import { createHmac } from "node:crypto";
import { type Generated, type Kysely, sql, type Transaction } from "kysely";
import type { Secret } from "../../contract/secret.ts";
import type { Identity } from "../../core/manifest.ts";
import { deriveKey, keyObject, type SealKey } from "../../seal/seal-key.ts";
import { createTable } from "../../store/create-table.ts";
import { type Migrations, requireSchema } from "../../store/migrate.ts";
import { publicAddress } from "../../store/postgres/address.ts";
import { databaseError, openPostgresStore } from "../../store/postgres/open.ts";
import { IDLE_TRANSACTION_MS } from "../../store/postgres/session.ts";
import { lazyStore } from "../../store/postgres/unless-stopped.ts";
import { chunks } from "../../store/prepared-query.ts";
import type { Store } from "../../store/store.ts";
import type { RecordedClaim, RecordedClaims, StateAccessOptions } from "../state.ts";
import { POOLS, requireKey } from "./postgres-state.ts";

/** No schema of a target has this name. */
const SCHEMA = "holdfast_claims";

type ClaimTables = {
  /** Each target that has declared something; one that lost a claim has no digest until it claims again. */
  claimant: { nth: Generated<number>; server: string; target: string; number: number; digest: Uint8Array | null };
  /** Which claimant has a resource: one at most. */
  claim: { key: Uint8Array; claimant: number };
};

const migrations: Migrations = {
  "001-claims": {
    up: async (database) => {
      await createTable(database, "claimant", {
        columns: { nth: "serial", server: "text", target: "text", number: "integer", digest: "bytes?" },
        key: ["nth"],
        unique: [["server", "target"]],
      });
      await createTable(database, "claim", {
        columns: { key: "bytes", claimant: "integer" },
        key: ["key"],
        indexes: [["claimant"]],
      });
    },
  },
};

/** How many resources are in one statement. */
const PART = 5000;
const KEY_BYTES = 16;

/** A target on its control plane. */
type Claimant = { readonly server: string; readonly target: string };

/** The resources of a claim by their keys, in hexadecimal. */
type Keys = ReadonlyMap<string, Identity>;

/** The claims that the targets of a database share; it is opened by the first question. */
export function postgresClaims(
  address: Secret,
  { clock, random, readKey, stopping }: StateAccessOptions,
): RecordedClaims {
  const open = (): Promise<Store<ClaimTables>> =>
    openPostgresStore<ClaimTables>(address, migrations, {
      ...{ clock, random, pools: POOLS, sharesConnections: true, idleTransactionMs: IDLE_TRANSACTION_MS },
      namespace: SCHEMA,
    });
  const lazy = lazyStore(open, { address, signal: stopping, clock });
  const opened = async (): Promise<Store<ClaimTables>> => {
    const store = await lazy.opened();
    // A newer release may have upgraded it since.
    await requireSchema(store.read, migrations, SCHEMA).catch((error: unknown) => {
      throw databaseError(address, error);
    });
    return store;
  };
  let derived: SealKey | null = null;
  const key = (): SealKey => {
    derived ??= deriveKey(requireKey(publicAddress(address), readKey?.() ?? null), "resource claims");
    return derived;
  };
  // Without the key of the state, nobody can tell from a database what is declared.
  const keysOf = async (identities: Iterable<Identity>, server: string): Promise<Keys> => {
    const keys = new Map<string, Identity>();
    for (const part of chunks([...identities])) {
      for (const identity of part) {
        const digest = createHmac("sha256", keyObject(key())).update(`${server}\n${identity}`).digest();
        keys.set(digest.toString("hex", 0, KEY_BYTES), identity);
      }
      await clock.turn();
    }
    return keys;
  };
  return {
    claim: async (declared, claimant, stands) => {
      const digest = digestOf(declared, key());
      const store = await opened();
      const [known] = await select(store.read, claimant).execute();
      if (known?.digest != null && digest.equals(known.digest)) return null;
      const keys = await keysOf(declared, claimant.server);
      return store.write((transaction) => record(transaction, claimant, { keys, digest, stands }));
    },
    introduce: async (declared, claimant) => {
      const keys = await keysOf(declared, claimant.server);
      await (await opened()).write((transaction) => introduce(transaction, claimant, keys));
    },
    owners: async (identities, server) => {
      const keys = await keysOf(identities, server);
      const { read } = await opened();
      const owners = new Map<Identity, string>();
      for (const part of chunks([...keys.keys()], PART))
        for (const { key: found, target } of await claimsOf(read, part)) owners.set(identityOf(keys, found), target);
      return owners;
    },
    targets: async (server) => {
      const rows = await (await opened()).read
        .selectFrom("claimant")
        .select("target")
        .where("server", "=", server)
        .execute();
      return new Set(rows.map(({ target }) => target));
    },
    [Symbol.asyncDispose]: lazy[Symbol.asyncDispose],
  };
}

// Costs a tenth of the keys, which are made only where it differs.
function digestOf(declared: ReadonlySet<Identity>, key: SealKey): Buffer {
  return createHmac("sha256", keyObject(key))
    .update([...declared].toSorted().join("\n"))
    .digest();
}

type Recording = {
  readonly keys: Keys;
  readonly digest: Buffer;
  readonly stands: (claim: RecordedClaim) => boolean;
};

/** Records a claim; where one of another target stands, only that this one must be confirmed by it. */
async function record(
  transaction: Transaction<ClaimTables>,
  claimant: Claimant,
  { keys, digest, stands }: Recording,
): Promise<RecordedClaim | null> {
  const [own] = await select(transaction, claimant).forUpdate().execute();
  const stored = own === undefined ? new Set<string>() : await keysIn(transaction, own.nth);
  const fresh = [...keys.keys()].filter((key) => !stored.has(key));
  const losers = new Set<number>();
  for (const part of chunks(fresh, PART)) {
    for (const { key, nth, target, number } of await claimsOf(transaction, part)) {
      losers.add(nth);
      const claim = { identity: identityOf(keys, key), target, number };
      if (!stands(claim)) continue;
      await withoutDigest(transaction, [nth]);
      return claim;
    }
  }
  const nth = own?.nth ?? (await insert(transaction, claimant));
  const gone = [...stored].filter((key) => !keys.has(key));
  for (const part of chunks(gone, PART))
    await sql`DELETE FROM claim WHERE key = ANY(${bytesOf(part)}::bytea[]) AND claimant = ${nth}`.execute(transaction);
  for (const part of chunks(fresh, PART))
    await sql`INSERT INTO claim (key, claimant) SELECT unnest(${bytesOf(part)}::bytea[]), ${nth}
      ON CONFLICT (key) DO UPDATE SET claimant = excluded.claimant`.execute(transaction);
  await withoutDigest(transaction, [...losers]);
  await transaction
    .updateTable("claimant")
    .set((row) => ({ digest, number: row("number", "+", 1) }))
    .where("nth", "=", nth)
    .execute();
  return null;
}

/** Records what nobody else has for a target that has not claimed anything; it will, since it has no digest. */
async function introduce(transaction: Transaction<ClaimTables>, claimant: Claimant, keys: Keys): Promise<void> {
  const [own] = await select(transaction, claimant).execute();
  if (own !== undefined) return;
  const nth = await insert(transaction, claimant);
  for (const part of chunks([...keys.keys()], PART))
    await sql`INSERT INTO claim (key, claimant) SELECT unnest(${bytesOf(part)}::bytea[]), ${nth}
      ON CONFLICT (key) DO NOTHING`.execute(transaction);
}

function select(database: Kysely<ClaimTables>, { server, target }: Claimant) {
  return database
    .selectFrom("claimant")
    .select(["nth", "digest"])
    .where("server", "=", server)
    .where("target", "=", target);
}

async function insert(transaction: Transaction<ClaimTables>, claimant: Claimant): Promise<number> {
  const row = { ...claimant, number: 0, digest: null };
  const { nth } = await transaction.insertInto("claimant").values(row).returning("nth").executeTakeFirstOrThrow();
  return nth;
}

/** Lets targets claim again what they declare. */
async function withoutDigest(transaction: Transaction<ClaimTables>, claimants: readonly number[]): Promise<void> {
  if (claimants.length === 0) return;
  await transaction.updateTable("claimant").set({ digest: null }).where("nth", "in", claimants).execute();
}

// As one value: a hundred thousand rows would take many times the memory.
async function keysIn(database: Kysely<ClaimTables>, claimant: number): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{
    keys: Buffer | null;
  }>`SELECT string_agg(key, ''::bytea) AS keys FROM claim WHERE claimant = ${claimant}`.execute(database);
  const all = rows[0]?.keys ?? Buffer.alloc(0);
  const keys = new Set<string>();
  for (let at = 0; at < all.length; at += KEY_BYTES) keys.add(all.toString("hex", at, at + KEY_BYTES));
  return keys;
}

type FoundClaim = {
  readonly key: Buffer;
  readonly nth: number;
  readonly target: string;
  readonly number: number;
};

async function claimsOf(database: Kysely<ClaimTables>, keys: readonly string[]): Promise<readonly FoundClaim[]> {
  const { rows } =
    await sql<FoundClaim>`SELECT key, nth, target, number FROM claim JOIN claimant ON nth = claim.claimant
    WHERE key = ANY(${bytesOf(keys)}::bytea[])`.execute(database);
  return rows;
}

function identityOf(keys: Keys, key: Buffer): Identity {
  const identity = keys.get(key.toString("hex"));
  if (identity === undefined) throw new TypeError("the database returned a claim that was not asked for");
  return identity;
}

function bytesOf(keys: readonly string[]): readonly Buffer[] {
  return keys.map((key) => Buffer.from(key, "hex"));
}
