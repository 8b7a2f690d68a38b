import type { FastifyReply, FastifyRequest } from "fastify";
import { BODY_CAP } from "../contract/limits.ts";
import { type ByteBudget, bodyLength, releaseAfter } from "./byte-budget.ts";

/** The body of a request, counted from its headers on until nobody holds it any more. */
export type BodyReservation = {
  /** Says who sends it. */
  readonly belongsTo: (owner: string) => void;
  /** Works on it: it counts until the work is over and the reply has gone, whatever becomes of the client. */
  readonly during: <Result>(work: () => Promise<Result>) => Promise<Result>;
};

/**
 * Counts the body of a request before it is read: until it is known who sends it, for the address that it comes from.
 * Null where there is none.
 */
export function reserveBody(request: FastifyRequest, reply: FastifyReply, budget: ByteBudget): BodyReservation | null {
  const length = bodyLength(request.raw.headers, BODY_CAP);
  if (length === 0) return null;
  const share = budget(`address ${request.ip}`, length);
  let isWorkedOn = false;
  reply.raw.once("close", () => {
    if (!isWorkedOn) share.release();
  });
  return {
    belongsTo: share.moveTo,
    during: async (work) => {
      isWorkedOn = true;
      try {
        return await work();
      } finally {
        releaseAfter(reply, share);
      }
    },
  };
}
