// src/core/redact: what no output shows. See docs/security.md.

import { MASK } from "../../model/credential.ts";
import { escapeUnprintable } from "../../model/unprintable.ts";

// Shorter secrets occur in ordinary words, so masking them would only garble the message.
const SHORTEST = 4;
/** As much in common with a secret is a part of it, wherever a server broke or cut it. */
const WINDOW = 16;
// What stands between the lines of a secret: line breaks, raw or escaped, and lines too short to be looked for.
const BREAKS = String.raw`(?:(?:[\r\n]|\\+(?:[nrt]|u000[9ad]))[ \t]*)+`;
const BETWEEN_LINES = new RegExp(`^[ \\t]*(?:${BREAKS}(?:[^\\s\\\\]{1,3}[ \\t]*${BREAKS})*)?$`);
const CUT = /\s*(?:…|\.{3})$/;

/**
 * A message in which the quotations of secrets are masked: those of a whole secret, of its lines, and of parts; as they
 * are, or escaped as JSON or for display.
 */
export function maskQuotations(message: string, secrets: Iterable<string>): string {
  const known = [...secrets].filter(({ length }) => length >= SHORTEST);
  const withoutWhole = known
    .flatMap((secret) => [...formsOf(secret)])
    .toSorted((a, b) => b.length - a.length)
    .reduce((text, form) => text.replaceAll(form, MASK), message);
  return maskParts(withoutWhole, known);
}

function maskParts(message: string, secrets: readonly string[]): string {
  const masked = new Uint8Array(message.length);
  const windows = windowsOf(message);
  const end = message.length - (CUT.exec(message)?.[0].length ?? 0);
  for (const line of new Set(secrets.flatMap(linesOf))) {
    for (const form of formsOf(line)) {
      markAll(masked, message, form);
      markWindows(masked, windows, form);
      if (end < message.length) markCutOff(masked, message.slice(0, end), form);
    }
  }
  return show(message, masked);
}

function linesOf(secret: string): readonly string[] {
  return secret
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter(({ length }) => length >= SHORTEST);
}

/** A text as a server or the client may have written it. */
function formsOf(text: string): ReadonlySet<string> {
  const json = inJson(text);
  return new Set([text, json, inJson(json), escapeUnprintable(text)]);
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function windowsOf(message: string): ReadonlyMap<string, readonly number[]> {
  const windows = new Map<string, number[]>();
  for (let at = 0; at + WINDOW <= message.length; at += 1) {
    const window = message.slice(at, at + WINDOW);
    const known = windows.get(window);
    if (known === undefined) windows.set(window, [at]);
    else known.push(at);
  }
  return windows;
}

function markWindows(masked: Uint8Array, windows: ReadonlyMap<string, readonly number[]>, secret: string): void {
  if (windows.size === 0) return;
  for (let at = 0; at + WINDOW <= secret.length; at += 1) {
    for (const start of windows.get(secret.slice(at, at + WINDOW)) ?? []) masked.fill(1, start, start + WINDOW);
  }
}

function markAll(masked: Uint8Array, message: string, part: string): void {
  for (let at = message.indexOf(part); at !== -1; at = message.indexOf(part, at + 1))
    masked.fill(1, at, at + part.length);
}

// The message ends within a quotation.
function markCutOff(masked: Uint8Array, message: string, part: string): void {
  for (let length = Math.min(WINDOW, part.length, message.length); length >= SHORTEST; length -= 1) {
    if (!message.endsWith(part.slice(0, length))) continue;
    masked.fill(1, message.length - length, message.length);
    return;
  }
}

function show(message: string, masked: Uint8Array): string {
  let shown = "";
  let from = 0;
  for (let start = masked.indexOf(1); start !== -1; start = masked.indexOf(1, from)) {
    const between = message.slice(from, start);
    // The lines of one secret are one quotation.
    if (from === 0 || !BETWEEN_LINES.test(between)) shown += between + MASK;
    const end = masked.indexOf(0, start);
    from = end === -1 ? message.length : end;
  }
  return shown + message.slice(from);
}
