import type { Json, JsonObject } from "../json.ts";

type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Immutable<T[Name]> }
    : T;

/**
 * Name of the application, unique in its workspace
 */
type SharedName = string

/**
 * Workspace that the application runs in
 */
type SharedWorkspaceFqn = string

/**
 * Image that the containers run
 */
type SharedImage = (SharedBuiltImage | SharedReadyImage | {
type: string
[k: string]: Json | string
})

/**
 * An image that the platform builds
 */
interface SharedBuiltImage {
type: "build"
/**
 * Registry integration that the image is pushed to
 */
docker_registry?: (string | null)
/**
 * Where the source code is
 */
build_source?: (SharedRemoteSource | SharedGitSource | SharedLocalSource | {
type: string
[k: string]: Json | string
} | null)
/**
 * How the image is made
 */
build_spec?: (SharedDockerfileBuild | SharedPythonBuild | {
type: string
[k: string]: Json | string
} | null)
}

/**
 * An archive of the source code
 */
interface SharedRemoteSource {
type: "remote"
/**
 * Where the archive is
 */
remote_uri?: (string | null)
}

/**
 * A commit of a git repository
 */
interface SharedGitSource {
type: "git"
/**
 * Address of the repository
 */
repo_url?: (string | null)
/**
 * Commit that is built
 */
ref?: (string | null)
/**
 * Branch that the commit is on
 */
branch_name?: (string | null)
}

/**
 * Source code on the machine that deploys
 */
interface SharedLocalSource {
type: "local"
/**
 * Folder of the source code
 */
project_root_path?: (string | null)
/**
 * Whether the image is built on that machine
 */
local_build?: (boolean | null)
}

/**
 * A build by a Dockerfile
 */
interface SharedDockerfileBuild {
type: "dockerfile"
/**
 * Path of the Dockerfile in the source
 */
dockerfile_path?: (string | null)
/**
 * Folder that is the build's context
 */
build_context_path?: (string | null)
/**
 * Command that the container runs in place of the image's own
 */
command?: (string | string[] | null)
/**
 * Arguments of the build, as the Dockerfile names them
 */
build_args?: ({ readonly [name: string]: string | number | boolean } | null)
/**
 * Secrets of the build, as the platform defines them
 */
build_secrets?: (JsonObject | readonly Json[] | null)
/**
 * Taken and without effect here: only a buildpack reads it
 */
python_dependencies?: (JsonObject | null)
}

/**
 * A build of Python source code without a Dockerfile
 */
interface SharedPythonBuild {
type: "tfy-python-buildpack"
/**
 * Version of Python
 */
python_version?: (string | null)
/**
 * Folder that is the build's context
 */
build_context_path?: (string | null)
/**
 * Path of the file that lists the packages
 */
requirements_path?: (string | null)
/**
 * Packages that are installed by pip
 */
pip_packages?: (string[] | null)
/**
 * How the packages are installed
 */
python_dependencies?: (SharedPipDependencies | SharedUvDependencies | SharedPoetryDependencies | {
type: string
[k: string]: Json | string
} | null)
/**
 * Packages of the system
 */
apt_packages?: (string[] | null)
/**
 * Command that the container runs
 */
command?: (string | string[] | null)
/**
 * Version of CUDA
 */
cuda_version?: (string | null)
}

/**
 * Packages that pip installs
 */
interface SharedPipDependencies {
type: "pip"
/**
 * Path of the file that lists the packages
 */
requirements_path?: (string | null)
/**
 * Packages that are installed by pip
 */
pip_packages?: (string[] | null)
}

/**
 * Packages that uv installs
 */
interface SharedUvDependencies {
type: "uv"
/**
 * Version of uv
 */
uv_version?: (string | null)
/**
 * Options of `uv sync`
 */
sync_options?: (string | null)
}

/**
 * Packages that poetry installs
 */
interface SharedPoetryDependencies {
type: "poetry"
/**
 * Version of poetry
 */
poetry_version?: (string | null)
/**
 * Options of `poetry install`
 */
install_options?: (string | null)
}

/**
 * An image that exists already
 */
interface SharedReadyImage {
type: "image"
/**
 * Where the image is
 */
image_uri: string
/**
 * Registry integration that the image is pulled with
 */
docker_registry?: (string | null)
/**
 * Command that the container runs in place of the image's own
 */
command?: (string | string[] | null)
}

/**
 * Files that are there before the container starts
 */
type SharedArtifactsDownload = ({
/**
 * Volume that keeps the files between starts
 */
cache_volume?: ({
/**
 * Storage class of the volume
 */
storage_class?: (string | null)
/**
 * Size of the volume
 */
cache_size?: (number | null)
} | null)
/**
 * Artifacts that are downloaded, in their order
 */
artifacts?: ((SharedPlatformArtifact | SharedHubArtifact | {
type: string
[k: string]: Json | string
})[] | null)
} | null)

/**
 * A version that the platform's registry keeps
 */
interface SharedPlatformArtifact {
type: "truefoundry-artifact"
/**
 * Version that is downloaded
 */
artifact_version_fqn?: (string | null)
/**
 * Environment variable that names the folder of the files
 */
download_path_env_variable?: (string | null)
}

/**
 * A model of the Hugging Face Hub
 */
interface SharedHubArtifact {
type: "huggingface-hub"
/**
 * Name of the model on the hub
 */
model_id?: (string | null)
/**
 * Revision of the model
 */
revision?: (string | null)
/**
 * Files that are left out
 */
ignore_patterns?: (string[] | null)
/**
 * Environment variable that names the folder of the files
 */
download_path_env_variable?: (string | null)
}

/**
 * What each container may use; no request is above its limit
 */
type SharedResources = ({
/**
 * Processor time that is set aside
 */
cpu_request?: (number | null)
/**
 * Most processor time
 */
cpu_limit?: (number | null)
/**
 * Memory that is set aside
 */
memory_request?: (number | null)
/**
 * Most memory; a container that wants more is stopped
 */
memory_limit?: (number | null)
/**
 * Disk space that is set aside
 */
ephemeral_storage_request?: (number | null)
/**
 * Most disk space
 */
ephemeral_storage_limit?: (number | null)
/**
 * Size of /dev/shm
 */
shared_memory_size?: (number | null)
/**
 * Which nodes the containers may run on
 */
node?: (SharedNodeSelector | SharedNodepoolSelector | {
type: string
[k: string]: Json | string
} | null)
/**
 * Accelerators that each container gets
 */
devices?: ((SharedNvidiaGpu | SharedAwsInferentia | SharedNvidiaMigGpu | SharedNvidiaTimeslicingGpu | SharedGcpTpu | {
type: string
[k: string]: Json | string
})[] | null)
} | null)

/**
 * Nodes by what they are
 */
interface SharedNodeSelector {
type: "node_selector"
/**
 * Families of machines
 */
instance_families?: (string[] | null)
/**
 * How the nodes are bought
 */
capacity_type?: (string | null)
}

/**
 * Nodes by their pools
 */
interface SharedNodepoolSelector {
type: "nodepool_selector"
/**
 * Pools that nodes may come from
 */
nodepools?: (string[] | null)
}

/**
 * Whole GPUs
 */
interface SharedNvidiaGpu {
type: "nvidia_gpu"
/**
 * Name of the device
 */
name?: (string | null)
/**
 * How many of them
 */
count?: (number | null)
}

/**
 * Inferentia accelerators
 */
interface SharedAwsInferentia {
type: "aws_inferentia"
/**
 * Name of the device
 */
name?: (string | null)
/**
 * How many of them
 */
count?: (number | null)
}

/**
 * A fixed share of a GPU
 */
interface SharedNvidiaMigGpu {
type: "nvidia_mig_gpu"
/**
 * Name of the device
 */
name?: (string | null)
/**
 * Share of the device
 */
profile?: (string | null)
}

/**
 * A GPU in turns with others
 */
interface SharedNvidiaTimeslicingGpu {
type: "nvidia_timeslicing_gpu"
/**
 * Name of the device
 */
name?: (string | null)
/**
 * Memory of the GPU
 */
gpu_memory?: (number | null)
}

/**
 * A TPU
 */
interface SharedGcpTpu {
type: "gcp_tpu"
/**
 * Name of the device
 */
name?: (string | null)
/**
 * Arrangement of the chips
 */
topology?: (string | null)
}

/**
 * Environment variables of the containers; values are compared as texts, and `secret://tenant:group:key` stands for a secret
 */
type SharedEnv = ({ readonly [name: string]: string | number | boolean } | null)

/**
 * Ports of the containers; order carries no meaning
 */
