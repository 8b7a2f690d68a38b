// Generated from the files of this folder by `npm run generate`.
import type { SinkType } from "../token-sink.ts";
import { sink as file } from "./file.ts";

/** Every sink that can be chosen. */
export const sinks: readonly SinkType[] = [file];

/** The sink of whoever may use one and has chosen none. */
export const defaultSink: SinkType | null = sinks.find(({ isDefault }) => isDefault) ?? null;
