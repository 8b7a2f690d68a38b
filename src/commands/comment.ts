import { resolve } from "node:path";
import type { Json } from "../contract/json.ts";
import { HoldfastError } from "../core/errors.ts";
import { FORMAT_VERSION } from "../core/format-version.ts";
import { type PlanDocument, readPlanDocuments } from "../core/plan/read-plan-documents.ts";
import { runWarning } from "../core/run-warning.ts";
import type { Forge } from "../forge/forge.ts";
import { type PostedComment, postStickyComment, type StickyComment } from "../forge/sticky-comment.ts";
import { postStickyIssue } from "../forge/sticky-issue.ts";
import { printable } from "../render/escape.ts";
import { hasMoved, reviewMarkdown, reviewVerdict } from "../render/markdown/review.ts";
import type { InvocationOf } from "./command.ts";
import {
  chooseForge,
  type ForgeChoice,
  missingChoice,
  openForge,
  pullRequestOf,
} from "./configuration/choose-forge.ts";
import type { comment as declaration } from "./declarations/comment.ts";
import { readJsonFile } from "./input/read-json-file.ts";
import { fullReportNote } from "./output/pass-notices.ts";
import { plansAddress, sendPlan } from "./output/send-plan.ts";
import { writeResult } from "./terminal.ts";

/** Enough for the plan of ten thousand resources; the limit is needed because the file may come from an untrusted job. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_CHARACTERS = 60_000;

/**
 * Shows a plan as a comment on its pull request and, with --publish, on a dashboard, and a drift report as an issue. If that
 * fails, it prints the text and exits with 0, unless --require-comment is given.
 */
export async function run(invocation: InvocationOf<typeof declaration>): Promise<number> {
  const { args, flags, terminal } = invocation;
  const [path] = args;
  if (path === undefined) throw missingChoice(invocation, { isDrift: false });
  const { given, documents } = readDocuments(path, terminal.cwd);
  const hasDrift = documents.some(({ is }) => is === "drift");
  if (hasDrift && flags.unverified === true) throw unverifiedDrift(path);
  const address = flags.publish === undefined || hasDrift ? null : plansAddress(flags.publish);
  const commented = await comment(invocation, documents, hasDrift);
  // Whatever became of the comment.
  const unsent =
    address === null ? null : await send(invocation, address, { given, documents, found: commented.number });
  const isRequired = flags.requireComment === true;
  // What the command fails with is told at its end.
  if (unsent !== null && !(isRequired && commented.error === null))
    terminal.warnings.add(runWarning("not-sent", `the plan was not sent: ${unsent.message}`, unsent.hint));
  const error = commented.error ?? unsent;
  if (isRequired && error !== null) throw error;
  return 0;
}

type Commented = {
  /** The number of the pull request; null if it was not found out. */
  readonly number: number | null;
  /** Why not everything was written; null if it was. */
  readonly error: HoldfastError | null;
};

async function comment(
  invocation: InvocationOf<typeof declaration>,
  documents: readonly PlanDocument[],
  hasDrift: boolean,
): Promise<Commented> {
  const { flags, terminal } = invocation;
  const revision = flags.revision ?? null;
  const body = (at: string) =>
    reviewMarkdown(documents, {
      revision: at,
      whole: fullReportNote(terminal.env),
      isUnverified: flags.unverified ?? false,
      most: MAX_CHARACTERS,
    });
  let isCommented = false;
  let number: number | null = null;
  try {
    const choice = chooseForge(invocation, { isDrift: hasDrift });
    const forge = await openForge(choice, terminal);
    if (hasDrift) {
      await writeResult(terminal, await postDrift(forge, documents, body("drift"), flags.name));
      return { number, error: null };
    }
    const at = choice.revision ?? revisionOf(documents);
    number = await numberOf(forge, choice);
    const { what, message } = await post(forge, number, {
      name: flags.name ?? nameOf(documents),
      revision: at,
      body: body(at),
    });
    isCommented = what !== "skipped";
    await writeResult(terminal, message);
    if (isCommented && flags.status !== false) await setStatuses(forge, documents, at);
    return { number, error: null };
  } catch (error) {
    terminal.stopping.throwIfAborted();
    if (!(error instanceof HoldfastError)) throw error;
    if (!isCommented) await writeResult(terminal, body(revision ?? documents.flatMap(planRevision)[0] ?? "unknown"));
    if (error.code === "invalid") throw error;
    const what = isCommented ? "commit status" : "comment";
    // With --require-comment, the error itself is told at the end.
    if (flags.requireComment !== true)
      terminal.warnings.add(runWarning("not-commented", `no ${what} was written: ${error.message}`, error.hint));
    return { number, error };
  }
}

