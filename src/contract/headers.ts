// The headers of this interface, in the spelling of its OpenAPI document. Node converts header names to lower case.

/** Request header of a write: a random key. A write is executed once per key, even if it arrives several times. */
export const IDEMPOTENCY_KEY = "Idempotency-Key";

/** Request header of a write: the fencing token of the writer's lease. */
export const FENCING_TOKEN = "X-Fencing-Token";

/** Request header of a write: the scope of that lease. */
export const FENCING_SCOPE = "X-Fencing-Scope";

/** Request header of a write: the person who asked for it, percent-encoded UTF-8. */
export const ACTOR = "X-Holdfast-Actor";

/** Request header of a write: the commit that it is of and the id of the pass that sends it, each URL-safe: `commit=…; pass=…`. */
export const REVISION = "X-Holdfast-Revision";

/** Request header of a write of an approved plan: who made and who approved it, each percent-encoded UTF-8: `planner=…; approver=…; approver=…`. */
export const PLAN = "X-Holdfast-Plan";

/** Reply header of a write: `true` if the server honours idempotency keys. */
export const IDEMPOTENCY_KEY_ACCEPTED = "idempotency-key-accepted";

/** Forbids proxies and other intermediaries to store a request or its reply. */
export const NOT_STORED = { "cache-control": "no-store" } as const;
