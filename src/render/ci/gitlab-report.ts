import { jsonText } from "../escape.ts";

/** The counts that GitLab shows in a merge request: its report of type `terraform`. `delete` is always 0. */
export function gitlabReport({
  summary,
}: {
  readonly summary: { readonly create: number; readonly update: number };
}): string {
  return jsonText({ create: summary.create, update: summary.update, delete: 0 });
}

/** The sum of several GitLab reports. */
export function joinGitlabReports(reports: readonly { readonly create?: number; readonly update?: number }[]): string {
  const sum = (name: "create" | "update"): number => reports.reduce((total, report) => total + (report[name] ?? 0), 0);
  return gitlabReport({ summary: { create: sum("create"), update: sum("update") } });
}
