/** Computes a value on first use and then releases its input. */
export function once<Value>(make: () => Value): () => Value {
  let state: { readonly make: () => Value } | { readonly value: Value } = { make };
  return () => {
    if ("make" in state) state = { value: state.make() };
    return state.value;
  };
}

/** Computes one value per key on first use. Only for few keys, such as schemas, because all values are kept. */
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
