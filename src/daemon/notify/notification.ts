/** What a notification is about. */
export type NotificationEvent = "failure" | "stalled" | "recovery" | "drift" | "adopt-needed";

/** How much it matters. */
export type Severity = "info" | "warning" | "error";

/** Something that people are told about a target. */
export type Notification = {
  readonly event: NotificationEvent;
  readonly target: string;
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
};

const order: readonly Severity[] = ["info", "warning", "error"];

/** Whether a severity is at least another one. */
export function isAtLeast(severity: Severity, least: Severity): boolean {
  return order.indexOf(severity) >= order.indexOf(least);
}
