import { createHmac } from "node:crypto";
import type { Clock, Stop } from "../../clock/clock.ts";
import type { Secret } from "../../contract/secret.ts";
import type { ContentGate, GateAnswer, GatedContent } from "../../core/gates/content-gate.ts";
import { unanswered } from "../../core/gates/judge-metric.ts";
import { judgeReply, MAX_GATE_REPLY } from "../../core/gates/judge-reply.ts";
import { splitIdentity, splitVersion } from "../../core/manifest.ts";
import { isSentInClear } from "../../http/loopback.ts";

/** How long a service that judges may take, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** How a service that judges is asked. */
type Asking = Stop & { readonly clock: Clock; readonly readSecret: (file: string) => Secret };

/**
 * Asks the service at the address of a gate, with a signed request. The signature is that of the webhooks which GitHub sends
 * and Holdfast accepts; the time in the body lets the service refuse an old request.
 */
export async function askUrl(
  { url, secretFile }: Extract<ContentGate, { readonly is: "url" }>,
  { identity, content }: Pick<GatedContent, "identity" | "content">,
  { clock, readSecret, signal }: Asking,
): Promise<GateAnswer> {
  // Over plain HTTP anybody on the way could answer.
  if (isSentInClear(url)) return unanswered("its address must begin with https://, or be on this machine");
  const { version } = splitVersion(splitIdentity(identity).key);
  const body = JSON.stringify({ identity, version, digest: content, at: new Date(clock.now()).toISOString() });
  const signature = signatureOr(body, secretFile, readSecret);
  if (signature === null) return unanswered("the file with its secret cannot be read, or is empty");
  const timeout = clock.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json",
        "x-hub-signature-256": signature,
        "x-holdfast-event": "gate",
      },
      body,
      redirect: "manual",
      signal: AbortSignal.any([signal, timeout]),
    });
    const { status, headers } = response;
    return judgeReply({ status, contentType: headers.get("content-type"), body: await readBounded(response) });
  } catch (error) {
    if (signal.aborted) throw error;
    return unanswered(timeout.aborted ? `it did not answer within ${TIMEOUT_MS / 1000} s` : "it cannot be reached");
  }
}

function signatureOr(body: string, file: string, readSecret: Asking["readSecret"]): string | null {
  try {
    const key = readSecret(file).open();
    return key === "" ? null : `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;
  } catch {
    return null;
  }
}

// A body is read as far as an answer may be long, and not one byte further.
async function readBounded({ body }: Response): Promise<string | null> {
  if (body === null) return "";
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body) {
    length += part.byteLength;
    if (length > MAX_GATE_REPLY) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
