import { errorMessage } from "../../contract/error-message.ts";
import { HoldfastError } from "../../core/errors.ts";
import { UnsafePathError } from "../../files/unsafe-path-error.ts";
import { TlsError } from "../../http/tls.ts";
import type { Log } from "../../log/log.ts";
import { SealKeyError } from "../../seal/seal-key.ts";
import { createControlPlane } from "../../server/control-plane.ts";
import { OptionsError } from "../../server/options.ts";
import { SeedError } from "../../server/seed/seed.ts";
import { StoreError } from "../../store/store-error.ts";
import { serverKeyOptions } from "../configuration/data-options.ts";
import { storeFailure } from "../errors/store-failure.ts";
import { tell } from "../output/log-stream.ts";
import { sentence, type Terminal } from "../terminal.ts";
import { embeddedFolder, embeddedServer, type ServerChoice } from "./server-choice.ts";

/** The embedded control plane, served by this process until disposal. */
export type Embedded = AsyncDisposable & { readonly choice: ServerChoice };

/** Starts the embedded control plane with its data under the state folder. */
export async function startEmbedded(state: string, log: Log, terminal: Terminal): Promise<Embedded> {
  const folder = embeddedFolder(state);
  try {
    const { clock, random } = terminal;
    const plane = await createControlPlane({
      clock,
      random,
      data: folder,
      port: 0,
      log,
      ...serverKeyOptions(terminal),
    });
    const message = `embedded control plane at ${plane.url}, data in ${folder}`;
    tell(terminal.stderr, { event: "embedded", message, url: plane.url }, () => sentence(message, terminal.stderr));
    const choice = { ...embeddedServer(folder, plane.url), token: () => plane.adminToken };
    return { choice, [Symbol.asyncDispose]: () => plane.close() };
  } catch (error) {
    throw startFailure(error, folder);
  }
}

/** Converts the error of a control plane that does not start into an error with a hint. */
export function startFailure(error: unknown, folder: string): unknown {
  if (error instanceof HoldfastError || error instanceof UnsafePathError) return error;
  if (error instanceof StoreError && error.code === "locked") {
    return new HoldfastError("locked", error.message, { hint: "stop the other one, or attach to it", cause: error });
  }
  if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") {
    return new HoldfastError("error", "the port is in use", {
      hint: "choose another with --port; 0 picks a free one",
      cause: error,
    });
  }
  if (error instanceof SeedError) {
    return new HoldfastError("invalid", `the seed is refused: ${error.message}`, {
      hint: error.hint,
      cause: error,
    });
  }
  if (error instanceof OptionsError || error instanceof TlsError || error instanceof SealKeyError) {
    return new HoldfastError("invalid", `the control plane does not start: ${error.message}`, { cause: error });
  }
  if (error instanceof StoreError) return storeFailure("the control plane does not start", error);
  const message = errorMessage(error);
  return new HoldfastError("error", `the control plane in ${folder} does not start: ${message}`, { cause: error });
}
