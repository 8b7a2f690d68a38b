/** Series in the notation of `promtool test rules`, one sample a minute. */
type InputSeries = { readonly [series: string]: string };

/** When an alert fires, and when it does not though it could be thought to. */
export type AlertCase = {
  /** Minutes after which both are looked at. */
  readonly after: number;
  readonly fires: InputSeries;
  readonly quiet: InputSeries;
};

const at = 'instance="a",target="prod"';
const success = `holdfast_last_success_timestamp_seconds{${at}}`;
const standby = `holdfast_standing_by{${at}}`;
const held = `holdfast_target_info{${at},sync="OutOfSync",condition="Held",reason="Held"}`;
const stalled = `holdfast_target_info{${at},sync="OutOfSync",condition="Stalled",reason="Failed"}`;
const ready = `holdfast_target_info{${at},sync="Synced",condition="Ready",reason=""}`;
const slow = (name: string, labels: string): InputSeries => ({
  [`${name}_bucket{${labels}le="1"}`]: "0+1x60",
  [`${name}_bucket{${labels}le="10"}`]: "0+100x60",
  [`${name}_bucket{${labels}le="+Inf"}`]: "0+100x60",
});
const fast = (name: string, labels: string): InputSeries => ({
  [`${name}_bucket{${labels}le="1"}`]: "0+100x60",
  [`${name}_bucket{${labels}le="10"}`]: "0+100x60",
  [`${name}_bucket{${labels}le="+Inf"}`]: "0+100x60",
});
const requests = (status: string) => `holdfast_http_requests_total{job="holdfast-control-plane",status="${status}"}`;
const readable = 'holdfast_storage_up{instance="a",access="read"}';
const writable = 'holdfast_storage_up{instance="a",access="write"}';
const memory = 'namespace="holdfast",pod="holdfast-0",container="holdfast"';

