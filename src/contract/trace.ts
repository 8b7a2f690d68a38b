/** What a span is about; texts that users chose are not in it. */
export type SpanAttributes = { readonly [name: string]: string | number | boolean | undefined };

/** One operation of a trace, from its start to its end. */
export type Span = {
  /** The header by which another process continues the trace. */
  readonly traceparent: string;
  /** Runs work in which further spans belong to this one. */
  readonly within: <Result>(work: () => Result) => Result;
  /** Ends it, as failed if there is a reason. */
  readonly end: (attributes?: SpanAttributes, failure?: string) => void;
};

/** How a span starts. */
export type SpanStart = {
  readonly kind: "server" | "client" | "internal";
  readonly attributes: SpanAttributes;
  /** The header of another process, whose span it continues. @default the span in which it starts */
  readonly traceparent?: string | undefined;
};

/** Starts spans; the traces go to a collector. */
export type Tracer = {
  readonly start: (name: string, start: SpanStart) => Span;
  /** The header of the span in which this is called; undefined outside of spans. */
  readonly current: () => string | undefined;
};

let tracer: Tracer | null = null;

/** Sets the tracer of this process; without one, nothing is traced. */
export function setTracer(set: Tracer | null): void {
  tracer = set;
}

/** The tracer of this process; null while nothing is traced. */
export function currentTracer(): Tracer | null {
  return tracer;
}

/** Runs work as a span. */
export async function traced<Result>(name: string, start: SpanStart, work: () => Promise<Result>): Promise<Result> {
  const span = tracer?.start(name, start);
  if (span === undefined) return work();
  try {
    const result = await span.within(work);
    span.end();
    return result;
  } catch (error) {
    span.end({}, error instanceof Error ? error.name : "error");
    throw error;
  }
}

const causes = new Map<string, string>();

/** Lets the next pass over a target continue the trace of what is done now, such as the delivery of a webhook. */
export function continueInPass(target: string): void {
  const traceparent = tracer?.current();
  if (traceparent !== undefined) causes.set(target, traceparent);
}

/** The header that the next pass over a target continues, once. */
export function takePassCause(target: string): string | undefined {
  const traceparent = causes.get(target);
  causes.delete(target);
  return traceparent;
}
