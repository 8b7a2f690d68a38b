import type { Compilable, CompiledQuery, Kysely } from "kysely";

/** What stands in a statement where a value comes later. */
type Slot = { readonly slot: string };

/**
 * A statement that is put together once for each database and then run with other values each time: for what is asked
 * so often that putting it together would cost more than running it.
 */
export function prepared<Tables, Values extends { readonly [name: string]: unknown }, Row>(
  build: (database: Kysely<Tables>, values: Values) => Compilable<Row>,
): (database: Kysely<Tables>, values: Values) => Promise<readonly Row[]> {
  const ready = new WeakMap<object, CompiledQuery<Row>>();
  return async (database, values) => {
    // Transactions share it with the database that they belong to.
    const { adapter } = database.getExecutor();
    const compiled = ready.get(adapter) ?? build(database, slots<Values>()).compile();
    ready.set(adapter, compiled);
    const parameters = compiled.parameters.map((parameter) => (isSlot(parameter) ? values[parameter.slot] : parameter));
    return (await database.executeQuery<Row>({ ...compiled, parameters })).rows;
  };
}

// The query builder looks at no value that it is given: it hands them on in their order.
function slots<Values>(): Values {
  return new Proxy({}, { get: (_, slot): Slot => Object.freeze({ slot: String(slot) }) }) as Values;
}

function isSlot(parameter: unknown): parameter is Slot {
  return typeof parameter === "object" && parameter !== null && "slot" in parameter;
}
