import type { Terminal } from "../terminal.ts";

/** A Markdown sentence that links a shortened report to the full one: the CI job, or the command that shows it. */
export function fullReportNote(env: Terminal["env"]): string {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run, CI_JOB_URL: job } = env;
  const url = server && repository && run ? `${server}/${repository}/actions/runs/${run}` : job;
  const isUrl = url !== undefined && /^https?:\/\/[\w./:%~-]+$/.test(url);
  return isUrl ? `[The job](${url}) has all of them.` : "`holdfast plan -o json` has all of them.";
}