type SharedPorts = (SharedPort[] | null)

/**
 * One port of the container
 */
interface SharedPort {
/**
 * Number of the port
 */
port: number
/**
 * Transport protocol
 */
protocol?: (string | null)
/**
 * Whether the port is reachable from outside the cluster
 */
expose?: (boolean | null)
/**
 * Protocol that is spoken on the port
 */
app_protocol?: (string | null)
/**
 * Host name of an exposed port; it lies under one of the cluster's base domains
 */
host?: (string | null)
/**
 * Path below which the port is exposed
 */
path?: (string | null)
/**
 * Path that the exposed one becomes for the container
 */
rewrite_path_to?: (string | null)
/**
 * How callers of an exposed port prove who they are
 */
auth?: (SharedBasicAuth | SharedJwtAuth | SharedPlatformLogin | {
type: string
[k: string]: Json | string
} | null)
}

/**
 * One name and one password for all callers
 */
interface SharedBasicAuth {
type: "basic_auth"
/**
 * Name that callers give
 */
username?: (string | null)
/**
 * Password that callers give
 */
password?: (string | null)
}

/**
 * A token of an identity provider
 */
interface SharedJwtAuth {
type: "jwt_auth"
/**
 * Integration of the identity provider
 */
integration_fqn?: (string | null)
/**
 * Whether people are sent to the provider's login page
 */
enable_login?: (boolean | null)
/**
 * What the token must say; order carries no meaning
 */
claims?: ({
/**
 * Name of the claim
 */
key?: (string | null)
/**
 * Values of which the token has one
 */
values?: (string[] | null)
}[] | null)
/**
 * Paths that need no proof
 */
bypass_auth_paths?: (string[] | null)
}

/**
 * The login of the platform
 */
interface SharedPlatformLogin {
type: "truefoundry_oauth"
/**
 * Paths that need no proof
 */
bypass_auth_paths?: (string[] | null)
}

/**
 * Kubernetes service account of the containers
 */
type SharedServiceAccount = (string | null)

/**
 * Files and folders that are put into the containers; order carries no meaning
 */
type SharedMounts = ((SharedSecretMount | SharedStringMount | SharedVolumeMount | {
type: string
[k: string]: Json | string
})[] | null)

/**
 * A secret as a file
 */
interface SharedSecretMount {
type: "secret"
/**
 * Where in the container it appears
 */
mount_path: SharedMountPath
/**
 * Secret whose value is the file's content
 */
secret_fqn: string
}

/**
 * Where in the container it appears
 */
type SharedMountPath = string

/**
 * A text as a file
 */
interface SharedStringMount {
type: "string"
/**
 * Where in the container it appears
 */
mount_path: SharedMountPath
/**
 * Content of the file
 */
data?: (string | null)
}

/**
 * A volume as a folder
 */
interface SharedVolumeMount {
type: "volume"
/**
 * Where in the container it appears
 */
mount_path: SharedMountPath
/**
 * Volume that is mounted
 */
volume_fqn?: (string | null)
/**
 * Folder of the volume that is mounted in place of its top
 */
sub_path?: (string | null)
}

/**
 * Labels put on everything that is made for the resource
 */
type SharedLabels = ({ readonly [name: string]: string | number | boolean } | null)

/**
 * Changes to the Kubernetes objects that the platform makes
 */
type SharedKustomize = ({
/**
 * Strategic patch of the objects
 */
patch?: (JsonObject | null)
/**
 * Objects that are made in addition
 */
additions?: (Json[] | null)
} | null)

/**
 * How the platform asks a container for its health
 */
type SharedProbe = ({
/**
 * What is asked
 */
config?: (SharedHttpProbe | {
type: string
[k: string]: Json | string
} | null)
/**
 * Time before the first probe
 */
initial_delay_seconds?: (number | null)
/**
 * Time between two probes
 */
period_seconds?: (number | null)
/**
 * Time after which a probe has failed
 */
timeout_seconds?: (number | null)
/**
 * Successes in a row after which the container is healthy
 */
success_threshold?: (number | null)
/**
 * Failures in a row after which it is not
 */
failure_threshold?: (number | null)
} | null)

/**
 * An HTTP request that must be answered with success
 */
interface SharedHttpProbe {
type: "http"
/**
 * Path that is requested
 */
path?: (string | null)
/**
 * Port of the container that is asked
 */
port?: (number | null)
/**
 * Host name that the request names
 */
host?: (string | null)
/**
 * Scheme of the request
 */
scheme?: (string | null)
}

/**
 * How many containers run: a number, or the bounds between which the platform scales
 */
type SharedQueueReplicas = (number | {
/**
 * Fewest containers
 */
min_replicas?: (number | null)
/**
 * Most containers
 */
max_replicas?: (number | null)
/**
 * What the platform scales by: one metric or a list of them
 */
metrics?: (SharedSqsMetric | SharedNatsMetric | SharedKafkaMetric | SharedAmqpMetric | SharedCronMetric | {
type: string
[k: string]: Json | string
} | null)
/**
 * Time between two looks at the metrics
 */
polling_interval?: (number | null)
} | null)

/**
 * One metric
 */
type SharedQueueMetric = (SharedSqsMetric | SharedNatsMetric | SharedKafkaMetric | SharedAmqpMetric | SharedCronMetric | {
type: string
[k: string]: Json | string
})

/**
 * Messages that wait in the queue
 */
interface SharedSqsMetric {
type: "sqs"
/**
 * Waiting messages for each container
 */
queue_length?: (number | null)
/**
 * How the queue is asked
 */
auth?: (SharedSqsKeyAuth | SharedSqsRoleAuth | {
type: string
[k: string]: Json | string
} | null)
}

/**
 * A key of an AWS account
 */
interface SharedSqsKeyAuth {
type: "access-key-based"
/**
 * Id of the key
 */
access_key_id?: (string | null)
/**
 * Secret of the key
 */
secret_access_key?: (string | null)
}

/**
 * A role of an AWS account
 */
interface SharedSqsRoleAuth {
type: "assumed-role-based"
/**
 * Role that is assumed
 */
assumed_role_arn?: (string | null)
}

/**
 * Messages that wait
 */
interface SharedNatsMetric {
type: "nats"
/**
 * Waiting messages for each container
 */
lag_threshold?: (number | null)
}

/**
 * Messages that wait
 */
interface SharedKafkaMetric {
type: "kafka"
/**
 * Waiting messages for each container
 */
lag_threshold?: (number | null)
}

/**
 * Messages that wait in the queue
 */
interface SharedAmqpMetric {
type: "amqp"
/**
 * Waiting messages for each container
 */
queue_length?: (number | null)
}

/**
 * The time of day
 */
interface SharedCronMetric {
type: "cron"
/**
 * Containers meanwhile
 */
desired_replicas?: (number | null)
/**
 * When it begins, as a cron expression
 */
start?: (string | null)
/**
 * When it ends, as a cron expression
 */
end?: (string | null)
/**
 * Time zone of both
 */
timezone?: (string | null)
}

/**
 * Old containers are replaced by new ones step by step
 */
interface SharedRollingUpdate {
type: "rolling_update"
/**
 * Share of the replicas that may be missing meanwhile
 */
max_unavailable_percentage?: (number | null)
/**
 * Share of the replicas that may be there in addition meanwhile
 */
max_surge_percentage?: (number | null)
}

/**
 * One subject and the role it holds on this resource
 */
interface SharedCollaborator {
/**
 * Who gets the role: a person by e-mail, a team or a virtual account
 */
subject: string
/**
 * Role that is assigned; a custom role id is carried but grants nothing on the embedded control plane
 */
role_id: string
}

/**
 * Image that the workbench runs
 */
interface SharedWorkbenchImage {
/**
 * Where the image is
 */
image_uri: string
/**
 * Commands that add to the image
 */
build_script?: (string | null)
/**
 * Registry integration that the image is pulled with
 */
docker_registry?: (string | null)
}

/**
 * Size of the home directory
 */
type SharedHomeDirectorySize = (number | null)

/**
 * Who is told, and how
 */
type SharedNotificationTarget = (SharedEmailTarget | SharedSlackWebhookTarget | SharedSlackBotTarget | {
type: string
[k: string]: Json | string
} | null)

/**
 * E-mails about the account
 */
interface SharedEmailTarget {
type: "email"
/**
 * Integration through which the e-mails are sent
 */
notification_channel?: (string | null)
/**
 * Addresses that are written to; order carries no meaning
 */
to_emails?: (string[] | null)
}

/**
 * A message in Slack, by a webhook
 */
