import {
  ColumnDefinitionNode,
  type DatabaseConnection,
  type DataTypeNode,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type PrimitiveValueListNode,
} from "kysely";
import type { CommitMarkerPool } from "./commit-markers.ts";
import { PostgresConnection, toStoreError } from "./connection.ts";
import type { SchemaConnections } from "./pools.ts";

/** The Kysely dialect for PostgreSQL; with markers, the outcome of a commit can be read after a lost reply. */
export function postgresDialect(pool: SchemaConnections, markers: CommitMarkerPool | null = null): Dialect {
  return {
    createDriver: () => createDriver(pool, markers),
    createQueryCompiler: () => new Compiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (database) => new PostgresIntrospector(database),
  };
}

function createDriver(pool: SchemaConnections, markers: CommitMarkerPool | null): Driver {
  return {
    init: async () => {},
    acquireConnection: async () => new PostgresConnection(await connect(pool), markers),
    beginTransaction: (connection, { isolationLevel = "read committed" }) => own(connection).begin(isolationLevel),
    commitTransaction: (connection) => own(connection).commit(),
    rollbackTransaction: (connection) => own(connection).rollback(),
    releaseConnection: async (connection) => own(connection).release(),
    destroy: () => pool.end(),
  };
}

async function connect(pool: SchemaConnections) {
  try {
    return await pool.connect();
  } catch (error) {
    throw toStoreError(error);
  }
}

function own(connection: DatabaseConnection): PostgresConnection {
  if (connection instanceof PostgresConnection) return connection;
  throw new TypeError("a connection of another driver");
}

class Compiler extends PostgresQueryCompiler {
  // Text is compared by bytes, as in SQLite, whatever the locale of the database.
  protected override visitDataType(node: DataTypeNode): void {
    super.visitDataType(node);
    const isColumn = this.parentNode !== undefined && ColumnDefinitionNode.is(this.parentNode);
    if (isColumn && node.dataType === "text") this.append(' collate "C"');
  }

  // PostgreSQL does not accept an empty list; `(null)` equals nothing either.
  protected override visitPrimitiveValueList(node: PrimitiveValueListNode): void {
    if (node.values.length > 0) super.visitPrimitiveValueList(node);
    else this.append("(null)");
  }
}
