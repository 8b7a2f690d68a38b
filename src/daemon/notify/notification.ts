/** What a notification is about. */
export type NotificationEvent =
  | "failure"
  | "stalled"
  | "recovery"
  | "drift"
  | "adopt-needed"
  | "configuration-refused"
  | "configuration-reloaded";

/** How much it matters. */
export type Severity = "info" | "warning" | "error";

/** Something that people are told about a target. */
export type Notification = {
  readonly event: NotificationEvent;
  /** The target's name; null where it is about all of them. */
  readonly target: string | null;
  /** The commit that the pass was about; null where it is none. */
  readonly revision: string | null;
  /** One line. */
  readonly summary: string;
  /** The resources that it is about, one line for each; never a value of a manifest. */
  readonly details: readonly string[];
};

/** The severity of each event. */
export const severities: { readonly [event in NotificationEvent]: Severity } = {
  failure: "error",
  stalled: "error",
  recovery: "info",
  drift: "warning",
  "adopt-needed": "warning",
  "configuration-refused": "error",
  "configuration-reloaded": "info",
};

const order: readonly Severity[] = ["info", "warning", "error"];

/** Whether a severity is at least another one. */
export function isAtLeast(severity: Severity, least: Severity): boolean {
  return order.indexOf(severity) >= order.indexOf(least);
}