interface SharedSlackWebhookTarget {
type: "slack-webhook"
/**
 * Notification channel of the platform
 */
notification_channel?: (string | null)
}

/**
 * Messages in Slack, by a bot
 */
interface SharedSlackBotTarget {
type: "slack-bot"
/**
 * Notification channel of the platform
 */
notification_channel?: (string | null)
/**
 * Channels of Slack; order carries no meaning
 */
channels?: (string[] | null)
}

/**
 * Time without use after which it is stopped
 */
type SharedCullTimeout = (number | null)

/**
 * How many containers run: a number, or the bounds between which the platform scales
 */
type SharedReplicas = (number | {
/**
 * Fewest containers
 */
min_replicas?: (number | null)
/**
 * Most containers
 */
max_replicas?: (number | null)
/**
 * What the platform scales by: one metric or a list of them
 */
metrics?: (SharedCpuUtilizationMetric | SharedRpsMetric | SharedCronMetric | {
type: string
[k: string]: Json | string
} | null)
/**
 * Time between two looks at the metrics
 */
polling_interval?: (number | null)
} | null)

/**
 * One metric
 */
type SharedMetric = (SharedCpuUtilizationMetric | SharedRpsMetric | SharedCronMetric | {
type: string
[k: string]: Json | string
})

/**
 * Use of the processors
 */
interface SharedCpuUtilizationMetric {
type: "cpu_utilization"
/**
 * Use that is aimed at
 */
value?: (number | null)
}

/**
 * Requests a second
 */
interface SharedRpsMetric {
type: "rps"
/**
 * Requests a second that one container answers
 */
value?: (number | null)
}

/**
 * A growing share of the requests goes to the new version
 */
interface SharedCanary {
type: "canary"
/**
 * Share of the replicas that may be missing meanwhile
 */
max_unavailable_percentage?: (number | null)
/**
 * Share of the replicas that may be there in addition meanwhile
 */
max_surge_percentage?: (number | null)
/**
 * Steps of the rollout, in their order
 */
steps?: ({
/**
 * Share of the requests that goes to the new version
 */
weight_percentage?: (number | null)
/**
 * Time until the next step
 */
pause_duration?: (number | null)
}[] | null)
}

/**
 * The new version runs beside the old one, then takes all requests
 */
interface SharedBlueGreen {
type: "blue_green"
/**
 * Whether the new version takes over by itself
 */
enable_auto_promotion?: (boolean | null)
/**
 * Time until it does
 */
auto_promotion_seconds?: (number | null)
}

/**
 * A build of an image for Spark
 */
interface SharedSparkBuild {
type: "tfy-spark-buildpack"
/**
 * Version of Spark
 */
spark_version?: (string | null)
/**
 * Folder that is the build's context
 */
build_context_path?: (string | null)
/**
 * Path of the file that lists the packages
 */
requirements_path?: (string | null)
}

/**
 * One role on one resource
 */
interface SharedPermission {
/**
 * Resource on which the role is held
 */
resource_fqn: string
/**
 * What the resource is; types other than tenant, cluster, workspace, ml-repo and secret-group are carried and grant nothing on the embedded control plane
 */
resource_type: string
/**
 * Role that is assigned; a custom role id is carried but grants nothing on the embedded control plane
 */
role_id: string
}

/**
 * Applications that are made together, from a list or a template
 */
interface MutableApplicationSetManifest {
/**
 * Kind of manifest: `application-set`
 */
type: "application-set"
/**
 * Name of the application, unique in its workspace
 */
name: SharedName
/**
 * Workspace that the application runs in
 */
workspace_fqn: SharedWorkspaceFqn
/**
 * The applications, in their order: manifests without a workspace
 */
components?: (JsonObject[] | null)
/**
 * Template that makes the applications from `values`
 */
template?: (string | null)
/**
 * Values that the template uses
 */
values?: (JsonObject | null)
/**
 * Whether the template makes manifests of an earlier form
 */
convert_template_manifest?: (boolean | null)
}

/** Applications that are made together, from a list or a template. */
export type ApplicationSetManifest = Immutable<MutableApplicationSetManifest>;

/**
 * An application that works through a queue
 */
interface MutableAsyncServiceManifest {
/**
 * Kind of manifest: `async-service`
 */
type: "async-service"
/**
 * Name of the application, unique in its workspace
 */
name: SharedName
/**
 * Workspace that the application runs in
 */
workspace_fqn: SharedWorkspaceFqn
/**
 * Image that the containers run
 */
image: SharedImage
/**
 * Files that are there before the container starts
 */
artifacts_download?: SharedArtifactsDownload
/**
 * What each container may use; no request is above its limit
 */
resources?: SharedResources
/**
 * Environment variables of the containers; values are compared as texts, and `secret://tenant:group:key` stands for a secret
 */
env?: SharedEnv
/**
 * Ports of the containers; order carries no meaning
 */
ports?: SharedPorts
/**
 * Kubernetes service account of the containers
 */
service_account?: SharedServiceAccount
/**
 * Files and folders that are put into the containers; order carries no meaning
 */
mounts?: SharedMounts
/**
 * Labels put on everything that is made for the resource
 */
labels?: SharedLabels
/**
 * Changes to the Kubernetes objects that the platform makes
 */
kustomize?: SharedKustomize
/**
 * Probe that restarts a container when it fails
 */
liveness_probe?: SharedProbe
/**
 * Probe that takes a container out of service while it fails
 */
readiness_probe?: SharedProbe
/**
 * Probe that must succeed before the other two begin
 */
startup_probe?: SharedProbe
/**
 * How many containers run: a number, or the bounds between which the platform scales
 */
replicas?: SharedQueueReplicas
/**
 * How a new version takes over from the old one
 */
rollout_strategy?: (SharedRollingUpdate | {
type: string
[k: string]: Json | string
} | null)
/**
 * Where messages come from and answers go
 */
worker_config?: ({
/**
 * Where messages come from
 */
input_config?: ({
type: "sqs"
/**
 * Address of the queue
 */
queue_url?: (string | null)
/**
 * Region of the queue
 */
region_name?: (string | null)
/**
 * Time that a message is the worker's alone
 */
visibility_timeout?: (number | null)
/**
 * Time that one question waits for messages
 */
wait_time_seconds?: (number | null)
/**
 * How the worker proves who it is
 */
auth?: ({
/**
 * Id of the key
 */
aws_access_key_id?: (string | null)
/**
 * Secret of the key
 */
aws_secret_access_key?: (string | null)
/**
 * Token of a session
 */
aws_session_token?: (string | null)
} | null)
} | {
type: "nats"
/**
 * Addresses of the NATS servers
 */
nats_url?: (string | null)
/**
 * Stream of the messages
 */
stream_name?: (string | null)
/**
 * Subject under which the messages are
 */
root_subject?: (string | null)
/**
 * Consumer that reads them
 */
consumer_name?: (string | null)
/**
 * Time that one question waits for messages
 */
wait_time_seconds?: (number | null)
/**
 * Address of the metrics of NATS
 */
nats_metrics_url?: (string | null)
/**
 * How the worker proves who it is
 */
auth?: ({
/**
 * Account of the user
 */
account_name?: (string | null)
/**
 * Name of the user
 */
user?: (string | null)
/**
 * Password of the user
 */
password?: (string | null)
} | null)
} | {
type: "kafka"
/**
 * Servers that are asked first
 */
bootstrap_servers?: (string | null)
/**
 * Topic of the messages
 */
topic_name?: (string | null)
/**
 * Group that reads the messages
 */
consumer_group?: (string | null)
/**
 * Whether the connection is encrypted
 */
tls?: (boolean | null)
/**
 * Time that one question waits for messages
 */
wait_time_seconds?: (number | null)
/**
 * How the worker proves who it is
 */
auth?: ({
/**
 * Name of the user
 */
username?: (string | null)
/**
 * Password of the user
 */
password?: (string | null)
} | null)
} | {
type: "amqp"
/**
 * Address of the broker, user and password included
 */
url?: (string | null)
/**
 * Queue of the messages
 */
queue_name?: (string | null)
/**
 * Time that one question waits for messages
 */
wait_time_seconds?: (number | null)
} | {
type: string
[k: string]: Json | string
} | null)
/**
 * Where answers go
 */
output_config?: ({
type: "sqs"
/**
 * Address of the queue
 */
queue_url?: (string | null)
/**
 * Region of the queue
 */
region_name?: (string | null)
/**
 * How the worker proves who it is
 */
auth?: ({
/**
 * Id of the key
 */
aws_access_key_id?: (string | null)
/**
 * Secret of the key
 */
aws_secret_access_key?: (string | null)
/**
 * Token of a session
 */
aws_session_token?: (string | null)
} | null)
} | {
type: "nats"
/**
 * Addresses of the NATS servers
 */
nats_url?: (string | null)
/**
 * Subject under which the messages are
 */
root_subject?: (string | null)
/**
 * How the worker proves who it is
 */
auth?: ({
/**
 * Account of the user
 */
account_name?: (string | null)
/**
 * Name of the user
 */
user?: (string | null)
/**
 * Password of the user
 */
password?: (string | null)
} | null)
} | {
type: "core-nats"
/**
 * Addresses of the NATS servers
 */
nats_url?: (string | null)
/**
 * Subject under which the messages are
 */
root_subject?: (string | null)
/**
 * How the worker proves who it is
 */
auth?: ({
/**
 * Account of the user
 */
account_name?: (string | null)
/**
 * Name of the user
 */
user?: (string | null)
/**
 * Password of the user
 */
password?: (string | null)
} | null)
} | {
type: "kafka"
/**
 * Servers that are asked first
 */
bootstrap_servers?: (string | null)
/**
 * Topic of the messages
 */
topic_name?: (string | null)
/**
 * Whether the connection is encrypted
 */
tls?: (boolean | null)
/**
 * How the worker proves who it is
 */
auth?: ({
/**
 * Name of the user
 */
username?: (string | null)
/**
 * Password of the user
 */
password?: (string | null)
} | null)
} | {
type: "amqp"
/**
 * Address of the broker, user and password included
 */
url?: (string | null)
/**
 * Key that leads the messages
 */
routing_key?: (string | null)
/**
 * Exchange that takes them
 */
exchange_name?: (string | null)
} | {
type: string
[k: string]: Json | string
} | null)
/**
 * Messages that one container works on at a time
 */
num_concurrent_workers?: (number | null)
} | null)
/**
 * A container that carries messages to the application
 */
sidecar?: ({
/**
 * Address that takes each message
 */
destination_url?: (string | null)
/**
 * Time that one message may take
 */
request_timeout?: (number | null)
/**
 * Image of the sidecar
 */
sidecar_image?: (string | null)
} | null)
}

