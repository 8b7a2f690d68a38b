import { isSameResource } from "../../client/same-resource.ts";
import { isObject, type JsonObject, parseJsonOrNull } from "../../contract/json.ts";
import { Secret } from "../../contract/secret.ts";
import { type Kind, type LiveRow, tryReadRow } from "../../core/kind.ts";
import type { Identity } from "../../core/manifest.ts";
import type { OutcomeError } from "../../core/report/report.ts";
import type { Intent } from "../../state/ledger.ts";

/** The one-time token in a stored reply; null where there is none, or the reply is about another resource. */
export function tokenIn(reply: Uint8Array, manifest: JsonObject): Secret | null {
  const body = parseJsonOrNull(new TextDecoder().decode(reply));
  if (!isObject(body) || typeof body.token !== "string" || body.token === "") return null;
  return isSameResource({ manifest }, body.data) ? new Secret(body.token) : null;
}

/** The resource in a stored reply of a write; null where the reply does not carry it. */
export function rowIn(reply: Uint8Array, { operation, manifest }: Intent, kind: Kind): LiveRow | null {
  const body = parseJsonOrNull(new TextDecoder().decode(reply));
  const route = kind.writeRoutes.find((one) => one.operation === operation);
  if (!isObject(body) || route === undefined) return null;
  const row = tryReadRow(route, body.data);
  return row?.key === kind.key(manifest) ? row : null;
}

/** The error about a lost one-time token, with what to do next. */
export function lostToken(identity: Identity, lost: "token" | "reply" | "outcome"): OutcomeError {
  const ways = "use a new account name, or give it a secret_store_config";
  switch (lost) {
    case "token":
      return {
        code: "token-lost",
        message: `${identity} was created, but the reply carried no one-time token: ${ways}`,
      };
    case "reply":
      return {
        code: "token-unrecovered",
        message: `${identity} was created, but the reply with its one-time token was lost: ${ways}`,
      };
    case "outcome":
      return {
        code: "token-unrecovered",
        message: `${identity} may have been created by an interrupted run, and its one-time token would be lost: ${ways}`,
      };
  }
}
