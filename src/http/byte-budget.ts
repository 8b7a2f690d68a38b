import type { IncomingHttpHeaders } from "node:http";
import type { FastifyReply } from "fastify";
import { HttpError } from "./http-error.ts";

/** Bytes that one request or reply holds in memory, counted for one owner. */
export type Reservation = {
  /** Counts them for another owner; releases them and throws when that owner holds too many. */
  readonly moveTo: (owner: string) => void;
  /** Releases them; further calls have no effect. */
  readonly release: () => void;
};

/** Reserves bytes for an owner, or refuses: 429 when the owner holds too many, 503 when all owners together do. */
export type ByteBudget = (owner: string, bytes: number) => Reservation;

/**
 * Limits the bytes that all requests hold together. An owner may hold as many as are still free: the first one gets half
 * of the total, the next one half of the rest, and so on, so that no owner can starve the others.
 */
export function createByteBudget(total: number): ByteBudget {
  const held = new Map<string, number>();
  let available = total;
  const reserve = (owner: string, bytes: number) => {
    const own = held.get(owner) ?? 0;
    if (own + bytes > available) throw own > 0 ? tooMuch() : busy();
    held.set(owner, own + bytes);
    available -= bytes;
  };
  const free = (owner: string, bytes: number) => {
    const own = (held.get(owner) ?? 0) - bytes;
    if (own > 0) held.set(owner, own);
    else held.delete(owner);
    available += bytes;
  };
  return (first, bytes) => {
    reserve(first, bytes);
    let owner: string | null = first;
    const release = () => {
      if (owner !== null) free(owner, bytes);
      owner = null;
    };
    return {
      moveTo: (next) => {
        if (owner === null) return;
        release();
        reserve(next, bytes);
        owner = next;
      },
      release,
    };
  };
}

/** The length of a request's body from its headers; `max` for a chunked body, whose length is unknown. */
export function bodyLength(headers: IncomingHttpHeaders, max: number): number {
  return headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : max;
}

/** Releases a reservation once the reply was sent, or the client disconnected. */
export function releaseAfter({ raw }: FastifyReply, { release }: Reservation): void {
  if (raw.destroyed) release();
  else raw.once("close", release);
}

const retryLater = { headers: { "retry-after": "1" } };

function tooMuch(): HttpError {
  return new HttpError(429, "too-much-in-flight", "you have too many bytes in flight: send less at a time", retryLater);
}

function busy(): HttpError {
  return new HttpError(503, "server-busy", "the server has too many bytes in flight", retryLater);
}