/** An application that works through a queue. */
export type AsyncServiceManifest = Immutable<MutableAsyncServiceManifest>;

/**
 * One version of a chat prompt in an ml repo
 */
interface MutableChatPromptManifest {
/**
 * Kind of manifest: `chat_prompt`
 */
type: "chat_prompt"
/**
 * Name of the prompt, unique in its ml repo
 */
name: string
/**
 * Name of the ml repo that holds the prompt
 */
ml_repo: string
/**
 * Messages of the prompt, in the order in which they are said
 * 
 * Items: One message of the prompt
 */
messages: {
/**
 * Who says the message
 */
role: string
/**
 * Text, parts, or where the content lies in the platform's storage
 */
content?: (string | ({
type: "text"
/**
 * The text, or where it lies in the platform's storage
 */
text?: (string | {
/**
 * `blob-storage`: the content lies in the platform's storage
 */
type: string
/**
 * Where in the storage it lies
 */
path?: (string | null)
/**
 * What it is
 */
mime_type?: (string | null)
} | null)
} | {
type: "image_url"
/**
 * The picture
 */
image_url?: ({
/**
 * Address of the picture, or where it lies in the platform's storage
 */
url?: (string | {
/**
 * `blob-storage`: the content lies in the platform's storage
 */
type: string
/**
 * Where in the storage it lies
 */
path?: (string | null)
/**
 * What it is
 */
mime_type?: (string | null)
} | null)
/**
 * How closely it is looked at
 */
detail?: (string | null)
} | null)
} | {
type: "refusal"
/**
 * The refusal
 */
refusal?: (string | null)
} | {
type: string
[k: string]: Json | string
})[] | {
/**
 * `blob-storage`: the content lies in the platform's storage
 */
type: string
/**
 * Where in the storage it lies
 */
path?: (string | null)
/**
 * What it is
 */
mime_type?: (string | null)
} | null)
/**
 * Name of the speaker, to tell several of one role apart
 */
name?: (string | null)
/**
 * Calls that the assistant made, in their order
 */
tool_calls?: (({
type: "function"
/**
 * Id that the answer names
 */
id?: (string | null)
/**
 * What was called
 */
function?: ({
/**
 * Name of the function
 */
name?: (string | null)
/**
 * Arguments, as JSON
 */
arguments?: (string | null)
} | null)
} | {
type: string
[k: string]: Json | string
})[] | null)
/**
 * Call that a tool's message answers
 */
tool_call_id?: (string | null)
}[]
/**
 * What the prompt is for
 */
description?: (string | null)
/**
 * Number of the version; without it the content decides whether a new version is made
 */
version?: (number | null)
/**
 * Second name of the version, unique within its prompt; it moves to the version being written
 */
version_alias?: (string | null)
/**
 * Facts about the version, in any form
 */
metadata?: (JsonObject | null)
/**
 * Variables that the messages use, with their defaults or descriptions
 */
variables?: (JsonObject | null)
/**
 * Which MCP server answers which tool call
 */
tool_call_to_mcp_mapping?: (JsonObject | null)
/**
 * Which model answers, and how
 */
model_configuration?: ({
/**
 * Provider of the model
 */
provider?: (string | null)
/**
 * Name of the model
 */
model?: (string | null)
/**
 * How the model answers
 */
parameters?: ({
/**
 * Longest answer
 */
max_tokens?: (number | null)
/**
 * How freely words are chosen
 */
temperature?: (number | null)
/**
 * Out of how many of the likeliest words one is chosen
 */
top_k?: (number | null)
/**
 * Probability within which words are chosen
 */
top_p?: (number | null)
/**
 * Texts at which the answer ends; order carries no meaning
 */
stop?: (string[] | string | null)
} | null)
/**
 * Further parameters, as the provider takes them
 */
extra_parameters?: (JsonObject | null)
} | null)
/**
 * Tools that the model may call, in the order in which it sees them
 */
tools?: (({
type: "function"
/**
 * What the function is
 */
function: {
/**
 * Name of the function
 */
name: string
/**
 * What the function does, for the model to decide by
 */
description?: (string | null)
/**
 * JSON Schema of the function's arguments
 */
parameters?: (JsonObject | null)
/**
 * Whether the arguments must match their schema exactly
 */
strict?: (boolean | null)
}
} | {
type: string
[k: string]: Json | string
})[] | null)
/**
 * MCP servers whose tools the model may call
 */
mcp_servers?: (({
type: "mcp-server-fqn"
/**
 * Integration of the MCP server
 */
integration_fqn: string
/**
 * Whether every tool of the server may be used
 */
enable_all_tools?: (boolean | null)
/**
 * Tools of the server that may be used; order carries no meaning
 */
tools?: ({
/**
 * Name of the tool
 */
name: string
}[] | null)
} | {
type: "mcp-server-url"
/**
 * Address of the server
 */
url: string
/**
 * Headers of each request
 */
headers?: ({ readonly [name: string]: string | number | boolean } | null)
/**
 * Whether every tool of the server may be used
 */
enable_all_tools?: (boolean | null)
/**
 * Tools of the server that may be used; order carries no meaning
 */
tools?: ({
/**
 * Name of the tool
 */
name: string
}[] | null)
} | {
type: string
[k: string]: Json | string
})[] | null)
/**
 * Checks around the model
 */
guardrails?: ({
/**
 * Checks of what goes in, in their order
 */
input_guardrails?: (string[] | null)
/**
 * Checks of what comes out, in their order
 */
output_guardrails?: (string[] | null)
} | null)
/**
 * Form of the answer
 */
response_format?: ({
type: "json_object"
} | {
type: "json_schema"
/**
 * Schema of the answer, as the model's provider takes it
 */
json_schema?: (JsonObject | null)
} | {
type: string
[k: string]: Json | string
} | null)
/**
 * Which model a request goes to when there are several
 */
routing_config?: ({
type: "weight-based-routing"
/**
 * Targets that the requests are spread over
 */
load_balance_targets?: ({
/**
 * Model that the requests go to
 */
target: string
/**
 * Share of the requests; the weights of all targets sum to 1 or to 100
 */
weight?: (number | null)
/**
 * Place in the order in which targets are tried, lowest first (priority-based routing)
 */
priority?: (number | null)
/**
 * How failed requests are repeated
 */
retry_config?: ({
/**
 * How many times a request is repeated
 */
attempts?: (number | null)
/**
 * Time between two attempts
 */
delay?: (number | null)
/**
 * Status codes that are repeated on; order carries no meaning
 */
on_status_codes?: (string[] | null)
} | null)
/**
 * Status codes on which another target is tried; order carries no meaning
 */
fallback_status_codes?: (string[] | null)
/**
 * Whether other targets may fall back to this one
 */
fallback_candidate?: (boolean | null)
/**
 * Parameters that replace the prompt's own for this target
 */
override_params?: (JsonObject | null)
/**
 * When a target is too slow to be used
 */
sla_cutoff?: ({
/**
 * Slowest time for each token
 */
time_per_output_token_ms?: (number | null)
} | null)
/**
 * Headers that are set on requests to the target, as the platform defines it
 */
headers_override?: (JsonObject | null)
/**
 * Requests that the target is for, as the platform defines it
 */
metadata_match?: (JsonObject | null)
}[] | null)
/**
 * What keeps a conversation on one target, as the platform defines it
 */
sticky_routing?: (JsonObject | null)
} | {
type: "latency-based-routing"
/**
 * Targets that the requests are spread over
 */
load_balance_targets?: ({
/**
 * Model that the requests go to
 */
target: string
/**
 * Share of the requests; the weights of all targets sum to 1 or to 100
 */
weight?: (number | null)
/**
 * Place in the order in which targets are tried, lowest first (priority-based routing)
 */
priority?: (number | null)
/**
 * How failed requests are repeated
 */
retry_config?: ({
/**
 * How many times a request is repeated
 */
attempts?: (number | null)
/**
 * Time between two attempts
 */
delay?: (number | null)
/**
 * Status codes that are repeated on; order carries no meaning
 */
on_status_codes?: (string[] | null)
} | null)
/**
 * Status codes on which another target is tried; order carries no meaning
 */
fallback_status_codes?: (string[] | null)
/**
 * Whether other targets may fall back to this one
 */
fallback_candidate?: (boolean | null)
/**
 * Parameters that replace the prompt's own for this target
 */
override_params?: (JsonObject | null)
/**
 * When a target is too slow to be used
 */
sla_cutoff?: ({
/**
 * Slowest time for each token
 */
time_per_output_token_ms?: (number | null)
} | null)
/**
 * Headers that are set on requests to the target, as the platform defines it
 */
headers_override?: (JsonObject | null)
/**
 * Requests that the target is for, as the platform defines it
 */
metadata_match?: (JsonObject | null)
}[] | null)
/**
 * What keeps a conversation on one target, as the platform defines it
 */
sticky_routing?: (JsonObject | null)
} | {
type: "priority-based-routing"
/**
 * Targets that the requests are spread over
 */
load_balance_targets?: ({
/**
 * Model that the requests go to
 */
target: string
/**
 * Share of the requests; the weights of all targets sum to 1 or to 100
 */
weight?: (number | null)
/**
 * Place in the order in which targets are tried, lowest first (priority-based routing)
 */
priority?: (number | null)
/**
 * How failed requests are repeated
 */
retry_config?: ({
/**
 * How many times a request is repeated
 */
attempts?: (number | null)
/**
 * Time between two attempts
 */
delay?: (number | null)
/**
 * Status codes that are repeated on; order carries no meaning
 */
on_status_codes?: (string[] | null)
} | null)
/**
 * Status codes on which another target is tried; order carries no meaning
 */
fallback_status_codes?: (string[] | null)
/**
 * Whether other targets may fall back to this one
 */
fallback_candidate?: (boolean | null)
/**
 * Parameters that replace the prompt's own for this target
 */
override_params?: (JsonObject | null)
/**
 * When a target is too slow to be used
 */
sla_cutoff?: ({
/**
 * Slowest time for each token
 */
time_per_output_token_ms?: (number | null)
} | null)
/**
 * Headers that are set on requests to the target, as the platform defines it
 */
headers_override?: (JsonObject | null)
/**
 * Requests that the target is for, as the platform defines it
 */
metadata_match?: (JsonObject | null)
}[] | null)
/**
 * What keeps a conversation on one target, as the platform defines it
 */
sticky_routing?: (JsonObject | null)
} | {
type: string
[k: string]: Json | string
} | null)
/**
 * How answers are cached, as the platform defines it
 */
cache_config?: (JsonObject | null)
/**
 * What is logged of each request, as the platform defines it
 */
logging_config?: (JsonObject | null)
/**
 * Prompts that this one may call, as the platform defines them
 */
sub_agents?: (Json[] | null)
}

