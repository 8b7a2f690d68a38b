import { CommanderError } from "commander";
import { errorMessage } from "../../contract/error-message.ts";
import { type FailureText, HoldfastError } from "../../core/errors.ts";
import { printableLines } from "../../render/escape.ts";
import { StoreError } from "../../store/store-error.ts";
import { streamFor, tellFailure } from "../output/log-stream.ts";
import { type ProcessTerminal, stoppedBy } from "../terminal.ts";
import { toHoldfastError } from "./to-holdfast-error.ts";

/** Reports on stderr why a command ended, and returns that reason. */
export function endingOf(error: unknown, terminal: ProcessTerminal): FailureText {
  // Commander has already reported the error in the command line.
  if (error instanceof CommanderError) return usageError(error);
  const { stderr, env } = terminal;
  const stopped = stoppedBy(terminal);
  const reason =
    error instanceof HoldfastError ? error : ((stopped && whileWaiting(stopped, error)) ?? toHoldfastError(error));
  const ending = reason ?? unexpected(error);
  tellFailure(streamFor(error, stderr), "failed", ending);
  if (reason === null && env.HOLDFAST_LOG_LEVEL === "debug" && error instanceof Error) {
    stderr.write(`${printableLines(error.stack ?? "")}\n`);
  }
  return ending;
}

// A database that does not answer is what the command has waited for.
function whileWaiting(stopped: HoldfastError, error: unknown): HoldfastError {
  if (!(error instanceof StoreError) || error.code !== "unreachable") return stopped;
  const { code, message, diagnostics } = stopped;
  return new HoldfastError(code, `${message}: ${error.message}`, {
    hint: toHoldfastError(error)?.hint ?? null,
    diagnostics,
  });
}

function usageError({ message }: CommanderError): FailureText {
  const [summary = "", ...rest] = message.replace(/^error: /, "").split("\n");
  return { code: "invalid", message: summary, hint: rest.join(" ") || null, diagnostics: [] };
}

function unexpected(error: unknown): FailureText {
  const message = errorMessage(error);
  return { code: "error", message, hint: "this is a fault of holdfast: please report it", diagnostics: [] };
}
