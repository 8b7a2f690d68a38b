import { isSameResource } from "../client/same.ts";
import { isObject, type JsonObject } from "../contract/json.ts";
import { Secret } from "../contract/secret.ts";

/** The one-time token in a reply that was put away; null where there is none, or the reply tells of another resource. */
export function tokenIn(reply: Uint8Array, manifest: JsonObject): Secret | null {
  const body = parsed(reply);
  if (!isObject(body) || typeof body.token !== "string" || body.token === "") return null;
  return isSameResource({ manifest }, body.data) ? new Secret(body.token) : null;
}

function parsed(reply: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(reply));
  } catch {
    return null;
  }
}
