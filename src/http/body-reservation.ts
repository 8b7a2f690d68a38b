import type { FastifyReply, FastifyRequest } from "fastify";
import { BODY_CAP } from "../contract/limits.ts";
import { type ByteBudget, bodyLength, releaseAfter } from "./byte-budget.ts";

/** The reservation of the bytes of a request's body, from the arrival of its headers until the body is released. */
export type BodyReservation = {
  /** Counts the bytes for the caller, once it is known. */
  readonly assignTo: (owner: string) => void;
  /** Runs the handler: the bytes count until it has ended and the reply was sent, even if the client disconnects. */
  readonly during: <Result>(work: () => Promise<Result>) => Promise<Result>;
};

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
