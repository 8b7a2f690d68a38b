import type { HoldfastPolicy } from "../../contract/generated/config.ts";
import type { Policy } from "../../core/policies/policy.ts";
import type { Expression } from "./expression.ts";

/** A policy that was read, with its expression and its tests. */
export type LoadedPolicy = Policy & { readonly expression: Expression; readonly tests: readonly PolicyTest[] };

/** A test beside a policy, and the line on which it stands. */
export type PolicyTest = NonNullable<HoldfastPolicy["tests"]>[number] & { readonly line: number };

/** The policies of a target, and its name. */
export type PolicySet = { readonly policies: readonly LoadedPolicy[]; readonly target: string };
