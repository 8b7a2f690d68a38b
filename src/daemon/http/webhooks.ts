// biome-ignore-all lint/plugin: a key must not be foreseen
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Random } from "../../clock/random.ts";
import { BODY_CAP } from "../../contract/limits.ts";
import type { Secret } from "../../contract/secret.ts";
import { bodyTooLarge, HttpError } from "../../http/http-error.ts";
import type { Meter } from "../meter.ts";
import { areEqualSecrets } from "./equal-secrets.ts";

/** The push webhook of a source. */
export type Webhook = {
  /** Read again for each request; null if there is no secret now, and then every delivery is refused. */
  readonly secret: () => Secret | null;
  /** Triggers a pass, which fetches from the remote; the delivery itself carries no commit. */
  readonly fire: () => void;
};

type HookOf = (source: string) => Webhook | undefined;

/** How many delivery ids are kept, so that a repeated delivery triggers no pass. */
const DELIVERIES = 1000;

// The key for an unknown source, so that its reply and its timing are those of a known one.
const dummyKey = randomBytes(32);

/**
 * Adds `POST /hooks/<source>` for GitHub and GitLab. The body is only hashed, never parsed: it can name no repository,
 * branch or commit.
 */
export function addWebhooks(
  app: FastifyInstance,
  hookOf: HookOf,
  { count, random }: { readonly count: Meter["count"]; readonly random: Random },
): void {
  const seen = new Set<string>();
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", async (request: FastifyRequest, payload: AsyncIterable<Buffer>) =>
      hmacOf(payload, keyFor(hookOf, request)),
    );
    scope.post("/hooks/:source", async (request, reply) => {
      const source = sourceOf(request);
      const hook = hookOf(source);
      const key = keyFor(hookOf, request);
      const digest = Buffer.isBuffer(request.body) ? request.body : createHmac("sha256", key).digest();
      if (!isAuthentic(request.headers, digest, key)) {
        // Only the names of sources become labels.
        if (hook !== undefined) count("webhooks", source, "refused");
        throw unauthenticated();
      }
      const isFirst = isNew(seen, `${source} ${deliveryOf(request.headers, random)}`);
      if (isFirst) hook?.fire();
      count("webhooks", source, isFirst ? "accepted" : "repeated");
      return reply.code(202).send({ accepted: true });
    });
  });
}

function sourceOf({ params }: FastifyRequest): string {
  return typeof params === "object" && params !== null && "source" in params ? String(params.source) : "";
}

function keyFor(hookOf: HookOf, request: FastifyRequest): Buffer {
  const secret = hookOf(sourceOf(request))?.secret() ?? null;
  return secret === null ? dummyKey : Buffer.from(secret.open());
}

// Hashes the body while it arrives, so that none is held in memory.
async function hmacOf(payload: AsyncIterable<Buffer>, key: Buffer): Promise<Buffer> {
  const hmac = createHmac("sha256", key);
  let size = 0;
  for await (const part of payload) {
    size += part.length;
    if (size > BODY_CAP) throw bodyTooLarge();
    hmac.update(part);
  }
  return hmac.digest();
}

// GitHub signs the body, GitLab sends the secret itself; a repeated header matches neither.
function isAuthentic(headers: IncomingHttpHeaders, digest: Buffer, key: Buffer): boolean {
  const { "x-hub-signature-256": signature, "x-gitlab-token": token } = headers;
  if ((signature === undefined) === (token === undefined)) return false;
  if (typeof token === "string") return areEqualSecrets(token, key);
  const hex = /^sha256=([0-9a-f]{64})$/.exec(String(signature))?.[1];
  return hex !== undefined && timingSafeEqual(Buffer.from(hex, "hex"), digest);
}

// A delivery without an id counts as new: the passes that it triggers collapse anyway.
function deliveryOf(headers: IncomingHttpHeaders, random: Random): string {
  const id = headers["x-github-delivery"] ?? headers["x-gitlab-event-uuid"];
  return typeof id === "string" && id.length <= 128 ? id : random.bytes(8).toString("hex");
}

function isNew(seen: Set<string>, delivery: string): boolean {
  if (seen.has(delivery)) return false;
  seen.add(delivery);
  const [oldest] = seen;
  if (seen.size > DELIVERIES && oldest !== undefined) seen.delete(oldest);
  return true;
}

function unauthenticated(): HttpError {
  return new HttpError(401, "unauthenticated", "the signature or the token of the webhook is missing or wrong");
}
