/** The event that a notification reports. */
export type NotificationEvent =
  | "failure"
  | "stalled"
  | "recovery"
  | "drift"
  | "adopt-needed"
  | "held"
  | "configuration-refused"
  | "configuration-reloaded";

/** The severity of an event. */
export type Severity = "info" | "warning" | "error";

/** A notification for people about a target. */
export type Notification = {
  readonly event: NotificationEvent;
  /** The name of the target; null if the notification concerns all targets. */
  readonly target: string | null;
  /** The commit of the pass; null if there is none. */
  readonly revision: string | null;
  /** One line. */
  readonly summary: string;
  /** The affected resources, one line each; never a value of a manifest. */
  readonly details: readonly string[];
};

/** The severity of each event. */
export const severities: { readonly [event in NotificationEvent]: Severity } = {
  failure: "error",
  stalled: "error",
  recovery: "info",
  drift: "warning",
  "adopt-needed": "warning",
  held: "info",
  "configuration-refused": "error",
  "configuration-reloaded": "info",
};

const order: readonly Severity[] = ["info", "warning", "error"];

/** Whether a severity is at least as high as another one. */
export function isAtLeast(severity: Severity, least: Severity): boolean {
  return order.indexOf(severity) >= order.indexOf(least);
}
