import type { Json, JsonObject } from "../contract/json.ts";
import type { PassEvent } from "../core/report/events.ts";
import type { EndedPass } from "./ended-pass.ts";
import type { PassJob } from "./pass-queue.ts";

/** Observes the passes of one target; it never delays them. */
export type PassObserver = {
  /** Called when a pass begins. */
  readonly begin?: (job: PassJob) => void;
  readonly emit: (event: PassEvent) => void;
  /** Called when a pass fails; the next pass tries again. */
  readonly failure: (error: unknown) => void;
  /** Called when a pass has ended, failed or not. */
  readonly end?: (pass: EndedPass) => void;
  /** Called when a pass ends without `end`, since another process has the target or may reach more. */
  readonly dropped?: () => void;
  /** Called when the state has other content than before: the end of a pass, or what a person has decided. */
  readonly stored?: () => void;
  /** Called when a pass has applied a commit whole, with the time since a pass first wanted it. */
  readonly applied?: (waitedMs: number) => void;
  /** Called when no pass follows: because of an error, or because of a stop request (null). */
  readonly ended?: (error: unknown) => void;
  /** What it has told, so that another process that runs the next pass does not tell it again. */
  readonly memory?: ObserverMemory;
};

/** What an observer has told, as JSON. */
export type ObserverMemory = {
  /** Its name among the observers of a target. */
  readonly name: string;
  readonly told: () => Json;
  /** Replaces what it has told by what an observer of that name has, perhaps in another process. */
  readonly recall: (told: Json) => void;
};

/** What all observers of a target have told, by their names. */
export function toldBy(all: readonly PassObserver[]): JsonObject {
  return Object.fromEntries(all.flatMap(({ memory }) => (memory === undefined ? [] : [[memory.name, memory.told()]])));
}

/** Hands what was told to the observers of these names. */
export function recall(all: readonly PassObserver[], told: JsonObject): void {
  for (const { memory } of all) if (memory !== undefined) memory.recall(told[memory.name] ?? null);
}

/** One observer that forwards every call to several. */
export function observers(all: readonly PassObserver[]): Required<Omit<PassObserver, "memory">> {
  return {
    begin: (job) => {
      for (const each of all) each.begin?.(job);
    },
    emit: (event) => {
      for (const each of all) each.emit(event);
    },
    failure: (error) => {
      for (const each of all) each.failure(error);
    },
    end: (pass) => {
      for (const each of all) each.end?.(pass);
    },
    dropped: () => {
      for (const each of all) each.dropped?.();
    },
    stored: () => {
      for (const each of all) each.stored?.();
    },
    applied: (waitedMs) => {
      for (const each of all) each.applied?.(waitedMs);
    },
    ended: (error) => {
      for (const each of all) each.ended?.(error);
    },
  };
}
