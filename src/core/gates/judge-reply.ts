import { isObject, parseJsonOrNull } from "../../contract/json.ts";
import type { GateAnswer } from "./content-gate.ts";
import { unanswered } from "./judge-metric.ts";

/** The longest summary that a service may answer. */
const MAX_SUMMARY = 500;

/** The longest reply of a service that judges, in bytes. */
export const MAX_GATE_REPLY = 64 * 1024;

/** What a service that judges has replied. */
export type GateReply = {
  readonly status: number;
  readonly contentType: string | null;
  /** Null where it is longer than `MAX_GATE_REPLY`. */
  readonly body: string | null;
};

/** Reads `{ pass, summary, score? }`. Anything else is no answer, so that no error page passes a gate. */
export function judgeReply({ status, contentType, body }: GateReply): GateAnswer {
  if (status >= 300 && status < 400) return unanswered(`it redirects (${status}), which is not followed`);
  if (status !== 200) return unanswered(`it answered ${status}`);
  if (!/^application\/json\s*(?:;|$)/i.test(contentType ?? "")) return unanswered("its answer is not application/json");
  if (body === null) return unanswered(`its answer is longer than ${MAX_GATE_REPLY / 1024} KiB`);
  const answer = parseJsonOrNull(body);
  if (!isObject(answer)) return unanswered("its answer is not a JSON object");
  const { pass, summary, score, ...others } = answer;
  const [unknown] = Object.keys(others);
  if (typeof pass !== "boolean") return unanswered("its answer has no pass that is true or false");
  if (typeof summary !== "string" || summary.length > MAX_SUMMARY)
    return unanswered(`its answer has no summary of at most ${MAX_SUMMARY} characters`);
  if (score !== undefined && (typeof score !== "number" || !Number.isFinite(score)))
    return unanswered("its answer has a score that is not a number");
  if (unknown !== undefined) return unanswered("its answer has fields other than pass, summary and score");
  return { verdict: pass ? "pass" : "fail", score: score ?? null, summary: summary.replace(/\s+/g, " ").trim() };
}