/** One version of a chat prompt in an ml repo. */
export type ChatPromptManifest = Immutable<MutableChatPromptManifest>;

/**
 * A Kubernetes cluster that workspaces are placed in
 */
interface MutableClusterManifest {
/**
 * Kind of manifest: `cluster`
 */
type: "cluster"
/**
 * Name of the cluster, also its id and fqn
 */
name: string
/**
 * What kind of Kubernetes the cluster is
 */
cluster_type: string
/**
 * Environments that live on the cluster; order carries no meaning
 */
environment_names?: (string[] | null)
/**
 * Domains under which services may be exposed: `*.x` covers names below x, `x` covers x and names below; order carries no meaning
 */
base_domains?: (string[] | null)
/**
 * Where the cluster's logs, metrics and costs are read; any name that ends in `_url` is allowed
 */
monitoring?: ({
/**
 * Address of the first log backend
 */
logs_backend_a_url?: (string | null)
/**
 * Address of the second log backend
 */
logs_backend_b_url?: (string | null)
/**
 * Address of the metrics backend
 */
metrics_url?: (string | null)
/**
 * Address of the cost backend
 */
cost_url?: (string | null)
[k: string]: Json | string | null | undefined
} | null)
/**
 * Integration of the container registry that builds push to
 */
default_registry_fqn?: (string | null)
/**
 * Integration through which the cluster is reached
 */
cluster_integration_fqn?: (string | null)
/**
 * Integration of the storage that workflows keep their data in
 */
workflow_storage_integration_fqn?: (string | null)
/**
 * How notebooks and SSH servers are offered
 */
workbench_config?: ({
/**
 * Where notebooks are reached
 */
notebook_config?: ({
/**
 * Domain under which notebooks are exposed
 */
base_domain?: (string | null)
} | null)
/**
 * Where SSH servers are reached
 */
ssh_server_config?: ({
/**
 * Domain under which SSH servers are reached
 */
base_domain?: (string | null)
/**
 * Port on which SSH servers are reached
 */
port?: (number | null)
} | null)
/**
 * Storage class of new home folders
 */
default_storage_class?: (string | null)
} | null)
/**
 * How Spark is offered
 */
spark_config?: ({
/**
 * Domain under which Spark user interfaces are exposed
 */
ui_base_domain?: (string | null)
} | null)
/**
 * Which ingress controller exposes services
 */
ingress_controller_config?: ({
/**
 * Ingress class of the controller
 */
ingress_class_name?: (string | null)
/**
 * Whether exposed hosts are served over TLS
 */
tls_enabled?: (boolean | null)
} | null)
/**
 * Node pools that applications may choose; order carries no meaning
 */
supported_nodepools?: ({
/**
 * Name of the node pool
 */
name: string
/**
 * What the node pool is for
 */
description?: (string | null)
}[] | null)
/**
 * Node labels that the platform selects nodes by
 */
node_label_keys?: ({
/**
 * Label that holds the name of a node's pool
 */
nodepool_selector_label?: (string | null)
} | null)
/**
 * Who may do what with the cluster; order carries no meaning
 */
collaborators?: (SharedCollaborator[] | null)
/**
 * Who owns the resource
 */
ownedBy?: ({
/**
 * Account that owns the resource
 */
account?: (string | null)
} | null)
}

/** A Kubernetes cluster that workspaces are placed in. */
export type ClusterManifest = Immutable<MutableClusterManifest>;

/**
 * Visual Studio Code in the browser
 */
interface MutableCodeserverManifest {
/**
 * Kind of manifest: `codeserver`
 */
type: "codeserver"
/**
 * Name of the application, unique in its workspace
 */
name: SharedName
/**
 * Workspace that the application runs in
 */
workspace_fqn: SharedWorkspaceFqn
/**
 * Image that the workbench runs
 */
image: SharedWorkbenchImage
/**
 * Size of the home directory
 */
home_directory_size?: SharedHomeDirectorySize
/**
 * What each container may use; no request is above its limit
 */
resources?: SharedResources
/**
 * Environment variables of the containers; values are compared as texts, and `secret://tenant:group:key` stands for a secret
 */
env?: SharedEnv
/**
 * Files and folders that are put into the containers; order carries no meaning
 */
mounts?: SharedMounts
/**
 * Kubernetes service account of the containers
 */
service_account?: SharedServiceAccount
/**
 * Changes to the Kubernetes objects that the platform makes
 */
kustomize?: SharedKustomize
}

