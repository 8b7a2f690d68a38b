import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

type Collect = (options: { readonly type: "major" | "minor" }) => void;

let made: Collect | null = null;

/** Has V8 collect garbage now: in the whole heap, or among the young alone. */
export function collect(type: "major" | "minor"): void {
  made ??= exposed();
  made({ type });
}

function exposed(): Collect {
  // There is no other way to ask for it in a process that runs already.
  setFlagsFromString("--expose-gc");
  const gc: unknown = runInNewContext("gc");
  return (options) => {
    if (typeof gc === "function") gc(options);
  };
}
