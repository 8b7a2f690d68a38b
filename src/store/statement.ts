import type { Compilable, CompiledQuery, Kysely } from "kysely";

/** A statement with its values. */
export type Statement = { readonly sql: string; readonly values: readonly unknown[] };

/** Creates a statement that is compiled at its first use and then reused with different values. */
export function statementFactory<Tables, Values extends { readonly [name: string]: unknown }>(
  database: Kysely<Tables>,
  build: (database: Kysely<Tables>, values: Values) => Compilable,
): (values: Values) => Statement {
  let compiled: CompiledQuery | null = null;
  return (values) => {
    compiled ??= build(database, placeholders<Values>()).compile();
    return { sql: compiled.sql, values: bindValues(compiled, values) };
  };
}

/** Takes the place of a value in a compiled statement. */
type Placeholder = { readonly slot: string };

/** Placeholders with which a statement can be compiled before its values are known. */
export function placeholders<Values>(): Values {
  // The query builder passes values on without reading them.
  return new Proxy({}, { get: (_, slot): Placeholder => Object.freeze({ slot: String(slot) }) }) as Values;
}

/** The parameters of a compiled statement, with values in place of placeholders. */
export function bindValues(
  { parameters }: CompiledQuery<unknown>,
  values: { readonly [name: string]: unknown },
): readonly unknown[] {
  return parameters.map((parameter) => (isPlaceholder(parameter) ? values[parameter.slot] : parameter));
}

function isPlaceholder(parameter: unknown): parameter is Placeholder {
  return typeof parameter === "object" && parameter !== null && "slot" in parameter;
}