/** Visual Studio Code in the browser. */
export type CodeserverManifest = Immutable<MutableCodeserverManifest>;

/**
 * A release of a Helm chart
 */
interface MutableHelmManifest {
/**
 * Kind of manifest: `helm`
 */
type: "helm"
/**
 * Name of the application, unique in its workspace
 */
name: SharedName
/**
 * Workspace that the application runs in
 */
workspace_fqn: SharedWorkspaceFqn
/**
 * Labels put on everything that is made for the resource
 */
labels?: SharedLabels
/**
 * Where the chart is
 */
source: ({
type: "helm-repo"
/**
 * Address of the repository
 */
repo_url?: (string | null)
/**
 * Integration that reads it
 */
integration_fqn?: (string | null)
/**
 * Name of the chart
 */
chart?: (string | null)
/**
 * Version of the chart
 */
version?: (string | null)
} | {
type: "oci-repo"
/**
 * Address of the chart
 */
oci_chart_url?: (string | null)
/**
 * Integration that reads it
 */
integration_fqn?: (string | null)
/**
 * Version of the chart
 */
version?: (string | null)
} | {
type: "git-helm-repo"
/**
 * Address of the repository
 */
repo_url?: (string | null)
/**
 * Branch, tag or commit
 */
revision?: (string | null)
/**
 * Folder of the chart
 */
path?: (string | null)
/**
 * Files of values in that folder, in their order
 */
value_files?: (string[] | null)
} | {
type: string
[k: string]: Json | string
})
/**
 * Values of the chart
 */
values?: (JsonObject | null)
/**
 * Changes to the Kubernetes objects that the platform makes
 */
kustomize?: SharedKustomize
/**
 * Differences that are left alone, as Argo CD words them
 */
ignoreDifferences?: (JsonObject[] | null)
}

/** A release of a Helm chart. */
export type HelmManifest = Immutable<MutableHelmManifest>;

/**
 * Rules that lead requests of a service elsewhere
 */
interface MutableInterceptManifest {
/**
 * Kind of manifest: `intercept`
 */
type: "intercept"
/**
 * Name of the application, unique in its workspace
 */
name: SharedName
/**
 * Workspace that the application runs in
 */
workspace_fqn: SharedWorkspaceFqn
/**
 * The rules, in their order
 * 
 * Items: One rule
 */
rules: {
/**
 * Port whose requests are looked at
 */
port?: (number | null)
/**
 * Which requests are meant
 */
match?: ({
type: "header"
/**
 * Name of the header
 */
name?: (string | null)
/**
 * Value of the header
 */
exact_match?: (string | null)
} | {
type: string
[k: string]: Json | string
} | null)
/**
 * What happens to them
 */
action?: ({
type: "forward"
/**
 * Address of the service that gets the request
 */
service_uri?: (string | null)
/**
 * Port of that service
 */
port?: (number | null)
} | {
type: "mirror"
/**
 * Address of the service that gets the request
 */
service_uri?: (string | null)
/**
 * Port of that service
 */
port?: (number | null)
/**
 * Share of the requests that is copied
 */
percentage?: (number | null)
} | {
type: string
[k: string]: Json | string
} | null)
}[]
}

/** Rules that lead requests of a service elsewhere. */
export type InterceptManifest = Immutable<MutableInterceptManifest>;

/**
 * Work that ends: each run starts containers and waits for them
 */
interface MutableJobManifest {
/**
 * Kind of manifest: `job`
 */
type: "job"
/**
 * Name of the application, unique in its workspace
 */
name: SharedName
/**
 * Workspace that the application runs in
 */
workspace_fqn: SharedWorkspaceFqn
/**
 * Image that the containers run
 */
image: SharedImage
/**
 * What starts a run
 */
trigger?: ({
type: "manual"
} | {
type: "scheduled"
/**
 * When, as a cron expression
 */
schedule?: (string | null)
/**
 * What happens while an earlier run goes on
 */
concurrency_policy?: (string | null)
/**
 * Time zone of the schedule
 */
timezone?: (string | null)
} | {
type: string
[k: string]: Json | string
} | null)
/**
 * Whether a run starts once a version is deployed; `--wait` follows it to its end
 */
trigger_on_deploy?: (boolean | null)
/**
 * Parameters that a run can be started with; order carries no meaning
 */
params?: ({
/**
 * Name of the parameter
 */
name: string
/**
 * What it is for
 */
description?: (string | null)
/**
 * Value where none is given
 */
default?: (string | null)
/**
 * Type of the parameter
 */
param_type?: (string | null)
}[] | null)
/**
 * Environment variables of the containers; values are compared as texts, and `secret://tenant:group:key` stands for a secret
 */
env?: SharedEnv
/**
 * What each container may use; no request is above its limit
 */
resources?: SharedResources
/**
 * Who is notified of runs
 */
alerts?: ({
/**
 * Notification channel of the platform
 */
notification_channel?: (string | null)
/**
 * Addresses that e-mails are sent to; order carries no meaning
 */
to_emails?: (string[] | null)
/**
 * Who is told, and how
 */
notification_target?: SharedNotificationTarget
/**
 * Whether the start of a run is notified
 */
on_start?: (boolean | null)
/**
 * Whether a successful end is notified
 */
on_completion?: (boolean | null)
/**
 * Whether a failure is notified
 */
on_failure?: (boolean | null)
}[] | null)
/**
 * How often a failed run is repeated
 */
retries?: (number | null)
/**
 * Time that a run may take
 */
timeout?: (number | null)
/**
 * Runs at the same time
 */
concurrency_limit?: (number | null)
/**
 * Kubernetes service account of the containers
 */
service_account?: SharedServiceAccount
/**
 * Files and folders that are put into the containers; order carries no meaning
 */
mounts?: SharedMounts
/**
 * Labels put on everything that is made for the resource
 */
labels?: SharedLabels
/**
 * Changes to the Kubernetes objects that the platform makes
 */
kustomize?: SharedKustomize
}

/** Work that ends: each run starts containers and waits for them. */
export type JobManifest = Immutable<MutableJobManifest>;

/**
 * A repository of models, prompts and runs
 */
interface MutableMlRepoManifest {
/**
 * Kind of manifest: `ml-repo`
 */
type: "ml-repo"
/**
 * Name of the ml repo
 */
name: string
/**
 * What the ml repo is for
 */
description?: (string | null)
/**
 * Integration of the storage that keeps the artifacts
 */
storage_integration_fqn?: (string | null)
/**
 * Who may do what with the ml repo; order carries no meaning
 */
collaborators?: (SharedCollaborator[] | null)
/**
 * Who owns the resource
 */
ownedBy?: ({
/**
 * Account that owns the resource
 */
account?: (string | null)
} | null)
}

/** A repository of models, prompts and runs. */
export type MlRepoManifest = Immutable<MutableMlRepoManifest>;

/**
 * One version of a model in an ml repo
 */
interface MutableModelVersionManifest {
/**
 * Kind of manifest: `model-version`
 */
type: "model-version"
/**
 * Name of the model, unique in its ml repo
 */
name: string
/**
 * Name of the ml repo that holds the model
 */
ml_repo: string
/**
 * What this version is
 */
description?: (string | null)
/**
 * Number of the version; without it the content decides whether a new version is made
 */
version?: (number | null)
/**
 * Second name of the version, unique within its model; it moves to the version being written
 */
version_alias?: (string | null)
/**
 * Facts about the version, in any form
 */
metadata?: (JsonObject | null)
/**
 * Where the model's files are
 */
source?: ({
type: "platform"
/**
 * Storage root that staging answered
 */
uri?: (string | null)
} | {
type: "truefoundry"
/**
 * Storage root that staging answered
 */
uri?: (string | null)
} | {
type: "external"
/**
 * Where the files are
 */
uri: string
} | SharedLocalSource | {
type: string
[k: string]: Json | string
} | null)
/**
 * What the model was made with
 */
framework?: ({
type: "transformers"
/**
 * Library that loads the model
 */
library_name?: (string | null)
/**
 * Task that the model does
 */
pipeline_tag?: (string | null)
/**
 * Model that this one was made from
 */
base_model?: (string | null)
} | {
type: "sklearn"
/**
 * Path of the model among the version's files
 */
model_filepath?: (string | null)
/**
 * How the model was written to the file
 */
serialization_format?: (string | null)
/**
 * What the model takes and gives
 */
model_schema?: ({
/**
 * Method that answers
 */
infer_method_name?: (string | null)
/**
 * What the model takes, in its order
 */
inputs?: (JsonObject[] | null)
/**
 * What the model gives, in its order
 */
outputs?: (JsonObject[] | null)
} | null)
} | {
type: "xgboost"
/**
 * Path of the model among the version's files
 */
model_filepath?: (string | null)
/**
 * How the model was written to the file
 */
serialization_format?: (string | null)
/**
 * What the model takes and gives
 */
model_schema?: ({
/**
 * Method that answers
 */
infer_method_name?: (string | null)
/**
 * What the model takes, in its order
 */
inputs?: (JsonObject[] | null)
/**
 * What the model gives, in its order
 */
outputs?: (JsonObject[] | null)
} | null)
} | {
type: string
[k: string]: Json | string
} | null)
/**
 * What the model needs to run
 */
environment?: ({
/**
 * Version of Python
 */
python_version?: (string | null)
/**
 * Packages that pip installs; order carries no meaning
 */
pip_packages?: (string[] | null)
} | null)
/**
 * Run that made the model
 */
run_id?: (string | null)
/**
 * Step of the run at which the model was saved
 */
step?: (number | null)
}

