// Generated from the files of this folder by `npm run generate`.
import type { SinkType } from "../token-sink.ts";
import { sink as exec } from "./exec.ts";
import { sink as file } from "./file.ts";
import { sink as kubernetes } from "./kubernetes.ts";
import { sink as vault } from "./vault.ts";

/** Every sink that can be chosen. */
export const sinks: readonly SinkType[] = [exec, file, kubernetes, vault];

/** The default sink, used where none is chosen. */
export const defaultSink: SinkType | null = sinks.find(({ isDefault }) => isDefault) ?? null;
