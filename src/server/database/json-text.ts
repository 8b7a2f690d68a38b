declare const valueType: unique symbol;

/** The JSON text of a `Value`: stored in the database, and sent without being parsed. */
export type JsonText<Value> = string & { readonly [valueType]: Value };

/** The text of a value. */
export function toText<Value>(value: Value): JsonText<Value> {
  return JSON.stringify(value) as JsonText<Value>;
}

/** The value of a JSON text from the database. */
export function fromText<Value>(text: JsonText<Value>): Value {
  return JSON.parse(text);
}

/** The text of an object with one more member, which is given as text too. */
export function withMember<Value, Name extends string, Member>(
  text: JsonText<Value>,
  name: Name,
  member: JsonText<Member>,
): JsonText<Omit<Value, Name> & { readonly [name in Name]: Member }> {
  return `${text.slice(0, -1)},${JSON.stringify(name)}:${member}}` as JsonText<
    Omit<Value, Name> & { readonly [name in Name]: Member }
  >;
}
