import type { IncomingHttpHeaders } from "node:http";
import type { FastifyReply } from "fastify";
import { HttpError } from "./http-error.ts";

/** Bytes that one request holds; they count for whoever is thought to have sent them. */
export type Reservation = {
  /** Counts them for somebody else from now on; refused, and let go of, when that one holds too many. */
  readonly moveTo: (owner: string) => void;
  /** Lets go of them; repeatable. */
  readonly release: () => void;
};

/** Takes bytes for an owner, or refuses them: 429 where the owner holds too many already, 503 where all do together. */
export type ByteBudget = (owner: string, bytes: number) => Reservation;

/**
 * Bounds the bytes that all requests hold together. Nobody gets more than is still free: one owner alone comes to half of
 * all, the next one to half of the rest, and so on, so that none can starve the others.
 */
export function createByteBudget(total: number): ByteBudget {
  const held = new Map<string, number>();
  let free = total;
  const take = (owner: string, bytes: number) => {
    const own = held.get(owner) ?? 0;
    if (own + bytes > free) throw own > 0 ? tooMuch() : busy();
    held.set(owner, own + bytes);
    free -= bytes;
  };
  const giveBack = (owner: string, bytes: number) => {
    const own = (held.get(owner) ?? 0) - bytes;
    if (own > 0) held.set(owner, own);
    else held.delete(owner);
    free += bytes;
  };
  return (first, bytes) => {
    take(first, bytes);
    let owner: string | null = first;
    const release = () => {
      if (owner !== null) giveBack(owner, bytes);
      owner = null;
    };
    return {
      moveTo: (next) => {
        if (owner === null) return;
        release();
        take(next, bytes);
        owner = next;
      },
      release,
    };
  };
}

/** The bytes of a request's body as its headers tell of them; one that does not tell may have as many as `most`. */
export function bodyLength(headers: IncomingHttpHeaders, most: number): number {
  return headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : most;
}

/** Lets go of a share once the reply has gone, or its client has. */
export function releaseAfter({ raw }: Pick<FastifyReply, "raw">, { release }: Reservation): void {
  if (raw.destroyed) release();
  else raw.once("close", release);
}

const later = { headers: { "retry-after": "1" } };

function tooMuch(): HttpError {
  return new HttpError(429, "too-much-in-flight", "you have too many bytes in flight: send less at a time", later);
}

function busy(): HttpError {
  return new HttpError(503, "server-busy", "the server has too many bytes in flight", later);
}
