/** What an error code of the server means, and what a caller does about it. */
export type ErrorCode = { readonly status: number; readonly meaning: string };

/** Every `code` of an error reply. */
export const errorCodes: { readonly [code: string]: ErrorCode } = {
  "bad-request": {
    status: 400,
    meaning: "The request is malformed: `details` or the message says where. Correct it before you send it again",
  },
  "digest-mismatch": {
    status: 400,
    meaning: "The file that arrived has another SHA-256 than `Repr-Digest` or `Content-Digest` says. Send it again",
  },
  unauthorized: { status: 401, meaning: "No token, or one that is unknown, ended or revoked. Give a valid one" },
  forbidden: { status: 403, meaning: "No role of the caller permits this. Ask an administrator for one" },
  "not-found": { status: 404, meaning: "It is absent, or the caller may not see it: both get the same reply" },
  "route-not-found": {
    status: 404,
    meaning: "There is no such path: it is misspelt, or an extension that this server does not have",
  },
  "method-not-allowed": { status: 405, meaning: "The path takes other methods, which the header `Allow` names" },
  "request-timeout": { status: 408, meaning: "The request took too long to arrive. Send it again" },
  administrator: { status: 409, meaning: "The administrator cannot be disabled: replace the administrator's token" },
  "deployment-in-progress": {
    status: 409,
    meaning: "The newest deployment of the application has not ended. Wait for it, or send `forceDeploy: true`",
  },
  disabled: { status: 409, meaning: "The account or user is disabled for good. Use another name" },
  "idempotency-key-in-flight": {
    status: 409,
    meaning: "The first request with this key is in progress. Repeat it after `Retry-After`",
  },
  "lease-held": { status: 409, meaning: "Another holder has a lease on this scope. Wait until it ends" },
  "name-taken": { status: 409, meaning: "The name belongs to something else, or to the same of another type" },
  "not-simulated": { status: 409, meaning: "This server does not simulate rollouts, so that none fails on purpose" },
  "path-taken": {
    status: 409,
    meaning: "The stage has a file or folder that a file system may take for this path. Choose another path",
  },
  "reply-lost": {
    status: 409,
    meaning: "The key was used, and its reply was encrypted with a key that is gone. Read what the write made",
  },
  "reply-not-kept": {
    status: 409,
    meaning: "The key was used, and its reply was too large to be stored. Read what the write made",
  },
  "secret-taken": {
    status: 409,
    meaning: "The secret at this path does not belong to the account. Choose another path",
  },
  "stage-failed": { status: 409, meaning: "The stage failed and cannot be registered. Stage the files again" },
  "stage-registered": { status: 409, meaning: "The stage is registered as a version already" },
  "user-exists": { status: 409, meaning: "The user exists and signs in otherwise. Remove the user first" },
  "version-immutable": {
    status: 409,
    meaning: "The version has other content, and versions never change. Write the next version",
  },
  "length-required": { status: 411, meaning: "A file is sent with `Content-Length`" },
  "stale-fencing-token": {
    status: 412,
    meaning: "A newer lease covers what is written. Stop writing, and take a new lease",
  },
  "unknown-fencing-token": { status: 412, meaning: "The number was not issued for this scope. Correct both" },
  "body-too-large": { status: 413, meaning: "The body is larger than 8 MiB" },
  "reply-too-large": {
    status: 413,
    meaning: "The page would be larger than 8 MiB. Ask with the `limit` that is named",
  },
  "stage-too-large": {
    status: 413,
    meaning: "The stage has no room for this file: it has too many, or too many bytes",
  },
  "path-too-long": { status: 414, meaning: "The path is too long" },
  "not-json": { status: 415, meaning: "The body is not `application/json`" },
  "range-not-satisfiable": { status: 416, meaning: "The file has no bytes in this range: it ends before" },
  "idempotency-key-reused": {
    status: 422,
    meaning: "The key was used with another body. Take a new key for each intended write",
  },
  unprocessable: { status: 422, meaning: "The manifest is invalid: `details` lists its faults with their places" },
  "secret-store-failed": {
    status: 424,
    meaning: "The secret store of the integration cannot be reached from the server",
  },
  "rate-limited": { status: 429, meaning: "More requests than the server allows a caller. Wait for `Retry-After`" },
  "too-much-in-flight": { status: 429, meaning: "Too many bytes of this caller are in flight. Send less at a time" },
  "headers-too-large": { status: 431, meaning: "The headers are larger than 16 KiB" },
  internal: { status: 500, meaning: "The server failed: its log says why, under the `x-request-id` of the reply" },
  "not-implemented": { status: 501, meaning: "The server has no code for this operation" },
  "server-busy": { status: 503, meaning: "Too many bytes of all callers are in flight. Wait for `Retry-After`" },
  "storage-unavailable": { status: 503, meaning: "The database does not answer: nothing was changed. Try again" },
  "outcome-unknown": {
    status: 504,
    meaning: "It is unknown whether the write was done. Read the resource, or repeat the call with its key",
  },
  "storage-full": { status: 507, meaning: "The disk of the server is full: nothing was changed" },
};