/** Sends the plan to a dashboard; returns why it could not. */
async function send(
  invocation: InvocationOf<typeof declaration>,
  address: URL,
  {
    given,
    documents,
    found,
  }: { readonly given: Json; readonly documents: readonly PlanDocument[]; readonly found: number | null },
): Promise<HoldfastError | null> {
  const { flags, terminal } = invocation;
  try {
    const { forge, repository, number, url, revision } = pullRequestOf(invocation, found);
    const commit = revision ?? revisionOf(documents);
    const about = { forge, repository, pullRequest: number, url, commit, name: flags.name ?? nameOf(documents) };
    const plan = { ...about, unverified: flags.unverified ?? false, plan: given };
    await writeResult(terminal, await sendPlan(address, plan, invocation));
    return null;
  } catch (error) {
    terminal.stopping.throwIfAborted();
    if (!(error instanceof HoldfastError)) throw error;
    return error;
  }
}

// A drift report belongs to no pull request: it is an issue that stays open while anything has drifted.
async function postDrift(
  forge: Forge,
  documents: readonly PlanDocument[],
  body: string,
  name?: string,
): Promise<string> {
  const named = name ?? nameOf(documents);
  const moved = documents.some((document) => document.is === "drift" && hasMoved(document.report));
  const isKnown = documents.every((document) => document.is === "drift" && document.report.complete);
  const state = moved ? "wrong" : isKnown ? "good" : "unclear";
  const title = named === "default" ? "Holdfast: drift" : `Holdfast: drift on ${printable(named)}`;
  const { what, url } = await postStickyIssue(forge, { name: `drift ${named}`, title, body, state });
  if (what === "none") return "No issue: nothing has moved\n";
  return `Issue ${what}${url === null ? "" : `: ${printable(url)}`}\n`;
}

async function numberOf(forge: Forge, { pullRequest }: ForgeChoice): Promise<number> {
  if (pullRequest === null) {
    throw new HoldfastError("invalid", "the pull request is not named", { hint: "name it with --pull-request NUMBER" });
  }
  const number = "number" in pullRequest ? pullRequest.number : await forge.findPullRequest(pullRequest.head);
  if (number === null)
    throw new HoldfastError("error", "no open pull request has that head", { hint: "it was closed, or pushed to" });
  return number;
}

async function post(
  forge: Forge,
  number: number,
  sticky: StickyComment,
): Promise<{ readonly what: PostedComment["what"]; readonly message: string }> {
  const posted = await postStickyComment(forge, number, sticky);
  const { what } = posted;
  if (what === "skipped") return { what, message: `No comment on pull request ${number}: ${posted.why}\n` };
  const where = posted.url === null ? "" : `: ${printable(posted.url)}`;
  return { what, message: `Comment ${what} on pull request ${number}${where}\n` };
}

async function setStatuses(forge: Forge, documents: readonly PlanDocument[], commit: string): Promise<void> {
  for (const document of documents) {
    const { isGood, text } = reviewVerdict(document);
    const state = isGood ? "success" : "failure";
    const name = `holdfast/plan/${document.target ?? "default"}`;
    await forge.setStatus({ commit, name, state, description: text });
  }
}

// An issue is about live, which a job without secrets has not seen.
function unverifiedDrift(path: string): HoldfastError {
  return new HoldfastError("invalid", `${path} is a drift report, and --unverified takes none`, {
    hint: "only a job with a token can report drift: name its report, without --unverified",
  });
}

function readDocuments(
  path: string,
  cwd: string,
): { readonly given: Json; readonly documents: readonly PlanDocument[] } {
  const refuse = (why: string, cause?: unknown): HoldfastError => {
    const hint = "name the file that plan -o json=FILE, plan --out or simulate -o json=FILE wrote";
    return new HoldfastError("invalid", `${path} is no plan: ${why}`, cause === undefined ? { hint } : { hint, cause });
  };
  const given = readJsonFile(resolve(cwd, path), MAX_BYTES, refuse);
  const documents = readPlanDocuments(given);
  if (documents === null) throw refuse(`it does not keep to the format ${FORMAT_VERSION}`);
  return { given, documents };
}

function nameOf(documents: readonly PlanDocument[]): string {
  const [first, ...others] = documents;
  return others.length === 0 ? (first?.target ?? "default") : "targets";
}

function revisionOf(documents: readonly PlanDocument[]): string {
  const [revision] = documents.flatMap(planRevision);
  if (revision !== undefined) return revision;
  throw new HoldfastError("invalid", "the commit of the plan is unknown", {
    hint: "name the head of the pull request with --revision",
  });
}

function planRevision(document: PlanDocument): readonly string[] {
  return document.is === "plan" && document.plan.revision !== null ? [document.plan.revision] : [];
}
