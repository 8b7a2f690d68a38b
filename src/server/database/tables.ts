import type { JsonText } from "./json-text.ts";

/** Columns that every resource has: `json` is the resource as it is sent, the others find and order it. */
export type ResourceRow<Value> = { readonly id: string; readonly created_at: string; readonly json: JsonText<Value> };

/** The tables of the control plane's database; each resource adds its own. */
export interface Tables {
  readonly users: { readonly id: string; readonly slug: string; readonly display_name: string };
  /** Opaque tokens of users; of the token itself only its SHA-256 is kept. */
  readonly tokens: {
    readonly hash: string;
    readonly user_id: string;
    readonly name: string;
    readonly created_at: string;
  };
  /** One row for each role that a manifest gives; `source` is the resource whose manifest it is. */
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
    /** SHA-256 of the Idempotency-Key that the request carried, where it did. */
    readonly key_hash: string | null;
    readonly fencing_number: number | null;
  };
  /** Replies that are given again to a request with the same Idempotency-Key, of which only the SHA-256 is kept. */
  readonly kept_replies: {
    readonly key_hash: string;
    readonly principal: string;
    /** Method and path. */
    readonly request: string;
    /** Sealed (base64) under a key that follows from the server's and the client's. */
    readonly sealed: string;
    readonly kept_until: number;
  };
  /** Every key that something here is sealed with, by a text that it sealed (base64). */
  readonly server_keys: { readonly version: string; readonly sealed: string; readonly created_at: string };
}
