import type { Clock } from "../../clock/clock.ts";
import type { FleetTarget } from "../../contract/generated/output.ts";
import type { StreamEvent } from "../../contract/stream-event.ts";
import type { DashboardReader } from "./read-dashboard.ts";

/** Finds out which statuses have changed, and tells them. */
export type StatusChanges = Disposable & {
  /** Reads the status of a target again, which may have changed. */
  readonly look: (target: string) => void;
};

/** What status changes are found in, and who is told. */
export type StatusChangesOptions = {
  readonly reader: Pick<DashboardReader, "fleet" | "short">;
  readonly publish: (event: StreamEvent) => void;
  /** Called before a change is told that another process has made: what was read of the target before is outdated. */
  readonly onOthers: (target: string) => void;
  /** Whether somebody follows now. */
  readonly isFollowed: () => boolean;
  /** Whether other processes change statuses too, of which this one is not told. */
  readonly isShared: () => boolean;
  readonly clock: Clock;
};

/** How often the statuses that other processes store are looked at while somebody follows, in milliseconds. */
const OTHERS_MS = 3000;

/** Starts to tell status changes; disposal ends that. */
export function tellStatusChanges(options: StatusChangesOptions): StatusChanges {
  const { reader, publish, onOthers, isFollowed, isShared, clock } = options;
  const told = new Map<string, string>();
  const looking = new Map<string, { isAsked: boolean }>();
  const tell = (status: FleetTarget, onChange: (target: string) => void = () => undefined): void => {
    // Progress has events of its own.
    const text = JSON.stringify({ ...status, pass: null });
    if (told.get(status.target) === text) return;
    told.set(status.target, text);
    onChange(status.target);
    publish({ event: "status", target: status.target, status });
  };
  // One look at a time, and another one for all that has happened meanwhile.
  const look = async (target: string): Promise<void> => {
    const under = looking.get(target);
    if (under !== undefined) {
      under.isAsked = true;
      return;
    }
    const state = { isAsked: true };
    looking.set(target, state);
    while (state.isAsked) {
      state.isAsked = false;
      // What cannot be read is told when it can be again.
      const status = await reader.short(target).catch(() => null);
      if (status !== null) tell(status);
    }
    looking.delete(target);
  };
  const lookAtAll = async (): Promise<void> => {
    const { targets } = await reader.fleet();
    for (const name of told.keys()) if (!targets.some(({ target }) => target === name)) told.delete(name);
    for (const status of targets) tell(status, onOthers);
  };
  const others = clock.every(
    OTHERS_MS,
    () => {
      if (isShared() && isFollowed()) lookAtAll().catch(() => undefined);
    },
    { ref: false },
  );
  return { look: (target) => void look(target), [Symbol.dispose]: () => others[Symbol.dispose]() };
}