/** A case for each alert. */
export const alertCases: { readonly [alert: string]: AlertCase } = {
  HoldfastDown: { after: 10, fires: { 'up{job="holdfast"}': "1 0+0x20" }, quiet: { 'up{job="holdfast"}': "1+0x20" } },
  HoldfastTargetStalled: {
    after: 10,
    fires: { [stalled]: "1+0x20" },
    quiet: { [ready]: "1+0x20", [stalled]: "1 1 _x20" },
  },
  HoldfastNeverSuccessful: {
    after: 20,
    fires: { [success]: "0+0x30", [standby]: "0+0x30", [stalled]: "1+0x30" },
    quiet: { [success]: "0+0x30", [standby]: "1+0x30" },
  },
  HoldfastNotApplied: {
    after: 40,
    fires: { [success]: "60+0x60", [standby]: "0+0x60", [stalled]: "1+0x60" },
    quiet: { [success]: "60+0x60", [standby]: "0+0x60", [held]: "1+0x60" },
  },
  HoldfastCommitNotApplied: {
    after: 20,
    fires: { [`holdfast_oldest_unapplied_seconds{${at}}`]: "0+60x30", [stalled]: "1+0x30" },
    quiet: { [`holdfast_oldest_unapplied_seconds{${at}}`]: "0+60x30", [held]: "1+0x30" },
  },
  HoldfastSourceRefused: {
    after: 10,
    fires: { [`holdfast_passes_total{${at},result="kept"}`]: "0 0 0 1+0x20" },
    quiet: { [`holdfast_passes_total{${at},result="applied"}`]: "0+1x20" },
  },
  HoldfastInvalidManifests: {
    after: 5,
    fires: { [`holdfast_invalid_manifests{${at}}`]: "2+0x10" },
    quiet: { [`holdfast_invalid_manifests{${at}}`]: "0+0x10" },
  },
  HoldfastUnresolvedResources: {
    after: 40,
    fires: { [`holdfast_unresolved_resources{${at}}`]: "1+0x60" },
    quiet: { [`holdfast_unresolved_resources{${at}}`]: "1+0x20 0+0x5 1+0x60" },
  },
  HoldfastOutcomeUnknown: {
    after: 20,
    fires: { [`holdfast_unknown_resources{${at}}`]: "1+0x30" },
    quiet: { [`holdfast_unknown_resources{${at}}`]: "1+0x10 0+0x30" },
  },
  HoldfastDriftReturns: {
    after: 70,
    fires: { [`holdfast_drifted_resources{${at}}`]: "1+0x90" },
    quiet: { [`holdfast_drifted_resources{${at}}`]: "1+0x30 0 1+0x60" },
  },
  HoldfastConstantWrites: {
    after: 1600,
    fires: { [`holdfast_writes_total{${at},result="sent"}`]: "0+1x1700" },
    quiet: {
      [`holdfast_writes_total{${at},result="sent"}`]: "0+1x100 100+0x1600",
      [`holdfast_writes_total{${at},result="skipped-equal"}`]: "0+1x1700",
    },
  },
  HoldfastForgottenHold: {
    after: 4400,
    fires: { [`holdfast_held{${at}}`]: "1+0x4500" },
    quiet: { [`holdfast_held{${at}}`]: "1+0x4000 0+0x10 1+0x500" },
  },
  HoldfastConfigurationRefused: {
    after: 5,
    fires: { 'holdfast_configuration_refused{instance="a"}': "1+0x10" },
    quiet: { 'holdfast_configuration_refused{instance="a"}': "0+0x10" },
  },
  HoldfastNoLeader: {
    after: 20,
    fires: { [`holdfast_lease_held{${at}}`]: "0+0x30", [standby]: "1+0x30" },
    quiet: {
      [`holdfast_lease_held{${at}}`]: "0+0x30",
      [standby]: "1+0x30",
      'holdfast_lease_held{instance="b",target="prod"}': "1+0x30",
    },
  },
  HoldfastControlPlaneSlow: {
    after: 30,
    fires: slow("holdfast_api_request_duration_seconds", 'operation="putApp",'),
    quiet: fast("holdfast_api_request_duration_seconds", 'operation="putApp",'),
  },
  HoldfastNoReplies: {
    after: 20,
    fires: { 'holdfast_api_requests_unanswered_total{operation="putApp"}': "0+1x30" },
    quiet: { 'holdfast_api_requests_unanswered_total{operation="putApp"}': "0 1 1+0x30" },
  },
  HoldfastSourceUnreachable: {
    after: 15,
    fires: { 'holdfast_git_fetches_total{source="platform",result="failed"}': "0+1x30" },
    quiet: { 'holdfast_git_fetches_total{source="platform",result="failed"}': "0 1 2 2+0x30" },
  },
  HoldfastNotDelivered: {
    after: 10,
    fires: { 'holdfast_notifications_total{receiver="oncall",result="dropped"}': "0 0 1+0x30" },
    quiet: { 'holdfast_notifications_total{receiver="oncall",result="delivered"}': "0+1x30" },
  },
  HoldfastPasswordGuessing: {
    after: 15,
    fires: { 'holdfast_http_refusals_total{job="holdfast",operation="other",status="401"}': "0+20x30" },
    quiet: {
      'holdfast_http_refusals_total{job="holdfast",operation="other",status="404"}': "0+20x30",
      'holdfast_http_refusals_total{job="holdfast-control-plane",operation="putApp",status="429"}': "0+20x30",
    },
  },
  HoldfastMemory: {
    after: 20,
    fires: {
      [`container_memory_working_set_bytes{${memory}}`]: "95+0x30",
      [`kube_pod_container_resource_limits{${memory},resource="memory",unit="byte"}`]: "100+0x30",
    },
    quiet: {
      [`container_memory_working_set_bytes{${memory}}`]: "85+0x30",
      [`kube_pod_container_resource_limits{${memory},resource="memory",unit="byte"}`]: "100+0x30",
    },
  },
  HoldfastControlPlaneDown: {
    after: 10,
    // None of it is known to Prometheus.
    fires: { 'up{job="holdfast"}': "1+0x20" },
    quiet: { 'up{job="holdfast-control-plane"}': "1+0x20" },
  },
  HoldfastServerErrors: {
    after: 20,
    fires: { [requests("2xx")]: "0+50x30", [requests("5xx")]: "0+1x30" },
    quiet: { [requests("2xx")]: "0+1000x30", [requests("5xx")]: "0+1x30", [requests("4xx")]: "0+500x30" },
  },
  HoldfastServerSlow: {
    after: 30,
    fires: slow("holdfast_http_request_duration_seconds", 'job="holdfast-control-plane",'),
    quiet: slow("holdfast_http_request_duration_seconds", 'job="holdfast",'),
  },
  HoldfastStorageDown: {
    after: 5,
    fires: { [readable]: "0+0x10", [writable]: "0+0x10" },
    quiet: { [readable]: "1+0x10", [writable]: "0+0x10" },
  },
  HoldfastStorageFull: {
    after: 5,
    fires: { [readable]: "1+0x10", [writable]: "0+0x10" },
    quiet: { [readable]: "0+0x10", [writable]: "0+0x10" },
  },
  HoldfastDiskFilling: {
    after: 15,
    fires: {
      'holdfast_disk_available_bytes{instance="a"}': "9+0x20",
      'holdfast_disk_size_bytes{instance="a"}': "100+0x20",
    },
    quiet: {
      'holdfast_disk_available_bytes{instance="a"}': "11+0x20",
      'holdfast_disk_size_bytes{instance="a"}': "100+0x20",
    },
  },
  HoldfastWritesSlow: {
    after: 30,
    fires: slow("holdfast_database_write_duration_seconds", ""),
    quiet: fast("holdfast_database_write_duration_seconds", ""),
  },
  HoldfastConnectionsExhausted: {
    after: 10,
    fires: { 'holdfast_database_connection_waiters{pool="write"}': "3+0x20" },
    quiet: { 'holdfast_database_connection_waiters{pool="write"}': "3+0x6 0 3+0x20" },
  },
  HoldfastCertificateExpires: {
    after: 5,
    fires: { holdfast_certificate_expiry_timestamp_seconds: "1000000+0x10" },
    quiet: { holdfast_certificate_expiry_timestamp_seconds: "2000000+0x10" },
  },
  HoldfastTokensExpire: {
    after: 5,
    fires: { holdfast_token_expiry_timestamp_seconds: "500000+0x10" },
    quiet: { holdfast_token_expiry_timestamp_seconds: "0+0x10" },
  },
};
