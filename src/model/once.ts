type State<Value> = { readonly make: () => Value } | { readonly value: Value };

/** Computes a value when it is first needed; what it is computed from is released then. */
export function once<Value>(make: () => Value): () => Value {
  let state: State<Value> = { make };
  return () => {
    if ("make" in state) state = { value: state.make() };
    return state.value;
  };
}

/** The same for a value of each key, of which there must be few: what is derived from a schema. */
export function oncePer<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, Value>();
  return (key) => {
    const before = made.get(key);
    if (before !== undefined) return before;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}
