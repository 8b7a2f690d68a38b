import { NAME } from "../kubernetes/names.ts";
import type { Alert } from "./alert.ts";

// A person's hold is meant: it has an alert of its own.
const unlessHeld = 'unless on (instance, target) holdfast_target_info{condition="Held"}';

/** What an operator wants to be told of the daemon. */
export const daemonAlerts: readonly Alert[] = [
  {
    alert: "HoldfastDown",
    expr: `up{job="${NAME}"} == 0 or absent(up{job="${NAME}"})`,
    for: "5m",
    severity: "critical",
    summary: "No daemon can be scraped",
  },
  {
    alert: "HoldfastTargetStalled",
    expr: 'holdfast_target_info{condition="Stalled"} == 1',
    for: "5m",
    severity: "critical",
    summary: "The passes of a target do not succeed",
  },
  {
    alert: "HoldfastNeverSuccessful",
    expr: `holdfast_last_success_timestamp_seconds == 0 and holdfast_standing_by == 0 ${unlessHeld}`,
    for: "15m",
    severity: "critical",
    summary: "No pass of a target has succeeded since the start of the daemon",
  },
  {
    alert: "HoldfastNotApplied",
    expr: `time() - (holdfast_last_success_timestamp_seconds > 0) > 900 and holdfast_standing_by == 0 ${unlessHeld}`,
    severity: "critical",
    summary: "No pass of a target has succeeded for 15 minutes",
  },
  {
    alert: "HoldfastCommitNotApplied",
    expr: `holdfast_oldest_unapplied_seconds > 900 ${unlessHeld}`,
    severity: "warning",
    summary: "A commit has waited for more than 15 minutes",
  },
  {
    alert: "HoldfastSourceRefused",
    expr: 'increase(holdfast_passes_total{result=~"refused|kept"}[15m]) > 0',
    severity: "warning",
    summary: "The newest commit of a source is refused",
  },
  {
    alert: "HoldfastInvalidManifests",
    expr: "holdfast_invalid_manifests > 0",
    severity: "warning",
    summary: "Manifests are invalid and were left out",
  },
  {
    alert: "HoldfastUnresolvedResources",
    expr: "holdfast_unresolved_resources > 0",
    for: "30m",
    severity: "warning",
    summary: "Resources could not be made equal to git",
  },
  {
    alert: "HoldfastOutcomeUnknown",
    expr: "holdfast_unknown_resources > 0",
    for: "15m",
    severity: "warning",
    summary: "It is unknown whether a write has arrived",
  },
  {
    alert: "HoldfastDriftReturns",
    expr: "min_over_time(holdfast_drifted_resources[30m]) > 0",
    for: "30m",
    severity: "warning",
    summary: "Resources drift again and again",
  },
  {
    alert: "HoldfastConstantWrites",
    expr: 'increase(holdfast_writes_total{result="sent"}[1h]) > 0',
    for: "1d",
    severity: "info",
    summary: "There was a write in every hour of a day",
  },
  {
    alert: "HoldfastForgottenHold",
    expr: "holdfast_held > 0",
    for: "3d",
    severity: "info",
    summary: "A hold is three days old",
  },
  {
    alert: "HoldfastConfigurationRefused",
    expr: "holdfast_configuration_refused == 1",
    severity: "warning",
    summary: "The latest configuration is refused",
  },
  {
    alert: "HoldfastNoLeader",
    expr: "sum by (target) (holdfast_lease_held) == 0 and max by (target) (holdfast_standing_by) == 1",
    for: "10m",
    severity: "critical",
    summary: "Every daemon of a target stands by",
  },
  {
    alert: "HoldfastControlPlaneSlow",
    expr: "histogram_quantile(0.99, sum by (le, operation) (rate(holdfast_api_request_duration_seconds_bucket[10m]))) > 5",
    for: "10m",
    severity: "warning",
    summary: "Requests to the control plane are slow",
  },
  {
    alert: "HoldfastNoReplies",
    expr: "rate(holdfast_api_requests_unanswered_total[10m]) > 0",
    for: "10m",
    severity: "warning",
    summary: "Requests to the control plane get no complete reply",
  },
  {
    alert: "HoldfastSourceUnreachable",
    expr: 'increase(holdfast_git_fetches_total{result="failed"}[15m]) > 5',
    severity: "warning",
    summary: "A source cannot be fetched",
  },
  {
    alert: "HoldfastNotDelivered",
    expr: 'increase(holdfast_notifications_total{result!="delivered"}[1h]) > 0 or increase(holdfast_commit_statuses_total{result="failed"}[1h]) > 0',
    severity: "warning",
    summary: "A notification or a commit status was not delivered",
  },
  {
    alert: "HoldfastPasswordGuessing",
    expr: `increase(holdfast_http_refusals_total{job="${NAME}",status=~"401|429"}[10m]) > 100`,
    severity: "warning",
    summary: "Somebody tries tokens at the daemon",
  },
  {
    alert: "HoldfastMemory",
    expr: 'container_memory_working_set_bytes{container="holdfast"} / on (namespace, pod, container) kube_pod_container_resource_limits{resource="memory"} > 0.9',
    for: "10m",
    severity: "warning",
    summary: "The daemon is close to the limit of its memory",
  },
];
