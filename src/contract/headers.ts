// Headers of our own interface, spelled as its OpenAPI document spells them. Node gives the name of a header in lower case.

/** Of a write: a random text under which it is made once, however often it arrives. */
export const IDEMPOTENCY_KEY = "Idempotency-Key";

/** Of a write: the number of the lease that it is made under. */
export const FENCING_TOKEN = "X-Fencing-Token";

/** Of a write: the scope of that lease. */
export const FENCING_SCOPE = "X-Fencing-Scope";

/** Of the reply to a write: `true` where idempotency keys are honoured. */
export const IDEMPOTENCY_KEY_ACCEPTED = "idempotency-key-accepted";

/** Of the reply to a list: who the caller is, as JSON. */
export const CALLER = "x-caller";

/** Keeps a request and its reply from being stored by whatever stands between client and server. */
export const NOT_STORED = { "cache-control": "no-store" } as const;
