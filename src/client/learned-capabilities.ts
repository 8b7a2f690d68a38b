import { isDocumented, type OperationName, operation } from "../contract/operations.ts";

/** Whether a server has a route. */
type Support = "unknown" | "yes" | "no";

/** Stores what was learned of a server: that a route exists for good, that it is missing for a while. */
export type CapabilityStore = {
  readonly get: (name: OperationName) => "yes" | "no" | undefined;
  readonly set: (name: OperationName, support: "yes" | "no") => void;
  /** Whether the server has announced that it executes a write with an Idempotency-Key once. */
  honoursKeys?: boolean;
  /** What the server has said about the caller. */
  caller?: string;
};

/** What a server is known to have, learned from its answers. */
export type Capabilities = {
  readonly has: (name: OperationName) => Support;
  readonly learn: (name: OperationName, support: "yes" | "no") => void;
  /** Whether a write with an idempotency key may be repeated, since the server executes it once. */
  readonly honoursKeys: () => boolean;
  readonly learnKeys: (honours: boolean) => void;
  readonly learnCaller: (caller: string) => void;
};

/** Keeps what is learned in the given store, by default for this run alone. */
export function createCapabilities(store: CapabilityStore = storeForRun()): Capabilities {
  return {
    has: (name) => store.get(name) ?? "unknown",
    learn: (name, support) => {
      // A documented operation that is missing is a wrong address, not a property of the server.
      if (isDocumented(operation(name)) || store.get(name) === support) return;
      store.set(name, support);
    },
    honoursKeys: () => store.honoursKeys ?? false,
    learnKeys: (honours) => {
      store.honoursKeys = honours;
    },
    learnCaller: (caller) => {
      store.caller = caller;
    },
  };
}

function storeForRun(): CapabilityStore {
  const known = new Map<OperationName, "yes" | "no">();
  return { get: (name) => known.get(name), set: (name, support) => void known.set(name, support) };
}
