import { CommanderError } from "commander";
import { errorMessage } from "../contract/error-message.ts";
import { setTracer } from "../contract/trace.ts";
import { exitCodes, type FailureText, HoldfastError } from "../core/errors.ts";
import { printableLines } from "../render/escape.ts";
import { failureReport } from "../render/failure.ts";
import { StoreError } from "../store/store-error.ts";
import { toHoldfastError } from "./errors/to-holdfast-error.ts";
import { refuseTokenFlag, wantsJson } from "./flags/raw-command-line.ts";
import { streamFor, tell, tellFailure } from "./output/log-stream.ts";
import { createProgram, type RunEvents } from "./program.ts";
import { hasResult, type ProcessTerminal, sentence, stoppedBy, type Warnings, writeResult } from "./terminal.ts";

/** Runs a command line, reports why it failed if it did, and returns its exit code. */
export async function runCommandLine(args: readonly string[], terminal: ProcessTerminal): Promise<number> {
  await using _ = await startTracing(terminal);
  let exitCode = 0;
  const known: { warnings?: Warnings } = {};
  const events: RunEvents = {
    begun: (warnings) => {
      known.warnings = warnings;
    },
    done: (code) => {
      exitCode = code;
    },
  };
  try {
    refuseTokenFlag(args);
    await createProgram(terminal, events, args).parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    // Commander exits with 0 after it has printed the help or the version.
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const ending = endingOf(error, terminal);
    if (wantsJson(args, terminal.env) && !hasResult(terminal)) {
      await writeResult(terminal, failureReport(ending, known.warnings?.all()));
    }
    return exitCodes[ending.code];
  }
}

// The results are out already; a collector that does not answer is not waited for.
const TRACES_MS = 1000;

/** Traces the command where the environment names a collector; nothing of that is loaded otherwise. */
async function startTracing({ env, version, clock, stderr }: ProcessTerminal): Promise<AsyncDisposable | null> {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const isOff = /^true$/i.test(env.OTEL_SDK_DISABLED ?? "") || env.OTEL_TRACES_EXPORTER === "none";
  if (!endpoint || isOff) return null;
  const { startOtlpTracer } = await import("../log/otlp-tracer.ts");
  const onFailure = (reason: string | null): void => {
    const message =
      reason === null ? "traces are sent again" : `traces are not sent, and are dropped meanwhile: ${reason}`;
    const event = reason === null ? "traces-sent" : "traces-not-sent";
    tell(stderr, { level: reason === null ? "info" : "warn", event, message }, () => sentence(message, stderr));
  };
  const { tracer, close } = startOtlpTracer(env, { version, onFailure });
  setTracer(tracer);
  return {
    [Symbol.asyncDispose]: async () => {
      setTracer(null);
      await Promise.race([close(), clock.sleep(TRACES_MS, { ref: false })]).catch(() => {});
    },
  };
}

/** Reports on stderr why a command ended, and returns that reason. */
function endingOf(error: unknown, terminal: ProcessTerminal): FailureText {
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
