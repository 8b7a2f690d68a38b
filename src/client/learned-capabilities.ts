import { isDocumented, type OperationName, operation } from "../contract/operations.ts";

/** Whether a server has a route. */
type Support = "unknown" | "yes" | "no";

/** Where what was learned of a server is kept: a yes between runs, a no for a while only. */
export type CapabilityMemory = {
  readonly get: (name: OperationName) => "yes" | "no" | undefined;
  readonly set: (name: OperationName, support: "yes" | "no") => void;
  /** Whether it has said that it makes a write with an Idempotency-Key once. */
  honoursKeys?: boolean;
  /** What it has told of the caller. */
  caller?: string;
};

/** What a server is known to have, learned from its answers. */
export type Capabilities = {
  readonly has: (name: OperationName) => Support;
  readonly learn: (name: OperationName, support: "yes" | "no") => void;
  /** Whether a write under a key may be sent again, since it is made once. */
  readonly honoursKeys: () => boolean;
  readonly learnKeys: (honours: boolean) => void;
  readonly learnCaller: (told: string) => void;
};

/** Keeps what is learned in the memory given, or for this run alone. */
export function createCapabilities(memory: CapabilityMemory = runMemory()): Capabilities {
  return {
    has: (name) => memory.get(name) ?? "unknown",
    learn: (name, support) => {
      // A documented operation that is missing is a wrong address, not a property of the server.
      if (isDocumented(operation(name)) || memory.get(name) === support) return;
      memory.set(name, support);
    },
    honoursKeys: () => memory.honoursKeys ?? false,
    learnKeys: (honours) => {
      memory.honoursKeys = honours;
    },
    learnCaller: (told) => {
      memory.caller = told;
    },
  };
}

function runMemory(): CapabilityMemory {
  const known = new Map<OperationName, "yes" | "no">();
  return { get: (name) => known.get(name), set: (name, support) => void known.set(name, support) };
}
