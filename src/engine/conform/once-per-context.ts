import type { ConformContext } from "./context.ts";

/** Does something once for all checks that share a context. */
export function oncePerContext<Value>(
  make: (context: ConformContext) => Promise<Value>,
): (context: ConformContext) => Promise<Value> {
  const made = new WeakMap<ConformContext, Promise<Value>>();
  return (context) => {
    const known = made.get(context) ?? make(context);
    made.set(context, known);
    return known;
  };
}
