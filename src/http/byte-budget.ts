import type { IncomingHttpHeaders } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { BODY_CAP } from "../contract/limits.ts";
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

/** The reservation of the bytes of a request's body, from the arrival of its headers until the body is released. */
export type BodyReservation = {
  /** Counts the bytes for the caller, once it is known. */
  readonly assignTo: (owner: string) => void;
  /** Runs the handler: the bytes count until it has ended and the reply was sent, even if the client disconnects. */
  readonly during: <Result>(work: () => Promise<Result>) => Promise<Result>;
};

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

/**
 * Reserves the bytes of a request's body before it is read: for the client's address until the caller is known. Null
 * when there is no body.
 */
export function reserveBody(request: FastifyRequest, reply: FastifyReply, budget: ByteBudget): BodyReservation | null {
  const length = bodyLength(request.raw.headers, BODY_CAP);
  if (length === 0) return null;
  const reservation = budget(`address ${request.ip}`, length);
  let isRunning = false;
  reply.raw.once("close", () => {
    if (!isRunning) reservation.release();
  });
  return {
    assignTo: reservation.moveTo,
    during: async (work) => {
      isRunning = true;
      try {
        return await work();
      } finally {
        releaseAfter(reply, reservation);
      }
    },
  };
}
