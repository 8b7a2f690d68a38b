import { Writable } from "node:stream";
import type { Clock } from "../../clock/clock.ts";
import type { Identity } from "../../core/manifest.ts";
import type { Step } from "../../core/plan/plan.ts";
import type { PassEvent } from "../../core/report/events.ts";
import type { Outcome } from "../../core/report/report.ts";
import { needsAttention, outcomeLines } from "../../render/outcome.ts";
import { choosePaint } from "../../render/paint.ts";
import { type ApplyProgress, progressLines, rolloutText, uploadingText, waitingText } from "../../render/progress.ts";
import type { Invocation } from "../command.ts";
import { logOf } from "../output/log-stream.ts";
import type { TerminalView } from "../output/terminal-view.ts";
import { columnsOn, say, type Terminal } from "../terminal.ts";

/** Shows the progress of an apply. */
export type ProgressReport = Disposable & {
  /** Returns a listener that forwards each event to this report and then to another listener. */
  readonly with: (other: Listener) => Listener;
  /** The stream for all other output while the apply runs. */
  readonly stderr: Terminal["stderr"];
  /** Whether the outcome of a resource was already shown. */
  readonly wasShown: (outcome: Outcome) => boolean;
};

const REDRAW_MS = 250;
/** Lines that arrive within this time are written together. */
const BATCH_MS = 50;
const SILENCE_MS = 10_000;
const MAX_SILENCE_MS = 60_000;
const ROWS = 24;
const MAX_ROWS = 8;

/** A block of lines at the bottom of a terminal that is redrawn in place. */
type LiveBlock = {
  /** Text written to this stream appears above the block. */
  readonly above: Terminal["stderr"];
  readonly draw: (lines: readonly string[]) => void;
  readonly clear: () => void;
};

/** Opens a block that is redrawn on a terminal; elsewhere, one line for each outcome and for each long wait. */
export async function openProgress(invocation: Invocation, view: TerminalView): Promise<ProgressReport> {
  const { stderr, env } = invocation.terminal;
  // A dumb terminal cannot erase a line.
  return stderr.isTTY === true && env.TERM !== "dumb"
    ? blockProgress(invocation, await openLiveBlock(stderr))
    : lineProgress(invocation, view);
}

function blockProgress({ flags, terminal }: Invocation, block: LiveBlock): ProgressReport {
  const { stderr, env, clock } = terminal;
  const paint = choosePaint(stderr, env, { noColor: flags.color === false });
  const counted = countProgress(clock);
  const draw = (): void => {
    const { columns: width = 80, rows = ROWS } = stderr;
    const progress = counted.current();
    if (progress === null) return;
    block.draw(progressLines(progress, clock.now(), { paint, width, rows: Math.min(MAX_ROWS, rows - 4) }));
  };
  let timer: Disposable | undefined;
  return {
    stderr: block.above,
    wasShown: () => false,
    with: following((event) => {
      counted.emit(event);
      if (event.what !== "begun") return;
      draw();
      timer = clock.every(REDRAW_MS, draw, { ref: false });
    }),
    [Symbol.dispose]: () => {
      timer?.[Symbol.dispose]();
      block.clear();
    },
  };
}

