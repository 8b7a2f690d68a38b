import type { JsonText } from "./json-text.ts";

/** A stored resource, which has an id. */
export type Stored<Value> = Value & { readonly id: string };

/** Columns of every resource: `json` is the resource as it is sent, the others are for queries. */
export type ResourceRow<Value> = { readonly id: string; readonly created_at: string; readonly json: JsonText<Value> };

/** What became of an audited request: only `done` had an effect, or showed a secret. */
export type AuditOutcome = "done" | "refused" | "failed";

/** The tables of the control plane's database; each resource adds its own. */
export interface Tables {
  /** People, and the administrator. */
  readonly users: {
    readonly id: string;
    /** The e-mail in lower case, or `admin`; it never changes. */
    readonly slug: string;
    readonly display_name: string;
    readonly created_at: string | null;
    readonly sign_in: "token" | "issuer" | null;
    /** The identity at an OpenID Connect issuer; null until the first sign-in through it. */
    readonly issuer: string | null;
    readonly issuer_subject: string | null;
    /** When the newest token of the issuer that was seen was issued, in seconds. */
    readonly signed_in_at: number | null;
    readonly removed_at: string | null;
  };
  /**
   * The credentials of users: opaque tokens, of which only the SHA-256 is stored, and for who signs in through an issuer
   * one row whose `hash` is `issuer/<user id>`.
   */
  readonly tokens: {
    readonly hash: string;
    readonly user_id: string;
    readonly name: string;
    readonly created_at: string;
    /** Tokens that the issuer issued before this second are refused. */
    readonly not_before: number | null;
  };
  /** One row for each role that a manifest grants; `source` is the manifest's resource. */
  readonly grants: {
    readonly source: string;
    readonly subject: string;
    readonly resource_type: string;
    readonly resource_fqn: string;
    readonly role_id: string;
  };
  /** Ed25519 key pairs that sign tokens, the private half sealed (base64). */
  readonly signing_keys: { readonly kid: string; readonly sealed: string; readonly created_at: string };
  /** One row for each effect and each read of a secret (`done`), and for requests that were refused or failed. */
  readonly audit: {
    readonly id: string;
    readonly at: string;
    readonly principal: string;
    /** The number of the operation, or what a command did. */
    readonly operation: string;
    readonly resource: string;
    readonly outcome: AuditOutcome;
    /** SHA-256 of the request's Idempotency-Key, if it had one. */
    readonly key_hash: string | null;
    readonly fencing_number: number | null;
    /** An `AuditDetails` object as JSON text. */
    readonly details: string | null;
    /** The chain of the process that wrote it, and its place there; null in rows of earlier releases. */
    readonly chain: string | null;
    readonly number: number | null;
    readonly key_id: string | null;
    readonly link: string | null;
  };
  /** Signed marks in the chains: `checkpoint`, `pruned` (all up to it), or `unused` (the number has no row). */
  readonly audit_marks: {
    readonly id: string;
    readonly kind: "checkpoint" | "pruned" | "unused";
    readonly at: string;
    readonly chain: string;
    readonly number: number;
    readonly key_id: string;
    readonly link: string;
    readonly signature: string;
  };
  /** The keys of all chains, sealed (base64). */
  readonly audit_keys: { readonly id: string; readonly sealed: string; readonly created_at: string };
  /** Replies for requests that are repeated with the same Idempotency-Key; only the SHA-256 of the key is stored. */
  readonly kept_replies: {
    readonly key_hash: string;
    readonly principal: string;
    /** Method and path. */
    readonly request: string;
    /** Sealed (base64) with a key derived from the server's and the client's key. */
    readonly sealed: string;
    readonly kept_until: number;
  };
  /** Every key that seals values in this database, each with a sealed sample (base64). */
  readonly server_keys: { readonly version: string; readonly sealed: string; readonly created_at: string };
}
