import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Context,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { SpanAttributes, Tracer } from "../contract/trace.ts";

type Variables = { readonly [name: string]: string | undefined };

/** A tracer that sends its spans to the collector of the environment, and what ends it. */
export type OtlpTracer = {
  readonly tracer: Tracer;
  /** Sends what is left; does not wait for a slow collector. */
  readonly close: () => Promise<unknown>;
};

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

/**
 * Starts to trace as the variables `OTEL_…` say. Spans are sent in the background: those that a collector does not take in
 * time are dropped. `onFailure` is told why when that begins, and null when it is over.
 */
export function startOtlpTracer(
  env: Variables,
  { version, onFailure }: { readonly version: string; readonly onFailure: (reason: string | null) => void },
): OtlpTracer {
  const resource = resourceFromAttributes({
    "service.name": "holdfast",
    "service.version": version,
    "process.pid": process.pid,
  }).merge(detectResources({ detectors: [envDetector] }));
  const exporter = watched(new OTLPTraceExporter(), onFailure);
  const processor = new BatchSpanProcessor({
    exporter,
    ...numberOf("maxExportBatchSize", env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE),
    ...numberOf("scheduledDelayMillis", env.OTEL_BSP_SCHEDULE_DELAY),
    ...numberOf("exportTimeoutMillis", env.OTEL_BSP_EXPORT_TIMEOUT),
    ...numberOf("maxQueueSize", env.OTEL_BSP_MAX_QUEUE_SIZE),
  });
  const provider = new TracerProvider({ resource, sampler: samplerOf(env), spanProcessors: [processor] });
  const inner = provider.getTracer("holdfast", version);
  const contexts = new AsyncLocalStorage<Context>();
  // A pipeline or a process manager may have begun the trace.
  const root = contextOf(env.TRACEPARENT) ?? ROOT_CONTEXT;
  const tracer: Tracer = {
    start: (name, { kind, attributes, traceparent }) => {
      const parent = contextOf(traceparent) ?? contexts.getStore() ?? root;
      const span = inner.startSpan(name, { kind: kinds[kind], attributes: known(attributes) }, parent);
      const context = trace.setSpan(parent, span);
      return {
        traceparent: headerOf(span.spanContext()),
        within: (work) => contexts.run(context, work),
        end: (more = {}, failure) => end(span, more, failure),
      };
    },
    current: () => {
      const context = trace.getSpanContext(contexts.getStore() ?? ROOT_CONTEXT);
      return context === undefined ? undefined : headerOf(context);
    },
  };
  return { tracer, close: () => provider.shutdown() };
}

function end(span: OtelSpan, more: SpanAttributes, failure: string | undefined): void {
  span.setAttributes(known(more));
  if (failure !== undefined) span.setAttribute("error.type", failure).setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

function known(attributes: SpanAttributes): { [name: string]: string | number | boolean } {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;

function contextOf(traceparent: string | undefined): Context | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

function headerOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, "0")}`;
}

function samplerOf({ OTEL_TRACES_SAMPLER: name = "", OTEL_TRACES_SAMPLER_ARG: text = "" }: Variables): Sampler {
  const ratio = text !== "" && Number(text) >= 0 && Number(text) <= 1 ? Number(text) : 1;
  const own = name.endsWith("always_off")
    ? new AlwaysOffSampler()
    : name.endsWith("traceidratio")
      ? new TraceIdRatioBasedSampler(ratio)
      : new AlwaysOnSampler();
  return name === "" || name.startsWith("parentbased_") ? new ParentBasedSampler({ root: own }) : own;
}

function numberOf(option: string, text: string | undefined): { readonly [option: string]: number } {
  return text !== undefined && /^[1-9]\d*$/.test(text) ? { [option]: Number(text) } : {};
}

/** The same exporter, which tells when exports begin to fail, and when they succeed again. */
function watched(exporter: SpanExporter, onFailure: (reason: string | null) => void): SpanExporter {
  let isFailing = false;
  return {
    export: (spans: ReadableSpan[], done) =>
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== 0;
        if (hasFailed !== isFailing) onFailure(hasFailed ? (result.error?.message ?? "it gave no reason") : null);
        isFailing = hasFailed;
        // The library would write the reason for each batch to the console.
        done({ code: 0 });
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
