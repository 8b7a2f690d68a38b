import type { Json, JsonObject } from "../../contract/json.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import { redactConnectionSecrets } from "../../model/connection-secret.ts";
import { MASK, redactCredentials } from "../../model/credential.ts";
import { maskQuotations } from "./mask-quotations.ts";
import { redactManifest } from "./redact-manifest.ts";

/** A server's message about a manifest, without the manifest's secrets: servers quote what they refuse. */
export function redactMessage(said: string, shape: Shape, manifest: JsonObject): string {
  const secrets = new Set<string>();
  redactManifest(shape, manifest, {
    mask: (hidden) => {
      for (const secret of texts(hidden)) secrets.add(secret);
      return MASK;
    },
  });
  return redactConnectionSecrets(maskQuotations(said, secrets));
}

const ADDRESS_USER = /\b([a-z][a-z0-9+.-]{1,30}:\/\/)[^\s/@]{1,512}@/gi;
const BEARER = /\b(bearer|basic) +[\w.~+/=-]{8,}/gi;

/** A failure message with masked credentials: those of known formats, in connection strings, headers and addresses. */
export function redactFailureMessage(message: string): string {
  return redactConnectionSecrets(redactCredentials(message))
    .replace(ADDRESS_USER, `$1${MASK}@`)
    .replace(BEARER, `$1 ${MASK}`);
}

function texts(value: Json): readonly string[] {
  if (value === null) return [];
  return typeof value === "object" ? Object.values(value).flatMap(texts) : [String(value)];
}