/** One version of a model in an ml repo. */
export type ModelVersionManifest = Immutable<MutableModelVersionManifest>;

/**
 * A Jupyter notebook
 */
interface MutableNotebookManifest {
/**
 * Kind of manifest: `notebook`
 */
type: "notebook"
/**
 * Name of the application, unique in its workspace
 */
name: SharedName
/**
 * Workspace that the application runs in
 */
workspace_fqn: SharedWorkspaceFqn
/**
 * Image that the workbench runs
 */
image: SharedWorkbenchImage
/**
 * Size of the home directory
 */
home_directory_size?: SharedHomeDirectorySize
/**
 * What each container may use; no request is above its limit
 */
resources?: SharedResources
/**
 * Environment variables of the containers; values are compared as texts, and `secret://tenant:group:key` stands for a secret
 */
env?: SharedEnv
/**
 * Files and folders that are put into the containers; order carries no meaning
 */
mounts?: SharedMounts
/**
 * Kubernetes service account of the containers
 */
service_account?: SharedServiceAccount
/**
 * Changes to the Kubernetes objects that the platform makes
 */
kustomize?: SharedKustomize
/**
 * Time without use after which it is stopped
 */
cull_timeout?: SharedCullTimeout
}

/** A Jupyter notebook. */
export type NotebookManifest = Immutable<MutableNotebookManifest>;

/**
 * RStudio in the browser
 */
interface MutableRstudioManifest {
/**
 * Kind of manifest: `rstudio`
 */
type: "rstudio"
/**
 * Name of the application, unique in its workspace
 */
name: SharedName
/**
 * Workspace that the application runs in
 */
workspace_fqn: SharedWorkspaceFqn
/**
 * Image that the workbench runs
 */
image: SharedWorkbenchImage
/**
 * Size of the home directory
 */
home_directory_size?: SharedHomeDirectorySize
/**
 * What each container may use; no request is above its limit
 */
resources?: SharedResources
/**
 * Environment variables of the containers; values are compared as texts, and `secret://tenant:group:key` stands for a secret
 */
env?: SharedEnv
/**
 * Files and folders that are put into the containers; order carries no meaning
 */
mounts?: SharedMounts
/**
 * Kubernetes service account of the containers
 */
service_account?: SharedServiceAccount
/**
 * Changes to the Kubernetes objects that the platform makes
 */
kustomize?: SharedKustomize
}

/** RStudio in the browser. */
export type RstudioManifest = Immutable<MutableRstudioManifest>;

/**
 * A long-running application that answers requests
 */
interface MutableServiceManifest {
/**
 * Kind of manifest: `service`
 */
type: "service"
/**
 * Name of the application, unique in its workspace
 */
name: SharedName
/**
 * Workspace that the application runs in
 */
workspace_fqn: SharedWorkspaceFqn
/**
 * Image that the containers run
 */
image: SharedImage
/**
 * Files that are there before the container starts
 */
artifacts_download?: SharedArtifactsDownload
/**
 * What each container may use; no request is above its limit
 */
resources?: SharedResources
/**
 * Environment variables of the containers; values are compared as texts, and `secret://tenant:group:key` stands for a secret
 */
env?: SharedEnv
/**
 * Ports of the containers; order carries no meaning
 */
ports?: SharedPorts
/**
 * Kubernetes service account of the containers
 */
service_account?: SharedServiceAccount
/**
 * Files and folders that are put into the containers; order carries no meaning
 */
mounts?: SharedMounts
/**
 * Labels put on everything that is made for the resource
 */
labels?: SharedLabels
/**
 * Changes to the Kubernetes objects that the platform makes
 */
kustomize?: SharedKustomize
/**
 * Probe that restarts a container when it fails
 */
liveness_probe?: SharedProbe
/**
 * Probe that takes a container out of service while it fails
 */
readiness_probe?: SharedProbe
/**
 * Probe that must succeed before the other two begin
 */
startup_probe?: SharedProbe
/**
 * How many containers run: a number, or the bounds between which the platform scales
 */
replicas?: SharedReplicas
/**
 * When the service is stopped for want of requests
 */
auto_shutdown?: ({
/**
 * Time without requests after which the service stops
 */
wait_time?: (number | null)
} | null)
/**
 * Whether requests may be led to somebody's own machine for debugging
 */
allow_interception?: (boolean | null)
/**
 * How a new version takes over from the old one
 */
rollout_strategy?: (SharedRollingUpdate | SharedCanary | SharedBlueGreen | {
type: string
[k: string]: Json | string
} | null)
/**
 * Tags of the resource, as the platform defines them
 */
tags?: (JsonObject | readonly Json[] | null)
}

/** A long-running application that answers requests. */
export type ServiceManifest = Immutable<MutableServiceManifest>;

/**
 * A job that Spark runs
 */
interface MutableSparkJobManifest {
/**
 * Kind of manifest: `spark-job`
 */
type: "spark-job"
/**
 * Name of the application, unique in its workspace
 */
name: SharedName
/**
 * Workspace that the application runs in
 */
workspace_fqn: SharedWorkspaceFqn
/**
 * Image that driver and executors use
 */
image: ({
type: "spark-image"
/**
 * Version of Spark
 */
spark_version?: (string | null)
/**
 * Where the image is
 */
image_uri?: (string | null)
/**
 * Registry integration that the image is pulled with
 */
docker_registry?: (string | null)
} | {
type: "spark-image-build"
/**
 * Registry integration that the image is pushed to
 */
docker_registry?: (string | null)
/**
 * Where the source code is
 */
build_source?: (SharedGitSource | SharedRemoteSource | {
type: string
[k: string]: Json | string
} | null)
/**
 * How the image is made
 */
build_spec?: (SharedSparkBuild | {
type: string
[k: string]: Json | string
} | null)
} | {
type: string
[k: string]: Json | string
})
/**
 * What is run
 */
entrypoint: ({
type: "python"
/**
 * File that is run
 */
main_application_file?: (string | null)
/**
 * Arguments, separated by spaces
 */
arguments?: (string | null)
} | {
type: "scala"
/**
 * File that is run
 */
main_application_file?: (string | null)
/**
 * Class whose main method is run
 */
main_class?: (string | null)
/**
 * Arguments, separated by spaces
 */
arguments?: (string | null)
} | {
type: "java"
/**
 * File that is run
 */
main_application_file?: (string | null)
/**
 * Class whose main method is run
 */
main_class?: (string | null)
/**
 * Arguments, separated by spaces
 */
arguments?: (string | null)
} | {
type: "python-notebook"
/**
 * File that is run
 */
main_application_file?: (string | null)
} | {
type: "scala-notebook"
/**
 * File that is run
 */
main_application_file?: (string | null)
} | {
type: string
[k: string]: Json | string
})
/**
 * The driver
 */
driver_config?: ({
/**
 * What each container may use; no request is above its limit
 */
resources?: SharedResources
} | null)
/**
 * The executors
 */
executor_config?: ({
/**
 * How many executors there are
 */
instances?: ({
type: "fixed"
/**
 * How many there are
 */
count?: (number | null)
} | {
type: "dynamic"
/**
 * Fewest executors
 */
min?: (number | null)
/**
 * Most executors
 */
max?: (number | null)
} | {
type: string
[k: string]: Json | string
} | null)
/**
 * What each container may use; no request is above its limit
 */
resources?: SharedResources
} | null)
/**
 * Environment variables of the containers; values are compared as texts, and `secret://tenant:group:key` stands for a secret
 */
env?: SharedEnv
/**
 * Settings of Spark
 */
spark_conf?: ({ readonly [name: string]: string | number | boolean } | null)
/**
 * Files and folders that are put into the containers; order carries no meaning
 */
mounts?: SharedMounts
/**
 * How often a run that failed is repeated
 */
retries?: (number | null)
/**
 * Kubernetes service account of the containers
 */
service_account?: SharedServiceAccount
}

