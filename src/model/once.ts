type State<Value> = { readonly make: () => Value } | { readonly value: Value };

/** Gives a value that is made when it is first asked for; what it was made of is held no longer than that. */
export function once<Value>(make: () => Value): () => Value {
  let state: State<Value> = { make };
  return () => {
    if ("make" in state) state = { value: state.make() };
    return state.value;
  };
}
