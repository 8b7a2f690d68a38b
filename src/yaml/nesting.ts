import { type Fault, fault } from "./fault.ts";

/** How many brackets stand inside each other at most, taken without regard to quotes: never too few. */
export function bracketDepth(text: string): number {
  let [depth, deepest] = [0, 0];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x5b || code === 0x7b) deepest = Math.max(deepest, ++depth);
    else if ((code === 0x5d || code === 0x7d) && depth > 0) depth--;
  }
  return deepest;
}

/** The fault of nesting beyond the limit. */
export function tooDeep(depth: number, offset: number): Fault {
  return fault(offset, "too-deep", `nested more than ${depth} levels deep`);
}
