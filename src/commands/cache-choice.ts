import { HoldfastError } from "../core/errors.ts";
import type { Terminal } from "./terminal.ts";

/** Whether a command may know from a cache what is unchanged since an earlier one: `HOLDFAST_CACHE=off` says no. */
export function usesCaches({ env: { HOLDFAST_CACHE: choice = "" } }: Pick<Terminal, "env">): boolean {
  if (choice === "off") return false;
  if (choice === "" || choice === "on") return true;
  throw new HoldfastError("invalid", `HOLDFAST_CACHE is "${choice}"`, { hint: "set it to off or on, or leave it out" });
}
