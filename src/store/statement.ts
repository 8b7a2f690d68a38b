import type { Compilable, CompiledQuery, Kysely } from "kysely";

/** A statement with its values: data, so that another thread can run it. */
export type Statement = { readonly sql: string; readonly values: readonly unknown[] };

/** A statement that is put together when it is first needed, and then given other values each time. */
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

/** What stands in a statement where a value comes later. */
type Slot = { readonly slot: string };

/** Values that a statement can be put together with before they are known. */
export function placeholders<Values>(): Values {
  // The query builder looks at no value that it is given: it hands them on in their order.
  return new Proxy({}, { get: (_, slot): Slot => Object.freeze({ slot: String(slot) }) }) as Values;
}

/** The parameters of a statement that was put together with slots. */
export function bindValues(
  { parameters }: CompiledQuery<unknown>,
  values: { readonly [name: string]: unknown },
): readonly unknown[] {
  return parameters.map((parameter) => (isSlot(parameter) ? values[parameter.slot] : parameter));
}

function isSlot(parameter: unknown): parameter is Slot {
  return typeof parameter === "object" && parameter !== null && "slot" in parameter;
}
