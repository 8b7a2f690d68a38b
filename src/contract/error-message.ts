// src/contract: what client and server exchange. See docs/control-plane.md#the-interface.

/** The message of an error, or any other thrown value as text. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
