import { NAME } from "../kubernetes/control-plane/names.ts";
import type { Alert } from "./alert.ts";

const job = `job="${NAME}"`;

/** What an operator wants to be told of the control plane. */
export const controlPlaneAlerts: readonly Alert[] = [
  {
    alert: "HoldfastControlPlaneDown",
    expr: `up{${job}} == 0 or absent(up{${job}})`,
    for: "5m",
    severity: "critical",
    summary: "No control plane can be scraped",
  },
  {
    alert: "HoldfastServerErrors",
    expr: `sum(rate(holdfast_http_requests_total{${job},status="5xx"}[5m])) / sum(rate(holdfast_http_requests_total{${job}}[5m])) > 0.01`,
    for: "10m",
    severity: "critical",
    summary: "More than one request in a hundred fails",
  },
  {
    alert: "HoldfastServerSlow",
    expr: `histogram_quantile(0.99, sum by (le) (rate(holdfast_http_request_duration_seconds_bucket{${job}}[10m]))) > 2`,
    for: "10m",
    severity: "warning",
    summary: "The control plane answers slowly",
  },
  {
    alert: "HoldfastStorageDown",
    expr: 'holdfast_storage_up{access="read"} == 0',
    for: "2m",
    severity: "critical",
    summary: "The database cannot be used",
  },
  {
    alert: "HoldfastStorageFull",
    expr: 'holdfast_storage_up{access="write"} == 0 and ignoring (access) holdfast_storage_up{access="read"} == 1',
    for: "1m",
    severity: "critical",
    summary: "The disk is full: every write is refused",
  },
  {
    alert: "HoldfastDiskFilling",
    expr: "holdfast_disk_available_bytes / holdfast_disk_size_bytes < 0.1",
    for: "10m",
    severity: "warning",
    summary: "Less than a tenth of the disk is free",
  },
  {
    alert: "HoldfastWritesSlow",
    expr: "histogram_quantile(0.99, sum by (le) (rate(holdfast_database_write_duration_seconds_bucket[10m]))) > 1",
    for: "10m",
    severity: "warning",
    summary: "Writes to the database are slow",
  },
  {
    alert: "HoldfastConnectionsExhausted",
    expr: "min_over_time(holdfast_database_connection_waiters[5m]) > 0",
    severity: "warning",
    summary: "Queries wait for connections to the database all the time",
  },
  {
    alert: "HoldfastCertificateExpires",
    expr: "holdfast_certificate_expiry_timestamp_seconds - time() < 1209600",
    severity: "warning",
    summary: "The TLS certificate expires within 14 days, or has expired",
  },
  {
    alert: "HoldfastTokensExpire",
    expr: "(holdfast_token_expiry_timestamp_seconds > 0) - time() < 604800",
    severity: "warning",
    summary: "A virtual account expires within 7 days, and its tokens with it",
  },
];
