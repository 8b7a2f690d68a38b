import type { ProcessTerminal } from "../terminal.ts";

/** The variables of Holdfast that a tool knows: what it reads, with which token and key, and how long it waits. */
const KNOWN = new Set([
  "HOLDFAST_SOURCE",
  "HOLDFAST_CONFIG",
  "HOLDFAST_TARGET",
  "HOLDFAST_WORKSPACE",
  "HOLDFAST_STRICT",
  "HOLDFAST_PARTIAL",
  "HOLDFAST_WRITERS",
  "HOLDFAST_SERVER",
  "HOLDFAST_TOKEN",
  "HOLDFAST_TOKEN_FILE",
  "HOLDFAST_CA_FILE",
  "HOLDFAST_STATE",
  "HOLDFAST_STATE_FILE",
  "HOLDFAST_STATE_KEY",
  "HOLDFAST_STATE_KEY_FILE",
  "HOLDFAST_CACHE",
  "HOLDFAST_AGE_KEY",
  "HOLDFAST_AGE_KEY_FILE",
  "HOLDFAST_CONCURRENCY",
  "HOLDFAST_REQUEST_TIMEOUT",
  "HOLDFAST_CONNECT_TIMEOUT",
  "HOLDFAST_RETRY_WAIT",
]);

/** The environment of a tool: without the variables that make a command write, allow what a guard refuses, or wait for long. */
export function toolEnvironment(env: ProcessTerminal["env"]): ProcessTerminal["env"] {
  const isKept = (name: string): boolean =>
    !name.startsWith("HOLDFAST_") || KNOWN.has(name) || name.startsWith("HOLDFAST_SOURCE_TOKEN_");
  return Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name)));
}
