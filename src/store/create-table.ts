import type { CreateTableBuilder, Kysely } from "kysely";

/** What a column holds; a question mark lets it be null. */
type ColumnType = "text" | "integer" | "bytes" | "text?" | "integer?" | "bytes?" | "serial";

/** A table that a migration creates. */
export type TableDefinition = {
  readonly columns: { readonly [name: string]: ColumnType };
  readonly key: readonly string[];
  readonly unique?: readonly (readonly string[])[];
  readonly indexes?: readonly (readonly string[])[];
};

/** Creates a table with its constraints and indexes. */
export async function createTable<Tables>(
  database: Kysely<Tables>,
  table: string,
  plan: TableDefinition,
): Promise<void> {
  const columns = Object.entries(plan.columns);
  let builder: CreateTableBuilder<string, string> = database.schema.createTable(table);
  for (const [name, type] of columns) builder = addColumn(builder, name, type);
  builder = builder.addPrimaryKeyConstraint(`${table}_key`, [...plan.key]);
  for (const unique of plan.unique ?? []) {
    builder = builder.addUniqueConstraint(`${table}_by_${unique.join("_")}`, [...unique]);
  }
  await builder.execute();
  for (const index of plan.indexes ?? []) {
    await database.schema
      .createIndex(`${table}_by_${index.join("_")}`)
      .on(table)
      .columns([...index])
      .execute();
  }
}

/** Adds columns to an existing table; they must be nullable, since rows may exist. */
export async function addColumns(
  database: Kysely<unknown>,
  table: string,
  columns: { readonly [name: string]: "text?" | "integer?" },
): Promise<void> {
  for (const [name, type] of Object.entries(columns)) {
    await database.schema.alterTable(table).addColumn(name, storedAs(type)).execute();
  }
}

function addColumn(
  builder: CreateTableBuilder<string, string>,
  name: string,
  type: ColumnType,
): CreateTableBuilder<string, string> {
  return builder.addColumn(name, storedAs(type), (column) => (type.endsWith("?") ? column : column.notNull()));
}

// Eight bytes in both databases: epoch milliseconds do not fit into four. Only PostgreSQL has the last two.
function storedAs(type: ColumnType): "bigint" | "text" | "bytea" | "bigserial" {
  switch (type) {
    case "integer":
    case "integer?":
      return "bigint";
    case "bytes":
    case "bytes?":
      return "bytea";
    case "serial":
      return "bigserial";
    case "text":
    case "text?":
      return "text";
  }
}
