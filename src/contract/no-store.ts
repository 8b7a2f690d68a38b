/** The header of a request whose reply nothing on its way may keep. */
export const NO_STORE = { "cache-control": "no-store" } as const;
