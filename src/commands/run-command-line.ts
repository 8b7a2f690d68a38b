import { CommanderError } from "commander";
import { setTracer } from "../contract/trace.ts";
import { exitCodes } from "../core/errors.ts";
import { failureReport } from "../render/failure.ts";
import { endingOf } from "./errors/ending-of.ts";
import { refuseTokenFlag, wantsJson } from "./flags/raw-command-line.ts";
import { tell } from "./output/log-stream.ts";
import { createProgram } from "./program.ts";
import { hasResult, type ProcessTerminal, type RunEvents, sentence, type Warnings, writeResult } from "./terminal.ts";

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