function lineProgress({ flags, terminal }: Invocation, { output, paint, width }: TerminalView): ProgressReport {
  const { stdout, stderr, env, clock } = terminal;
  const isResult = output === "text";
  const style = isResult ? paint : choosePaint(stderr, env, { noColor: flags.color === false });
  const counted = countProgress(clock);
  const shown = new Set<Identity>();
  let gathered = "";
  let flushing: Disposable | undefined;
  let silence: Disposable | undefined;
  const flush = (): void => {
    if (gathered !== "") (isResult ? stdout : stderr).write(gathered);
    gathered = "";
    flushing = undefined;
  };
  const listen = (afterMs: number): void => {
    silence?.[Symbol.dispose]();
    const speak = (): void => {
      const progress = counted.current();
      if (progress !== null && progress.active.size > 0) say(terminal, waitingText(progress, clock.now()));
      listen(Math.min(2 * afterMs, MAX_SILENCE_MS));
    };
    silence = clock.after(afterMs, speak, { ref: false });
  };
  const show = (step: Step, outcome: Outcome): void => {
    if (outcome.result === "unchanged") return;
    listen(SILENCE_MS);
    // A log has its own line for each outcome.
    if (!isResult && logOf(stderr) !== null) return;
    // Masking 10,000 whole manifests for lines beside the result would take a quarter of the time.
    const fields = isResult || step.action !== "create" ? step : undefined;
    const lines = outcomeLines(outcome, { paint: style, width, stepOf: () => fields });
    gathered += `${lines.join("\n")}\n`;
    if (!needsAttention(outcome)) shown.add(outcome.identity);
    flushing ??= clock.after(BATCH_MS, flush, { ref: false });
  };
  return {
    stderr,
    wasShown: ({ identity, interrupted }) => isResult && interrupted === undefined && shown.has(identity),
    with: following((event) => {
      counted.emit(event);
      if (event.what === "begun") listen(SILENCE_MS);
      if (event.what === "finished") show(event.step, event.outcome);
    }),
    [Symbol.dispose]: () => {
      silence?.[Symbol.dispose]();
      flushing?.[Symbol.dispose]();
      flush();
    },
  };
}

type Listener = (event: PassEvent) => void;

function following(emit: Listener): (other: Listener) => Listener {
  return (other) => (event) => {
    emit(event);
    other(event);
  };
}

type Counted = {
  readonly emit: Listener;
  /** Null before the first write. */
  readonly current: () => ApplyProgress | null;
};

function countProgress({ now }: Clock): Counted {
  const active = new Map<Identity, { readonly doing: string; readonly since: number }>();
  let progress: ApplyProgress | null = null;
  const count = (finished: number, bad: number): void => {
    if (progress !== null) progress = { ...progress, done: progress.done + finished, failed: progress.failed + bad };
  };
  return {
    current: () => progress,
    emit: (event) => {
      switch (event.what) {
        case "begun":
          progress = { steps: event.steps, done: 0, failed: 0, startedAt: now(), active };
          return;
        case "started":
          active.set(event.step.identity, { doing: "writing", since: now() });
          return;
        case "uploading": {
          const since = active.get(event.identity)?.since ?? now();
          active.set(event.identity, { doing: uploadingText(event), since });
          return;
        }
        case "rollout": {
          const since = active.get(event.step.identity)?.since ?? now();
          active.set(event.step.identity, { doing: rolloutText(event.status), since });
          return;
        }
        case "finished":
          active.delete(event.step.identity);
          count(1, needsAttention(event.outcome) ? 1 : 0);
          return;
      }
    },
  };
}

/** Opens a block at the bottom of a terminal. */
async function openLiveBlock(stream: Terminal["stderr"]): Promise<LiveBlock> {
  const { createLogUpdate } = await import("log-update");
  // A hidden cursor would stay hidden if the process is killed.
  const update = createLogUpdate(stream, { showCursor: true });
  let shown = "";
  const draw = (text: string): void => {
    shown = text;
    if (text !== "") update(text);
  };
  const clear = (): void => {
    if (shown !== "") update.clear();
    shown = "";
  };
  const above = new Writable({
    decodeStrings: false,
    write: (part: string | Buffer, _, done) => {
      const text = shown;
      clear();
      stream.write(part);
      // The block does not overwrite an unfinished line; the next tick draws it.
      if (part.toString().endsWith("\n")) draw(text);
      done();
    },
  });
  return {
    above: Object.assign(above, { isTTY: true, columns: columnsOn(stream) }),
    draw: (lines) => draw(lines.join("\n")),
    clear,
  };
}