/** A job that Spark runs. */
export type SparkJobManifest = Immutable<MutableSparkJobManifest>;

/**
 * A machine to log in to
 */
interface MutableSshServerManifest {
/**
 * Kind of manifest: `ssh-server`
 */
type: "ssh-server"
/**
 * Name of the application, unique in its workspace
 */
name: SharedName
/**
 * Workspace that the application runs in
 */
workspace_fqn: SharedWorkspaceFqn
/**
 * Image that the workbench runs
 */
image: SharedWorkbenchImage
/**
 * Size of the home directory
 */
home_directory_size?: SharedHomeDirectorySize
/**
 * What each container may use; no request is above its limit
 */
resources?: SharedResources
/**
 * Environment variables of the containers; values are compared as texts, and `secret://tenant:group:key` stands for a secret
 */
env?: SharedEnv
/**
 * Files and folders that are put into the containers; order carries no meaning
 */
mounts?: SharedMounts
/**
 * Kubernetes service account of the containers
 */
service_account?: SharedServiceAccount
/**
 * Changes to the Kubernetes objects that the platform makes
 */
kustomize?: SharedKustomize
/**
 * Key of whoever may log in
 */
ssh_public_key: string
/**
 * Time without use after which it is stopped
 */
cull_timeout?: SharedCullTimeout
}

/** A machine to log in to. */
export type SshServerManifest = Immutable<MutableSshServerManifest>;

/**
 * A team of people that roles are given to; its members are listed here, or come from single sign-on
 */
type MutableTeamManifest = ({
type: "team"
/**
 * Name of the team
 */
name: string
/**
 * E-mails of those who may change the team; order carries no meaning
 */
managers?: (string[] | null)
/**
 * E-mails of the team's members; order carries no meaning
 */
members: string[]
/**
 * Who owns the resource
 */
ownedBy?: ({
/**
 * Account that owns the resource
 */
account?: (string | null)
} | null)
/**
 * Tags of the resource, as the platform defines them
 */
tags?: (JsonObject | readonly Json[] | null)
} | {
type: "sso-team"
/**
 * Name of the team
 */
name: string
/**
 * E-mails of those who may change the team; order carries no meaning
 */
managers?: (string[] | null)
/**
 * E-mails of members that are known besides those of single sign-on; order carries no meaning
 */
members?: (string[] | null)
/**
 * Single sign-on connection that the group comes from
 */
sso_name?: (string | null)
/**
 * Group of the identity provider whose members are the team's
 */
group_name?: (string | null)
/**
 * Tags of the resource, as the platform defines them
 */
tags?: (JsonObject | readonly Json[] | null)
[k: string]: Json | "sso-team" | string | string[] | null | JsonObject | (readonly Json[]) | undefined
})

/** A team of people that roles are given to; its members are listed here, or come from single sign-on. */
export type TeamManifest = Immutable<MutableTeamManifest>;

/**
 * An account for a machine: it holds permissions and a token, and no person logs in with it
 */
interface MutableVirtualAccountManifest {
/**
 * Kind of manifest: `virtual-account`
 */
type: "virtual-account"
/**
 * Name of the account
 */
name: string
/**
 * Roles that the account holds; order carries no meaning
 * 
 * Items: One role on one resource
 */
permissions: SharedPermission[]
/**
 * Last day (UTC) on which the account's token is valid
 */
expiration_date?: (string | null)
/**
 * When the token is replaced by a new one
 */
auto_rotate?: ({
/**
 * Days between two rotations
 */
auto_rotate_interval?: (number | null)
/**
 * Days for which the former token stays valid after a rotation
 */
grace_period?: (number | null)
} | null)
/**
 * Who is told about the account's expiry and rotation
 */
notification_target?: SharedNotificationTarget
/**
 * Secret store that the control plane puts the token into
 */
secret_store_config?: ({
/**
 * Integration of the secret store; `builtin` is the control plane's own
 */
integration_fqn?: (string | null)
/**
 * Where in the store the token is kept; `group/key` for the built-in store
 */
secret_path?: (string | null)
} | null)
/**
 * Who owns the resource
 */
ownedBy?: ({
/**
 * Account that owns the resource
 */
account?: (string | null)
/**
 * Team that owns the account
 */
team?: (string | null)
} | null)
/**
 * Tags of the resource, as the platform defines them
 */
tags?: (JsonObject | readonly Json[] | null)
}

/** An account for a machine: it holds permissions and a token, and no person logs in with it. */
export type VirtualAccountManifest = Immutable<MutableVirtualAccountManifest>;

/**
 * Storage that applications of a workspace mount
 */
interface MutableVolumeManifest {
/**
 * Kind of manifest: `volume`
 */
type: "volume"
/**
 * Name of the application, unique in its workspace
 */
name: SharedName
/**
 * Workspace that the application runs in
 */
workspace_fqn: SharedWorkspaceFqn
/**
 * What the storage is made of
 */
config: ({
type: "dynamic"
/**
 * Storage class of the volume
 */
storage_class?: (string | null)
/**
 * Size of the volume
 */
size?: (number | null)
} | {
type: "static"
/**
 * Kubernetes volume that is used
 */
persistent_volume_name?: (string | null)
} | {
type: string
[k: string]: Json | string
})
/**
 * A page that shows the files
 */
volume_browser?: ({
/**
 * Name that callers of the page give
 */
username?: (string | null)
/**
 * Secret that they give as password
 */
password_secret_fqn?: (string | null)
/**
 * Where the page is
 */
endpoint?: ({
/**
 * Host name
 */
host?: (string | null)
/**
 * Path of the page
 */
path?: (string | null)
} | null)
/**
 * Kubernetes service account of the page
 */
service_account?: (string | null)
} | null)
}

/** Storage that applications of a workspace mount. */
export type VolumeManifest = Immutable<MutableVolumeManifest>;

/**
 * A Flyte workflow
 */
interface MutableWorkflowManifest {
/**
 * Kind of manifest: `workflow`
 */
type: "workflow"
/**
 * Name of the application, unique in its workspace
 */
name: SharedName
/**
 * Workspace that the application runs in
 */
workspace_fqn: SharedWorkspaceFqn
/**
 * Where the source code is
 */
source: (SharedLocalSource | SharedRemoteSource | {
type: string
[k: string]: Json | string
})
/**
 * File that declares the workflow
 */
workflow_file_path: string
/**
 * What Flyte was told of, as the platform writes it
 */
flyte_entities?: (JsonObject[] | null)
/**
 * Who is told of runs
 */
alerts?: ({
/**
 * Who is told, and how
 */
notification_target?: SharedNotificationTarget
/**
 * Whether runs that end well are told
 */
on_completion?: (boolean | null)
/**
 * Whether runs that fail are told
 */
on_failure?: (boolean | null)
}[] | null)
}

/** A Flyte workflow. */
export type WorkflowManifest = Immutable<MutableWorkflowManifest>;

/**
 * A workspace: a place in a cluster where applications run and roles are held
 */
interface MutableWorkspaceManifest {
/**
 * Kind of manifest: `workspace`
 */
type: "workspace"
/**
 * Name of the workspace, unique in its cluster
 */
name: string
/**
 * Cluster that holds the workspace
 */
cluster_fqn: string
/**
 * Environment that the workspace belongs to, such as those the cluster names
 */
environment_name?: (string | null)
/**
 * Labels of the workspace, such as those put on its namespace
 */
labels?: ({ readonly [name: string]: string | number | boolean } | null)
/**
 * Annotations of the workspace, such as those put on its namespace
 */
annotations?: ({ readonly [name: string]: string | number | boolean } | null)
/**
 * Who may do what with the workspace; order carries no meaning
 */
collaborators?: (SharedCollaborator[] | null)
/**
 * Roles that what runs in the workspace holds on other resources; order carries no meaning
 */
permissions?: (SharedPermission[] | null)
/**
 * Who owns the resource
 */
ownedBy?: ({
/**
 * Account that owns the resource
 */
account?: (string | null)
} | null)
}

/** A workspace: a place in a cluster where applications run and roles are held. */
export type WorkspaceManifest = Immutable<MutableWorkspaceManifest>;
