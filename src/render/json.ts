/** A report as JSON: two spaces, a newline at the end, nothing that is not in the report. */
export function jsonText(report: object): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}
