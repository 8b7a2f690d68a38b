import type {
  StreamConfiguration,
  StreamOpened,
  StreamOutcome,
  StreamPass,
  StreamSnapshotNeeded,
  StreamStatus,
} from "./generated/output.ts";

/** An event of `/api/v1/stream`. */
export type StreamEvent =
  | StreamOpened
  | StreamPass
  | StreamOutcome
  | StreamStatus
  | StreamConfiguration
  | StreamSnapshotNeeded;
