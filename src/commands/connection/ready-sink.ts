import { errorMessage } from "../../contract/error-message.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { ServerSession } from "../../engine/session.ts";
import type { Sink } from "../../engine/token-sink.ts";

/** The sink of a session, which can store a token of that identity now; the error says that `nothing` was done. */
export async function readySink({ sink }: ServerSession, identity: string, nothing: string): Promise<Sink> {
  if (sink === null) {
    throw new HoldfastError("invalid", "nothing says where the token may go, and nobody reads this output", {
      hint: `${nothing}: name a sink with --sink file`,
    });
  }
  await sink.check(identity).catch((cause: unknown) => {
    throw new HoldfastError("error", `the sink cannot store a token: ${errorMessage(cause)}`, {
      hint: `${nothing}; correct that, and run it again`,
      cause,
    });
  });
  return sink;
}
