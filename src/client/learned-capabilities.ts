import { isDocumented, type OperationName, operation } from "../contract/operations.ts";

/** Whether a server has a route. */
type Support = "unknown" | "yes" | "no";

/** Stores what was learned about a server: permanently that a route exists, for a limited time that it is missing. */
export type CapabilityStore = {
  readonly get: (name: OperationName) => "yes" | "no" | undefined;
  readonly set: (name: OperationName, support: "yes" | "no") => void;
  /** Whether the server has announced that it executes a write with an Idempotency-Key only once. */
  honoursKeys?: boolean;
};

/** The capabilities of a server, learned from its answers. */
export type Capabilities = {
  readonly has: (name: OperationName) => Support;
  readonly learn: (name: OperationName, support: "yes" | "no") => void;
  /** Whether a write with an idempotency key may be retried, since the server executes it only once. */
  readonly honoursKeys: () => boolean;
  readonly learnKeys: (honours: boolean) => void;
};

/** Keeps learned capabilities in the given store, by default in memory for this run only. */
export function createCapabilities(store: CapabilityStore = storeForRun()): Capabilities {
  return {
    has: (name) => store.get(name) ?? "unknown",
    learn: (name, support) => {
      // A missing documented operation means a wrong address. It is not a property of the server.
      if (isDocumented(operation(name)) || store.get(name) === support) return;
      store.set(name, support);
    },
    honoursKeys: () => store.honoursKeys ?? false,
    learnKeys: (honours) => {
      store.honoursKeys = honours;
    },
  };
}

function storeForRun(): CapabilityStore {
  const known = new Map<OperationName, "yes" | "no">();
  return { get: (name) => known.get(name), set: (name, support) => void known.set(name, support) };
}
