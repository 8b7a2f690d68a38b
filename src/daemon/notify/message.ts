// src/daemon/notify: notifications to receivers. See docs/operations.md#notifications.

import { CloudEvent, HTTP } from "cloudevents";
import { type Notification, severities } from "./notification.ts";

/** The request that is sent to a receiver. */
export type Message = { readonly headers: { readonly [name: string]: string }; readonly body: string };

/** The message formats. */
export type MessageType = "slack" | "webhook";

/** One message for one or more notifications; several form a digest. */
export function messageOf(type: MessageType, notifications: readonly Notification[], now: number): Message {
  return type === "slack" ? slackMessage(notifications) : cloudEventMessage(notifications, now);
}

function slackMessage(notifications: readonly Notification[]): Message {
  const text = notifications.map(slackText).join("\n");
  return { headers: { "content-type": "application/json" }, body: JSON.stringify({ text: truncate(text) }) };
}

function slackText({ event, target, summary, details, revision }: Notification): string {
  const commit = revision === null ? "" : ` (commit ${revision.slice(0, 12)})`;
  const first = `*${escaped(target ?? "holdfast")}* ${event}: ${escaped(summary)}${commit}`;
  return [first, ...details.map((line) => `• ${escaped(line)}`)].join("\n");
}

// Slack truncates messages at 40,000 characters.
const MAX_TEXT = 39_000;

function truncate(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}

// Escapes Slack markup: links and mentions are in angle brackets.
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function cloudEventMessage(notifications: readonly Notification[], now: number): Message {
  const all = notifications.map((notification) => ({ ...notification, severity: severities[notification.event] }));
  const [first] = all;
  const isDigest = first === undefined || all.length > 1;
  const event = new CloudEvent({
    type: `dev.holdfast.${isDigest ? "digest" : first.event}`,
    source: "/holdfast/watch",
    time: new Date(now).toISOString(),
    datacontenttype: "application/json",
    ...(isDigest || first.target === null ? {} : { subject: first.target }),
    data: isDigest ? { notifications: all } : first,
  });
  const { headers, body } = HTTP.structured(event);
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  return { headers: Object.fromEntries(texts), body: String(body) };
}
