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
import type { Pool } from "pg";
import type { Marks } from "./commit-marks.ts";
import { explained, Session } from "./session.ts";

/** How Kysely speaks to PostgreSQL through a pool of ours; transactions with marks can be asked after. */
export function postgresDialect(pool: Pool, marks: Marks | null = null): Dialect {
  return {
    createDriver: () => createDriver(pool, marks),
    createQueryCompiler: () => new Compiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (database) => new PostgresIntrospector(database),
  };
}

function createDriver(pool: Pool, marks: Marks | null): Driver {
  return {
    init: async () => {},
    acquireConnection: async () => new Session(await connect(pool), marks),
    beginTransaction: (connection, { isolationLevel = "read committed" }) => own(connection).begin(isolationLevel),
    commitTransaction: (connection) => own(connection).commit(),
    rollbackTransaction: (connection) => own(connection).rollback(),
    releaseConnection: async (connection) => own(connection).release(),
    destroy: () => pool.end(),
  };
}

async function connect(pool: Pool) {
  try {
    return await pool.connect();
  } catch (error) {
    throw explained(error);
  }
}

function own(connection: DatabaseConnection): Session {
  if (connection instanceof Session) return connection;
  throw new TypeError("a connection of another driver");
}

class Compiler extends PostgresQueryCompiler {
  // Text is compared by its bytes, as SQLite does it, whatever language the database was made for.
  protected override visitDataType(node: DataTypeNode): void {
    super.visitDataType(node);
    const isColumn = this.parentNode !== undefined && ColumnDefinitionNode.is(this.parentNode);
    if (isColumn && node.dataType === "text") this.append(' collate "C"');
  }

  // An empty list is none to PostgreSQL; one that nothing equals stands for it.
  protected override visitPrimitiveValueList(node: PrimitiveValueListNode): void {
    if (node.values.length > 0) super.visitPrimitiveValueList(node);
    else this.append("(null)");
  }
}
