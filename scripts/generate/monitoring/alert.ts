/** An alert of Prometheus; its text has no templates, since the chart's templates have the same brackets. */
export type Alert = {
  readonly alert: string;
  readonly expr: string;
  /** How long the expression must hold. */
  readonly for?: string;
  readonly severity: "critical" | "warning" | "info";
  readonly summary: string;
};
