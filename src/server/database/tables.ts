import type { JsonText } from "./json-text.ts";

/** A stored resource, which has an id. */
export type Stored<Value> = Value & { readonly id: string };

/** Columns of every resource: `json` is the resource as it is sent, the others are for queries. */
export type ResourceRow<Value> = { readonly id: string; readonly created_at: string; readonly json: JsonText<Value> };

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
  /** One row for each effect. */
  readonly audit: {
    readonly id: string;
    readonly at: string;
    readonly principal: string;
    readonly operation: string;
    readonly resource: string;
    /** SHA-256 of the request's Idempotency-Key, if it had one. */
    readonly key_hash: string | null;
    readonly fencing_number: number | null;
  };
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
